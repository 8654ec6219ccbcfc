"""How well a warm start plays: ``python bench/training/warm_start.py RUN DATA --budget 15 [--length 8 20]``.

Greedy episodes on the test split of a data set, at every fixed depth and, for comparison, at depths drawn evenly from
the policy's own; with 95 % Wilson intervals (over rooms, where the data keeps rooms apart), actions per episode, and
the CPU seconds that training took. The test split is made by the data set's recipe alone; it shares no start (nor, with
``disjoint: layouts``, any room) with training.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

import recommit
import recommit.data
from recommit.data import held_out
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, play, sampled
from recommit.policy.policy import CommitPolicy
from recommit.results.intervals import share
from recommit.results.table import ends
from recommit.runs.directory import best_policy


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
    rooms = held_out.rooms(test.spec, starts)
    if rooms is not None:
        print(f"{rooms.max() + 1} rooms, which the intervals are over")
    depths = tuple(range(1, 9))
    graph, own = PolicyGraph(policy, task, depths), len(policy.config.depths)
    nodes = graph.nodes(starts, arguments.budget)
    choices = {f"h={d}": always(graph, d) for d in depths} | {"uniform": sampled(graph, np.full(own, 1 / own), seed=0)}
    print(f"{'depth':<10}{'solved %':>9}{'95 % interval':>18}{'actions':>9}")
    for name, choose in choices.items():
        played = play(graph, nodes, arguments.budget, choose)
        within = share(played.solved, rooms)
        interval = ends(within.low, within.high, scale=100.0)
        print(f"{name:<10}{100 * played.solve_rate:>9.1f}{interval:>18}{played.mean_actions:>9.1f}")


if __name__ == "__main__":
    main()
