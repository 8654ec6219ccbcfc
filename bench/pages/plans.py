"""Estimates of the paper's recipes on three machines, as the tables of docs/a100.md.

python -m bench.pages.plans [--check]

Minutes: every stage is estimated anew. ``--check`` writes nothing and exits with 1 if the page says anything else.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path

from recommit.estimate import Estimate, EstimateOptions
from recommit.estimate.costs import gib, operations, seconds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "a100.md"
#: Cards, and how many of them.
MACHINES = {("a100", 8): "8 x A100", ("h200", 1): "one H200", ("rtx4090", 1): "one card of 24 GB"}
RECIPES = ("paper-sliding", "paper-sokoban")


@cache
def estimate(recipe: str, stage: str, card: str, gpus: int, *changes: str) -> Estimate:
    """One stage on one machine."""
    options = EstimateOptions(recipe, stage, card=card, gpus=gpus, set=changes)  # type: ignore[arg-type]
    return options.estimates()[0]


def stages(card: str, gpus: int) -> str:
    """The table of a machine."""
    head = ["recipe, stage", "tokens", "a step: states, operations", "steps", "GiB of a rank", "fits", "time of a run"]
    rows = [head, ["---"] * len(head)]
    for recipe in RECIPES:
        for stage in ("sft", "grpo", "evaluate"):
            said = estimate(recipe, stage, card, gpus)
            first = said.phases[0]
            counts = [count for count in first.counts if count.kind in ("learn", "plan")]
            most = "at most " * any(count.at_most for count in counts)
            states = gpus * max(count.states for count in counts)
            rows.append(
                [
                    f"`{recipe}` {stage}",
                    str(said.model.visual_tokens + said.model.text_tokens),
                    f"{most}{states:,}, {operations(gpus * first.flops)}",
                    f"{first.times:,}",
                    gib(said.memory.peak),
                    "yes" if said.fits else "no",
                    seconds(said.seconds or 0.0),
                ]
            )
    return _table(rows)


def memory() -> str:
    """What recomputation saves."""
    head = ["recipe, stage", "machine", "activations kept", "computed again"]
    rows = [head, ["---"] * len(head)]
    for (card, gpus), title in MACHINES.items():
        for recipe in RECIPES:
            for stage in ("sft", "grpo"):
                again = estimate(recipe, stage, card, gpus)
                kept = estimate(recipe, stage, card, gpus, "engine.checkpointing=false")
                sizes = (kept.memory.activations, again.memory.activations)
                rows.append([f"`{recipe}` {stage}", title, *(f"{gib(size)} GiB" for size in sizes)])
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def written(text: str) -> str:
    """The page with every table anew."""
    tables = {f"{card} {gpus}": stages(card, gpus) for card, gpus in MACHINES} | {"memory": memory()}
    for name, table in tables.items():
        begin, end = f"<!-- plan {name}: written by bench/pages/plans.py -->", f"<!-- plan {name}: end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    anew = written(text)
    if options.check:
        sys.exit(anew != text)
    PAGE.write_text(anew, encoding="utf-8")


if __name__ == "__main__":
    main()
