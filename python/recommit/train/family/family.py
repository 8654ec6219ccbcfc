"""A family of runs from one warm start, or one per seed: every variant with every seed, each skipped when it is
finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.train.family import processes, runs
from recommit.train.family.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection

    from recommit.train.family.launch import Fleet
    from recommit.train.grpo.config import GrpoConfig


#: Between a variant's name and the decisions of its training episodes, where these are not the recipe's.
BUDGET = "-k"


def member(out: str | Path, name: str, seed: int) -> Path:
    """Where a run of the family lies: ``name`` is its variant, or also its training budget, as in ``adaptive-k5``."""
    return Path(out) / f"{name}-s{seed}"


def members(
    configs: dict[str, GrpoConfig],
    init: str | Path | Mapping[int, str | Path],
    out: str | Path,
    seeds: tuple[int, ...],
    once: Collection[str] = (),
    data: Path | None = None,
) -> list[Run]:
    """All runs, in order. ``init`` is a warm start, or one per seed; ``data`` says which puzzle, where it has
    several. ``configs`` has one configuration per name (see ``member``), usually that of its variant; those of
    ``once`` come last, with the first seed alone."""
    order = [(seed, name) for seed in seeds for name in configs if name not in once]
    order += [(seed, name) for seed in seeds[:1] for name in configs if name in once]
    starts = init if isinstance(init, Mapping) else dict.fromkeys(seeds, init)
    return [
        Run("grpo", seeded(configs[name], seed), starts[seed], member(out, name, seed), data) for seed, name in order
    ]


def seeded(config: GrpoConfig, seed: int) -> GrpoConfig:
    """The same with another seed."""
    return replace(config, run=replace(config.run, seed=seed))


def train(
    configs: dict[str, GrpoConfig],
    init: str | Path | Mapping[int, str | Path],
    out: str | Path,
    seeds: tuple[int, ...],
    *,
    once: Collection[str] = (),
    jobs: int = 1,
    quiet: bool = False,
    fleet: Fleet | None = None,
) -> int:
    """Run what is missing of ``members``; 0 when all are finished, 1 when a launched one failed, 130 when interrupted.

    Without a ``fleet``, ``jobs`` at a time in processes of this machine; with one, each as launched processes of its
    own.
    """
    every = members(configs, init, out, seeds, once)
    if fleet is None:
        return runs.train(every, jobs=jobs, quiet=quiet)
    return processes.train(fleet, every, Path(out) / "launch", quiet=quiet)
