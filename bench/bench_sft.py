"""How well a warm start plays: ``python bench/bench_sft.py RUN DATA --budget 15 [--length 8 20]``.

Greedy episodes on the test split of a data set, at every fixed depth and, for comparison, at depths drawn evenly from
the policy's own; with 95 % Wilson intervals, actions per episode, and the CPU seconds that training took. The test split
is made by the data set's recipe alone; it shares no start (nor, with ``disjoint: layouts``, any room) with training.
"""

from __future__ import annotations

import argparse
import json
from math import sqrt
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

import recommit
import recommit.data
from recommit.policy.policy import CommitPolicy
from recommit.puzzles.puzzle import Puzzle
from recommit.train.config import ValidationConfig
from recommit.train.rundir import best_policy
from recommit.train.validate import Planner, episodes

States = NDArray[np.uint8]


def wilson(share: float, count: int) -> tuple[float, float]:
    """95 % interval of a share."""
    z = 1.959964
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return middle - half, middle + half


def random_depths(policy: CommitPolicy, task: Puzzle, starts: States, budget: int) -> tuple[float, float]:
    """Solve rate and actions per episode with every depth drawn evenly from the policy's set."""
    planner, draw = Planner(policy, task), np.random.default_rng(0)
    states, done, taken = starts.copy(), task.is_solved(starts), np.zeros(len(starts))
    for _ in range(budget):
        alive = np.flatnonzero(~done)
        if not len(alive):
            break
        depths = draw.choice(np.array(policy.config.depths, np.int32), len(alive))
        outcome = task.execute(states[alive], planner.plans(states[alive], 8), depths)
        states[alive], done[alive] = outcome.states, outcome.solved
        taken[alive] += outcome.executed
    return float(done.mean()), float(taken.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budget", type=int, required=True)
    parser.add_argument("--length", type=int, nargs=2, help="only test instances of these lengths")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    test = recommit.data.open(arguments.data, "test")
    rows = test.columns()
    first = (rows.t == 0) & (rows.kind == 0)
    if arguments.length:
        first &= (arguments.length[0] <= rows.length) & (rows.length <= arguments.length[1])
    starts, task = np.ascontiguousarray(rows.states[first]), test.puzzle
    assert np.array_equal(task.distance(starts), rows.length[first])
    policy = CommitPolicy.from_pretrained(best_policy(arguments.run)).eval()
    timing = [json.loads(line) for line in (arguments.run / "timing.jsonl").read_text().splitlines()]
    print(
        f"{sum(p.numel() for p in policy.parameters()):,} parameters; step {timing[-1]['step']:,} after "
        f"{sum(t['cpu_s'] for t in timing):.0f} s of CPU time (validation included); {len(starts):,} test instances of "
        f"length {rows.length[first].min()}..{rows.length[first].max()}, K={arguments.budget}"
    )
    depths = tuple(range(1, 9))
    found = episodes(policy, task, starts, ValidationConfig(depths=depths, budget=arguments.budget))
    results = {f"h={d}": (found["solved"][str(d)], found["actions"][str(d)]) for d in depths}
    results["uniform"] = random_depths(policy, task, starts, arguments.budget)
    print(f"{'depth':<10}{'solved %':>9}{'95 % interval':>18}{'actions':>9}")
    for name, (share, actions) in results.items():
        low, high = wilson(share, len(starts))
        print(f"{name:<10}{100 * share:>9.1f}{f'{100 * low:.1f} .. {100 * high:.1f}':>18}{actions:>9.1f}")


if __name__ == "__main__":
    main()
