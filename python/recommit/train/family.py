"""A family of runs from one warm start: every variant with every seed, each skipped when it is finished."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.train.checkpoints import Checkpoints

if TYPE_CHECKING:
    from collections.abc import Collection

    from recommit.train.grpo_config import GrpoConfig


#: Between a variant's name and the decisions of its training episodes, where these are not the recipe's.
BUDGET = "-k"


def member(out: str | Path, name: str, seed: int) -> Path:
    """Where a run of the family lies: ``name`` is its variant, or also its training budget, as in ``adaptive-k5``."""
    return Path(out) / f"{name}-s{seed}"


def finished(folder: Path, steps: int) -> bool:
    """Has a run taken all its steps, and kept the last one whole?"""
    newest = Checkpoints(folder / "checkpoints").newest(lambda _text: None) if folder.is_dir() else None
    return newest is not None and newest.step >= steps


def train(
    plans: dict[str, GrpoConfig],
    init: str | Path,
    out: str | Path,
    seeds: tuple[int, ...],
    *,
    once: Collection[str] = (),
    jobs: int = 1,
    quiet: bool = False,
) -> int:
    """Run what is missing, ``jobs`` at a time; 0 when all are finished, 130 when one was interrupted.

    ``plans`` has one configuration per name (see ``member``), usually that of its variant; those of ``once`` run
    last, with the first seed alone.
    """
    order = [(seed, name) for seed in seeds for name in plans if name not in once]
    order += [(seed, name) for seed in seeds[:1] for name in plans if name in once]
    work = [
        (replace(plans[name], run=replace(plans[name].run, seed=seed)), init, member(out, name, seed))
        for seed, name in order
        if not finished(member(out, name, seed), plans[name].optim.steps)
    ]
    if jobs == 1 or len(work) < 2:
        return next((status for each in work if (status := _run(*each, quiet))), 0)
    with ProcessPoolExecutor(min(jobs, len(work)), mp_context=multiprocessing.get_context("spawn")) as pool:
        done = [pool.submit(_run, *each, quiet) for each in work]
        return max((each.result() for each in done), default=0)


def _run(plan: GrpoConfig, init: str | Path, folder: Path, quiet: bool) -> int:
    from recommit.train import grpo

    if not quiet:
        sys.stderr.write(f"{folder.name}\n")
    return grpo.train(plan, init, folder, quiet=quiet)
