"""Small evaluations, made without a policy: callables that know the solver, and that err on purpose."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="evaluations are kept as Parquet")

import recommit
from recommit.data.parquet import pa, pq
from recommit.evaluate import metrics, summaries
from recommit.evaluate.agent_names import AgentName
from recommit.puzzles import registry
from recommit.rollout import decision_rows as play

COUNT, BUDGETS = 24, {"loose": 6, "tight": 4}
#: How deep, and how often an action is drawn at random instead of solved.
AGENTS = {
    "adaptive": (0, 0.05),
    "fixed-2": (2, 0.05),
    "fixed-8": (8, 0.15),
    "fixed-8@{run}": (8, 0.3),
    "shuffled": (4, 0.1),
    "oracle-dp": (8, 0.0),
}
SEEDS = {"shuffled": 2}


def puzzle(task):
    special = {"sliding": recommit.Sliding(2, 3), "sokoban": recommit.Sokoban(7, boxes=2)}
    return special.get(task) or registry.puzzle(task).of((7, 7), 1)


def pack_actions(actions):
    return (actions.astype(np.uint16) << (2 * np.arange(8, dtype=np.uint16))).sum(axis=1).astype(np.uint16)


def pack_chances(depth):
    """Half for the depth that was taken, a quarter each for 1 and 8."""
    chances = np.full(len(depth), (64 << 56) | 64, np.uint64)
    return chances + (np.uint64(127) << (8 * (depth.astype(np.uint64) - np.uint64(1))))


def rows_of(task, starts, name, budget, seed, kept):
    """Decisions of an agent; what it meant to do goes to ``kept``."""
    depth, noise = AGENTS[name]
    rng = np.random.default_rng([seed, len(name)])

    def agent(states, _turn):
        found = task.solve(states)
        actions = rng.integers(0, 4, (len(states), 8)).astype(np.uint8)
        for i, begin in enumerate(found.offsets[:-1]):
            plan = found.actions[begin : found.offsets[i + 1]][:8]
            actions[i, : len(plan)] = np.where(rng.random(len(plan)) < noise, actions[i, : len(plan)], plan)
        asked = depth or 8
        depths = np.where(found.length < 6, 2, 4) if name == "adaptive" else np.full(len(states), asked)
        kept.append((pack_actions(actions), pack_chances(depths)))
        return depths.astype(np.int64), actions

    return play.of_callable(agent, task, starts, budget)


def with_gains(evaluation: Path, folder: Path) -> Path:
    """A copy with gain shares, as ``recommit evaluate`` writes them: of the same plans, from their best constant."""
    copy = shutil.copytree(evaluation, folder / "eval")
    rows = json.loads((copy / "summary.json").read_text())
    for row in rows:
        if "@" not in row["agent"]:
            row |= {"gain": 0.75, "gain_low": 0.5, "gain_high": 0.875, "gain_fixed": "fixed-2"}
    (copy / "summary.json").write_text(json.dumps(rows), encoding="utf-8")
    return copy


def write(folder: Path, task_name: str, *, run: str = "/somewhere/else/rl-fixed-8") -> Path:
    """An evaluation's folder, as ``recommit evaluate`` writes it."""
    task = puzzle(task_name)
    found = task.generate(COUNT, seed=3, length=(3, 12))
    (folder / "decisions").mkdir(parents=True)
    names = {name: name.format(run=run) for name in AGENTS}
    length = task.distance(found.states)
    instances = {
        "id": [f"{task_name}/{task.size_name}:3..12/3/{i}" for i in range(COUNT)],
        "state": [s.tobytes() for s in found.states],
        "length": length,
    }
    summary, played = [], {}
    for name, agent in names.items():
        each = []
        for seed in range(SEEDS.get(name, 1)):
            kept: list = []
            rows = rows_of(task, found.states, name, 6, seed, kept)
            more = {
                "actions": np.concatenate([a for a, _ in kept]),
                "depth_probs": np.concatenate([c for _, c in kept]),
            }
            table = rows.stored() | more
            stem = f"{AgentName.parse(agent).stem}@6" + (f"-s{seed}" if name in SEEDS else "")
            pq.write_table(pa.table(table), folder / "decisions" / f"{stem}.parquet")
            each.append(rows)
        for budget, k in BUDGETS.items():
            played[agent, budget] = one = [metrics.episodes(rows, length, k) for rows in each]
            about = {"agent": agent, "task": task_name, "budget": budget, "seeds": len(one)}
            summary.append({**about, **summaries.row(each, one, k)})
    episodes = summaries.episode_columns(played)
    tables = {"instances": instances, "episodes": episodes}
    for name, values in tables.items():
        pq.write_table(pa.table(values), folder / f"{name}.parquet")
    compared = summaries.compare(tuple(names.values()), BUDGETS, summaries.table(episodes), priced=False)
    plan = {
        "run": "/somewhere/else/rl",
        "agents": list(names.values()),
        "budgets": list(BUDGETS),
        "instances": COUNT,
        "validation": 8,
        "length": [3, 12],
        "seed": 0,
        "test_set": "0123456789abcdef",
    }
    values = {"plan": plan, "summary": summary, "comparisons": compared}
    for name, value in values.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def evaluations(tmp_path_factory):
    """By task; not to be changed."""
    root = tmp_path_factory.mktemp("evaluations")
    return {task: write(root / task, task) for task in ("sliding", "sokoban")}
