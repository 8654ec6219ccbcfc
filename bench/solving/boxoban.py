"""Exact labels and commitment graphs up to the size of Boxoban: cost per level, CPU time on one thread.

python bench/solving/boxoban.py [--levels FOLDER] [--run RUN] [--count 1000] [--growth docs/assets/growth-boxoban.csv]

``--levels`` is a folder of level files, each a set of its own; levels of smaller sizes are generated. ``--run`` is a
Sokoban run, whose policy plans for the graphs of every size; without one there are tables alone. Every graph is held
against plain Python on some of its starts.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

import recommit
from recommit import _core
from recommit.graph import build, rule_registry, score
from recommit.graph.graph import PLAN, CommitmentGraph
from recommit.prices import Prices, Setting

SIZES = ((7, 1), (7, 2), (7, 3), (8, 2), (8, 3), (10, 4))
BUDGETS, PRICES = (2, 4, 6, 8), Prices(0.01, 0.02)
RULES = ("fixed-1", "fixed-2", "fixed-4", "fixed-8", "head", "confidence-product")
#: Starts that plain Python repeats, and the most states of a graph over which it goes.
CHECKED = 20
PARTS = ("labels", "policy", "rest", "scores")
QUANTILES = {"median": 0.5, "q90": 0.9, "q99": 0.99, "most": 1.0}
FIELDS = (
    "set",
    "levels",
    *(f"{what}_{name}" for what in ("ms", "bytes") for name in QUANTILES),
    "budget",
    "planned",
    "nodes",
    *(f"{part}_ms" for part in PARTS),
    "mib",
)


class Clock:
    """CPU seconds by what is at work."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Count every call of a method of ``owner``."""
        method = getattr(owner, name)

        @wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            begin = time.process_time()
            try:
                return method(*args, **kwargs)
            finally:
                self.spent[part] += time.process_time() - begin

        setattr(owner, name, timed)


def sets(folder: Path | None, count: int) -> dict[str, np.ndarray]:
    """Levels by name, the small ones first."""
    result = {
        f"{size}x{size}, {boxes} box{'es' * (boxes > 1)}": recommit.Sokoban(size, boxes).generate(count, seed=9).states
        for size, boxes in SIZES
    }
    for path in sorted(folder.glob("*.txt")) if folder else ():
        levels = recommit.read_levels(path)
        result[path.stem] = np.stack([levels[i] for i in range(min(count, len(levels)))])
    return result


def tables(states: np.ndarray) -> dict[str, float]:
    """CPU time and bytes of every level's table: one per state, and some 1,200 for what numbers them."""
    task, tabled, seconds, sizes = recommit.Sokoban(states.shape[1:]), _core.sokoban.table_cache, [], []
    for state in states:
        tabled(clear=True)
        begin = time.process_time()
        length = task.distance(state[None], threads=1)
        seconds.append(time.process_time() - begin)
        assert length[0] > 0
        sizes.append(tabled()["bytes"])
    return {
        f"{what}_{name}": float(np.quantile(values, share))
        for what, values in (("ms", 1e3 * np.array(seconds)), ("bytes", np.array(sizes)))
        for name, share in QUANTILES.items()
    }


def graphs(policy: Any, states: np.ndarray, budget: int) -> dict[str, float]:
    """What a graph costs per level, and its score."""
    task, clock = recommit.Sokoban(states.shape[1:]), Clock()
    clock.watch(task, "distance", "labels")
    clock.watch(policy, "plan", "policy")
    begin = time.process_time()
    graph = build.build(policy, task, states, budget=budget)
    clock.spent["rest"] = time.process_time() - begin - clock.spent["labels"] - clock.spent["policy"]
    del policy.plan  # the policy's own method again
    begin = time.process_time()
    setting = Setting(budget, PRICES)
    scorer = score.GraphScorer(graph, (setting,))
    rows = score.score(scorer, [rule_registry.named(name) for name in RULES])
    clock.spent["scores"] = time.process_time() - begin
    value = scorer.oracle(setting)
    assert all(row.value <= value.mean() + 1e-12 for row in rows)
    check(graph, setting, value)
    each = 1e3 / len(states)
    return {
        "budget": budget,
        "planned": graph.planned.sum() / len(states),
        "nodes": len(graph) / len(states),
        **{f"{part}_ms": clock.spent[part] * each for part in PARTS},
        "mib": sum(a.nbytes for a in graph.arrays().values() if isinstance(a, np.ndarray)) / 2**20,
    }


def check(graph: CommitmentGraph, setting: Setting, value: np.ndarray) -> None:
    """The value of the best depths of some starts in plain Python: one state, one action at a time."""
    number, task, prices = graph.numbers(), graph.puzzle, setting.prices
    fresh = recommit.Sokoban(graph.states.shape[1:])

    @cache
    def best(node: int, left: int) -> float:
        length = int(graph.distance[node])
        if length == 0:
            return 1.0
        if length < 0 or length > PLAN * left:
            return -left * (prices.action + prices.observation)
        assert fresh.distance(graph.states[node]) == length
        here, worth = graph.states[node], []
        for executed, action in enumerate(graph.plans[node].tolist(), start=1):
            here = task.step(here, action)
            worth.append(best(number[here.tobytes()], left - 1) - prices.action * executed - prices.observation)
            if task.is_solved(here):
                break
        return max(worth)

    for start in range(0, len(value), max(len(value) // CHECKED, 1)):
        assert abs(best(int(graph.starts[start]), setting.budget) - value[start]) < 1e-12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=Path)
    parser.add_argument("--run")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--growth", type=Path)
    arguments = parser.parse_args()
    policy = None
    if arguments.run:
        import torch

        from recommit.policy.checkpoint import local_folder
        from recommit.policy.policy import CommitPolicy

        torch.set_num_threads(1)
        policy = CommitPolicy.from_pretrained(local_folder(arguments.run), anyway=True).eval()
    rows: list[dict[str, Any]] = []
    for name, states in sets(arguments.levels, arguments.count).items():
        table = {"set": name, "levels": len(states), **tables(states)}
        for budget in BUDGETS if policy else (0,):
            rows.append(table | (graphs(policy, states, budget) if policy else {}))
            print(", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in rows[-1].items()))
    if arguments.growth:
        with arguments.growth.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
