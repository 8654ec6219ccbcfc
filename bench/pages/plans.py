"""Estimates of the paper's recipes on three machines, and of all runs of its preset, as the tables of docs/a100.md.

python -m bench.pages.plans [--check]

Some ten minutes: every stage is estimated anew, with the text before the picture (as the recipes have it) and behind.
``--check`` writes nothing and exits with 1 if the page says anything else.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from bench.pages import blocks

from recommit.estimate import Estimate, EstimateOptions
from recommit.estimate.costs import gib, operations, seconds
from recommit.reproduce import preset, run_plan
from recommit.reproduce.options import ReproduceOptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "a100.md"
#: Cards, and how many of them.
MACHINES = {("a100", 8): "8 x A100", ("h200", 1): "one H200", ("rtx4090", 1): "one card of 24 GB"}
RECIPES = ("paper-sliding", "paper-sokoban")
#: So that it fits a card of 24 GB.
AGAIN = "engine.checkpointing=true"
PICTURE_FIRST = "model.policy.prompts=[sliding-v1, sokoban-v1]"


@cache
def estimate(recipe: str, stage: str, card: str, gpus: int, *changes: str) -> Estimate:
    """One stage on one machine."""
    options = EstimateOptions(recipe, stage, card=card, gpus=gpus, set=changes)  # type: ignore[arg-type]
    return options.estimates()[0]


def stages(card: str, gpus: int) -> str:
    """The table of a machine."""
    head = ["recipe, stage", "states of a step", "operations", "*picture first*", "steps", "GiB of a rank", "fits"]
    head += ["time of a run", "*picture first*"]
    rows = [head, ["---"] * len(head)]
    for recipe in RECIPES:
        for stage in ("sft", "grpo", "evaluate"):
            small = () if card != "rtx4090" or stage == "evaluate" else (AGAIN,)
            said, before = (estimate(recipe, stage, card, gpus, *small, *first) for first in ((), (PICTURE_FIRST,)))
            first = said.phases[0]
            counts = [count for count in first.counts if count.kind in ("learn", "plan")]
            most = "at most " * any(count.at_most for count in counts)
            rows.append(
                [
                    f"`{recipe}` {stage}",
                    f"{most}{gpus * max(count.states for count in counts):,}",
                    *(operations(gpus * each.phases[0].flops) for each in (said, before)),
                    f"{first.times:,}",
                    gib(said.memory.peak),
                    "yes" if said.fits else "no",
                    *(seconds(each.seconds or 0.0) for each in (said, before)),
                ]
            )
    return _table(rows)


def runs() -> str:
    """All runs of the preset on eight A100, those that cost the same in one row."""
    changes: tuple[list[str], ...] = ([], [f"sft.{PICTURE_FIRST}"])
    fleet = ReproduceOptions(preset="paper", gpus=8).fleet(elsewhere=True)
    every = []
    for change in changes:
        entries = preset.entries(preset.load("paper", change), Path("out"))
        every.append(run_plan.rows(entries, fleet, looked=False, card="a100"))
    groups: dict[tuple[str, str], list[tuple[run_plan.Row, run_plan.Row]]] = {}
    for pair in zip(*every, strict=True):
        recipe, stage, *words = pair[0].recipe.split()
        variant = "".join(words)
        what = "warm start" if stage == "sft" else "a fixed depth" if variant.startswith("fixed") else variant
        if decisions := re.search(r"-k(\d+)-", pair[0].run):
            what += f", {decisions[1]} decisions in training"
        groups.setdefault((recipe if stage == "grpo" else "both", what), []).append(pair)
    rows = [["recipe", "runs of", "how many", "GiB of a rank", "hours of all", "*picture first*"], ["---"] * 6]
    for (recipe, what), pairs in [*groups.items(), (("both", "all"), list(zip(*every, strict=True)))]:
        most = max(run.gib_per_rank or 0.0 for run, _ in pairs)
        hours = [sum(pair[i].hours or 0.0 for pair in pairs) for i in (0, 1)]
        name = recipe if recipe == "both" else f"`{recipe}`"
        rows.append([name, what, str(len(pairs)), f"{most:.1f}", *(f"{each:.2f}" for each in hours)])
    return _table(rows)


def memory() -> str:
    """What recomputation saves."""
    head = ["recipe, stage", "machine", "activations kept", "computed again"]
    rows = [head, ["---"] * len(head)]
    for (card, gpus), title in MACHINES.items():
        for recipe in RECIPES:
            for stage in ("sft", "grpo"):
                again, kept = estimate(recipe, stage, card, gpus, AGAIN), estimate(recipe, stage, card, gpus)
                sizes = (kept.memory.activations, again.memory.activations)
                rows.append([f"`{recipe}` {stage}", title, *(f"{gib(size)} GiB" for size in sizes)])
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    options = blocks.parser(__doc__).parse_args()
    tables = {f"{card} {gpus}": stages(card, gpus) for card, gpus in MACHINES} | {"memory": memory(), "runs": runs()}
    page = blocks.filled(PAGE.read_text(encoding="utf-8"), "plan", tables.__getitem__)
    return blocks.write({PAGE: page}, options.check)


if __name__ == "__main__":
    sys.exit(main())
