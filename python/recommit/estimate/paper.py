"""Estimates of the paper's recipes that were counted before: what fits a card can be said at once. Light to import.

``python bench/pages/plans.py --count`` counts them anew; a test does so too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

COUNTED_FILE = "paper.json"
STAGES = tuple(
    (recipe, stage) for recipe in ("paper-sliding", "paper-sokoban") for stage in ("sft", "grpo", "evaluate")
)
#: Cards, and how many of them.
MACHINES = (("a100", 8), ("h200", 1), ("rtx4090", 1))


@dataclass(frozen=True)
class Figures:
    """Figures of one stage on one machine. Sizes are bytes."""

    recipe: str
    stage: str
    card: str
    gpus: int
    tokens: int
    trained: int
    steps: int
    #: Per step, all ranks together; at most so many if ``bounded``.
    states: int
    bounded: bool
    step_flops: int
    #: Of a rank: as the recipe is, and with one state at a time (of one GPU only).
    peak: int
    least: int
    activations_kept: int
    activations_recomputed: int
    fits: bool
    fits_with: tuple[str, ...] | None
    #: Of a whole run.
    seconds: float
    host: int
    disk: int


@dataclass(frozen=True)
class Runs:
    """Runs of the preset that cost the same, on eight A100."""

    recipe: str
    kind: str
    count: int
    gib: float
    hours: float


def counted_before() -> tuple[list[Figures], list[Runs]]:
    """What was counted."""
    stored = json.loads((files("recommit.estimate") / COUNTED_FILE).read_text(encoding="utf-8"))
    rows = [
        row | {"fits_with": row["fits_with"] if row["fits_with"] is None else tuple(row["fits_with"])}
        for row in stored["figures"]
    ]
    return [Figures(**row) for row in rows], [Runs(**row) for row in stored["runs"]]


def fitting(size: int) -> tuple[list[str], list[str], int]:
    """Stages that fit one GPU of so many bytes as they are, those that do in smaller passes, and the least that any
    needs."""
    alone = list({(row.recipe, row.stage): row for row in counted_before()[0] if row.gpus == 1}.values())
    as_it_is = [f"{row.recipe} {row.stage}" for row in alone if row.peak <= size]
    smaller = [f"{row.recipe} {row.stage}" for row in alone if row.least <= size < row.peak]
    return as_it_is, smaller, min(row.least for row in alone)
