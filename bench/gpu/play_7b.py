"""Greedy episodes at the shapes of Qwen2.5-VL-7B, random weights, one GPU: decisions per second of an evaluation.

    python bench/gpu/play_7b.py --out bench/results
    python bench/gpu/play_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Every start is walked to the end of its budget by the depth head, as ``recommit evaluate`` does; a state is looked at
once, whoever comes by.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from sft_7b import Clock, arguments, build, write

import recommit
from recommit.play.plan_graph import PlanGraph, head, walk


def measure(policy: Any, task: Any, given: argparse.Namespace) -> dict[str, Any]:
    """Rounds over fresh starts; the first one warms up."""
    rounds, clock = [], Clock(given.device)
    for number in range(given.rounds):
        starts = task.generate(given.starts, seed=number + 2, length=(8, 32)).states
        reach = PlanGraph(policy, task, policy.config.depths)
        played = clock.run("play", lambda r=reach, s=starts: walk(r, s, given.budget, head(r)))
        assert played.decisions.max() <= given.budget
        rounds.append((int(played.decisions.sum()), int(reach.expanded.sum())))
    seconds = clock.stages["play"]
    best = min(range(len(rounds)), key=lambda i: seconds[i] / rounds[i][0])
    decisions, looks = rounds[best]
    memory = torch.cuda.max_memory_allocated() / 2**30 if given.device == "cuda" else 0.0
    return {
        "decisions_per_s": decisions / seconds[best],
        "looks_per_s": looks / seconds[best],
        "looks": looks,
        "decisions": decisions,
        "peak_gib": memory,
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--starts", type=int, default=512, help="episodes side by side")
    parser.add_argument("--budget", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    policy = build(given.preset, given.device).eval()
    found = {"preset": given.preset, **measure(policy, recommit.Sokoban(given.size, boxes=1), given)}
    print(
        f"{given.preset}: {found['decisions_per_s']:,.1f} decisions/s, {found['looks_per_s']:,.1f} looks/s, "
        f"peak {found['peak_gib']:.1f} GiB"
    )
    if given.out:
        write(found, given.out, "play", given.device)


if __name__ == "__main__":
    main()
