"""A family of runs from one warm start: every variant with every seed, each skipped when it is finished."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.train.checkpoints import Checkpoints

if TYPE_CHECKING:
    from recommit.train.grpo_config import GrpoConfig


def member(out: str | Path, variant: str, seed: int) -> Path:
    """Where a run of the family lies."""
    return Path(out) / f"{variant}-s{seed}"


def finished(folder: Path, steps: int) -> bool:
    """Has a run taken all its steps, and kept the last one whole?"""
    newest = Checkpoints(folder / "checkpoints").newest(lambda _text: None) if folder.is_dir() else None
    return newest is not None and newest.step >= steps


def train(
    plans: dict[str, GrpoConfig], init: str | Path, out: str | Path, seeds: tuple[int, ...], *, quiet: bool = False
) -> int:
    """Run what is missing, one after the other; 0 when all are finished, 130 when one was interrupted.

    ``plans`` has one configuration per variant; variants may differ in more than their name, so that they learn from
    equally many states.
    """
    from recommit.train import grpo

    for seed in seeds:
        for name, plan in plans.items():
            folder = member(out, name, seed)
            if finished(folder, plan.optim.steps):
                continue
            if not quiet:
                sys.stderr.write(f"{folder.name}\n")
            seeded = replace(plan, variant=name, run=replace(plan.run, seed=seed))
            if status := grpo.train(seeded, init, folder, quiet=quiet):
                return status
    return 0
