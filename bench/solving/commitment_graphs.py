"""Commitment graphs: what building, reading and judging cost, and how that grows; CPU time on one thread.

python bench/solving/commitment_graphs.py [--run RUN] [--sokoban RUN] [--growth docs/assets/growth-graphs.csv]

Sliding boards have plans that are optimal but for every fifth action, which a hash of the state decides: no network is
needed. ``--run`` is a run on 3x3 boards, for the rate of looks and of building; ``--sokoban`` one on Sokoban, whose
policy builds graphs of larger and larger rooms.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import recommit
from recommit import rng
from recommit.graph import files, rule_registry, score
from recommit.graph.graph import ALL_DEPTHS, PLAN, CommitmentGraph
from recommit.graph.values import optimal_values
from recommit.prices import Prices, Setting

BUDGET, PRICES = 15, Prices(0.01, 0.01)
BOARDS = ((2, 2), (2, 3), (2, 4), (3, 3))
ROOMS = (6, 7, 8, 9)
FIELDS = ("puzzle", "size", "starts", "states", "build", "look", "read", "best", "prices16", "rule", "slowest", "bytes")


def cpu(work, repeat=3):
    """Least CPU seconds of a few runs, and the last result."""
    least, result = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def boards(rows: int, columns: int) -> CommitmentGraph:
    """Every board, with plans of which a fifth of the actions are wrong."""
    task = recommit.Sliding(rows, columns)
    states = np.concatenate(task.population()[:1])
    goal = states[:1]
    while not task.is_solved(goal)[0]:
        goal = task.step(goal, np.array([int(task.optimal_actions(goal)[0].argmax())], np.uint8))
    states = np.concatenate([states, goal])
    open_, number = ~task.is_solved(states), {state.tobytes(): i for i, state in enumerate(states)}
    words = rng.draw(rng.streams(0, 63, np.arange(len(states))), 0)
    plans, landing = np.zeros((len(states), PLAN), np.uint8), np.zeros((len(states), PLAN), np.int32)
    stop, here = np.full(len(states), PLAN + 1, np.uint8), states
    for place in range(PLAN):
        word = rng.draw(words, place)
        right, guess = task.optimal_actions(here).argmax(axis=1), rng.below(word, 4)
        plans[:, place] = np.where(rng.below(rng.draw(word, 1), 5) == 0, guess, right)
        after = task.step(here, np.ascontiguousarray(plans[:, place]))
        here = np.where((stop > PLAN)[:, None, None], after, here)
        stop[(stop > PLAN) & task.is_solved(here) & open_] = place + 1
        landing[:, place] = [number[state.tobytes()] for state in here]
    generator = np.random.default_rng(0)
    chances = generator.dirichlet([1.0] * 4, (len(states), PLAN)).astype(np.float32)
    return CommitmentGraph(
        task="sliding",
        depths=ALL_DEPTHS,
        head_depths=(1, 2, 4, 8),
        goal=~open_,
        states=states,
        distance=task.distance(states),
        planned=open_,
        plans=plans,
        probs=chances,
        logits=generator.normal(size=(len(states), 4)).astype(np.float32),
        landing=np.where(open_[:, None], landing, -1),
        executed=np.minimum(stop[:, None], ALL_DEPTHS).astype(np.int8),
        starts=np.flatnonzero(open_).astype(np.int32),
        groups=np.arange(open_.sum(), dtype=np.int32),
        source={},
    )


def judged(graph: CommitmentGraph) -> dict[str, Any]:
    """What reading and judging cost; every answer is held against another one."""
    with tempfile.TemporaryDirectory() as folder:
        files.write(graph, folder)
        read, again = cpu(lambda: files.read(folder), 1)
        size = (Path(folder) / files.NODES).stat().st_size
    assert files.content(again) == files.content(graph)
    setting = Setting(BUDGET, PRICES)
    one = score.GraphScorer(graph, (setting,))
    prices = [Prices(0.01, 0.01 * 2 ** (i / 2 - 4)) for i in range(16)]
    best, value = cpu(lambda: optimal_values(graph, BUDGET, prices[8])[-1])
    many, values = cpu(lambda: optimal_values(graph, BUDGET, prices, last=True))
    assert np.allclose(values[:, 8], value, atol=1e-12)
    seconds = {}
    for name in ("fixed-8", "head", "confidence-product", "confidence-entropy", "disagreement", "consecutive"):
        entry = rule_registry.named(name)
        seconds[name], columns = cpu(lambda e=entry: played(one, e))
        assert (setting.prices.returns(*columns) <= value[graph.starts] + 1e-12).all()
    plain = [each for name, each in seconds.items() if name != "consecutive"]
    rest = size - graph.probs.nbytes - graph.plans.nbytes
    return {
        "states": len(graph),
        "starts": len(graph.starts),
        "read": read,
        "best": best,
        "prices16": many,
        "rule": float(np.median(plain)),
        "slowest": max(seconds.values()),
        "bytes": max(rest, 0) / len(graph),
    }


def played(one: score.GraphScorer, entry: rule_registry.NamedRule) -> tuple[Any, ...]:
    return one.outcome(entry, BUDGET)


def built(run: str, size: tuple[int, int] | None, count: int, limit: int) -> tuple[CommitmentGraph, dict[str, Any]]:
    """A graph of a run's policy, with states per CPU second of building and of looks alone."""
    from dataclasses import replace

    from recommit.data import held_out
    from recommit.graph import build
    from recommit.policy.checkpoint import local_folder
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import recipe_of

    spec = recipe_of(run, "")
    spec = replace(spec, size=size) if size else spec
    task = spec.puzzle()
    states = np.ascontiguousarray(held_out.starts(spec, "test", count, ()).states)
    policy = CommitPolicy.from_pretrained(local_folder(run)).eval()
    start = time.process_time()
    graph = build.build(policy, task, states, limit=limit)
    building = time.process_time() - start
    looked = graph.states[graph.planned][:1024]
    seconds, _ = cpu(lambda: [policy.plan(task, looked[i : i + 128], (8,)) for i in range(0, len(looked), 128)], 1)
    return graph, {"build": int(graph.planned.sum()) / building, "look": len(looked) / seconds}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run")
    parser.add_argument("--sokoban")
    parser.add_argument("--starts", type=int, default=64)
    parser.add_argument("--growth", type=Path)
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    rows = []
    for shape in BOARDS:
        rows.append({"puzzle": "sliding", "size": "x".join(map(str, shape)), **judged(boards(*shape))})
        if shape == (3, 3) and arguments.run:
            rows[-1] |= built(arguments.run, None, 1024, 8192)[1]
        print(rows[-1], flush=True)
    for side in ROOMS if arguments.sokoban else ():
        graph, rates = built(arguments.sokoban, (side, side), arguments.starts, 1 << 20)
        rows.append({"puzzle": "sokoban", "size": f"{side}x{side}", **judged(graph), **rates})
        print(rows[-1], flush=True)
    if arguments.growth:
        with arguments.growth.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
