"""Greedy episodes at the shapes of Qwen2.5-VL-7B, random weights, one GPU: decisions per second of an evaluation.

    python bench/gpu/play_7b.py --out OUT
    python bench/gpu/play_7b.py --preset tiny --device cpu     # checks the script itself, without a GPU

Every start is walked to the end of its budget by the depth head, as ``recommit evaluate`` does; a state is looked at
once, whoever comes by. First with the prompt whose text all states share, then with the published one.
"""

from __future__ import annotations

import argparse
from typing import Any

from sft_7b import PROMPTS, Clock, Figures, arguments, ask, build, peak_gib, puzzles

from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import head, play


def measure(policy: Any, task: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Rounds over fresh starts; the first one warms up."""
    rounds, clock = [], Clock(options.device)
    for number in range(options.rounds):
        starts = task.generate(options.starts, seed=number + 2, length=(8, 20)).states
        graph = PolicyGraph(policy, task, policy.config.depths)
        played = clock.run("play", lambda g=graph, s=starts: play(g, g.nodes(s), options.budget, head(g)))
        assert played.decisions.max() <= options.budget
        rounds.append((int(played.decisions.sum()), int(graph.planned.sum())))
    seconds = clock.stages["play"]
    best = min(range(len(rounds)), key=lambda i: seconds[i] / rounds[i][0])
    decisions, looks = rounds[best]
    return {
        "decisions_per_s": decisions / seconds[best],
        "looks_per_s": looks / seconds[best],
        "looks": looks,
        "decisions": decisions,
        "peak_gib": peak_gib(options.device),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--starts", type=int, default=256, help="episodes side by side")
    parser.add_argument("--budget", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    policy, task = build(options.preset, options.device).eval(), puzzles(options.size)["sokoban"]
    figures = Figures("play", options)
    for prompt in PROMPTS:
        ask(policy, prompt)
        policy.vision.forget()
        figures.add(prompt, measure(policy, task, options))


if __name__ == "__main__":
    main()
