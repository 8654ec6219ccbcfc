"""Statistics and tables from a million episode rows: decisions to episodes, figures, paired comparisons and text.

    python bench/bench_tables.py [--episodes 1000000] [--rounds 5] [--json results.json]

Decisions are made up, with a fixed seed. Before anything is timed a slow check recounts a sample of the agents row by row.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from recommit.evaluate import metrics, summaries, tables
from recommit.evaluate.play import Rows

BUDGETS = {"loose": 15, "tight": 10}
INSTANCES = 16384


def made_up(rng, length, budget, lean):
    """Decisions of one agent, in the order of ``play.on_graph``: turn by turn, until the goal or the end of the budget."""
    count = len(length)
    before, alive = length.copy(), np.ones(count, bool)
    parts = []
    for turn in range(budget):
        who = np.flatnonzero(alive).astype(np.int32)
        depth = rng.choice(np.array([1, 2, 4, 8], np.int8), len(who))
        gained = np.minimum(rng.binomial(depth, lean) * 2 - depth // 2, before[who]).astype(np.int32)
        after = (before[who] - gained).astype(np.int32)
        solved = after == 0
        executed = np.where(solved, rng.integers(1, depth + 1), depth).astype(np.int8)
        nothing = np.full(len(who), 0.5, np.float32)
        actions, chances = np.zeros(len(who), np.uint16), np.zeros(len(who), np.uint64)
        turns = np.full(len(who), turn, np.int16)
        parts.append((who, turns, depth, executed, before[who].astype(np.int32), after, solved, nothing, nothing, actions, chances))  # fmt: skip
        before[who], alive[who] = after, ~solved
    return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def everything(played, length):
    """What ``recommit evaluate`` computes after playing."""
    episodes, summary = {}, []
    for name, rows in played.items():
        for budget, k in BUDGETS.items():
            episodes[name, budget] = [metrics.episodes(rows, length, k)]
            figures = summaries.row([rows], episodes[name, budget], k)
            summary.append({"agent": name, "task": "sliding", "budget": budget, "seeds": 1, **figures})
    compared = summaries.compare(tuple(played), BUDGETS, episodes)
    return summary, compared, tables.main_table(summary) + tables.comparisons(compared)


def recounted(rows, length, k):
    """Solve rate, actions, wasted and progress per action of one agent, one decision after another."""
    solved, actions, wasted, progress = (np.zeros(len(length)) for _ in range(4))
    for i in range(len(rows)):
        if rows.turn[i] < k:
            where, gained = rows.instance[i], int(rows.before[i]) - int(rows.after[i])
            solved[where] = max(solved[where], rows.solved[i])
            actions[where] += rows.executed[i]
            wasted[where] += gained == 0
            progress[where] += gained
    return {
        "solve_rate": solved.mean(),
        "actions_per_episode": actions.mean(),
        "wasted_solved": wasted[solved > 0].mean(),
        "progress_per_action": (progress / np.maximum(actions, 1)).mean(),
    }


def check(played, length, summary):
    """A sample of the agents, slowly."""
    rows = {(row["agent"], row["budget"]): row for row in summary}
    names = list(played)
    for name in (names[0], names[-1]):
        for field, value in recounted(played[name], length, BUDGETS["tight"]).items():
            found = rows[name, "tight"][field]
            assert abs(found - value) < 1e-9, f"{name}: {field} is {found}, expected {value}"


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--episodes", type=int, default=1_000_000)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--json", type=Path)
    given = words.parse_args()
    instances = min(INSTANCES, max(given.episodes // 4, 1))
    agents = max(2, -(-given.episodes // (instances * len(BUDGETS))))
    rng = np.random.default_rng(0)
    length = rng.integers(8, 25, instances).astype(np.int32)
    played = {f"agent-{i}": made_up(rng, length, max(BUDGETS.values()), 0.4 + 0.3 * i / agents) for i in range(agents)}
    check(played, length, everything(played, length)[0])
    cpu, wall = [], []
    for _ in range(given.rounds):
        began = time.process_time(), time.perf_counter()
        everything(played, length)
        cpu.append(time.process_time() - began[0])
        wall.append(time.perf_counter() - began[1])
    result = {
        "episodes": instances * agents * len(BUDGETS), "decisions": sum(map(len, played.values())), "rounds": given.rounds,
        "cpu_s": round(statistics.median(cpu), 3), "wall_s": round(statistics.median(wall), 3),
    }  # fmt: skip
    print(f"{result['episodes']:,} episode rows from {result['decisions']:,} decisions: median of {given.rounds} rounds "
          f"{result['cpu_s']:.2f} CPU-s, {result['wall_s']:.2f} s wall")  # fmt: skip
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
