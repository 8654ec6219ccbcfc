"""A family of runs from one warm start, or one per seed: every variant with every seed, each skipped when it is finished."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.train import side_by_side
from recommit.train.checkpoints import Checkpoints
from recommit.train.config import plain
from recommit.train.rundir import differences

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

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


def _skipped(plan: GrpoConfig, init: str | Path, folder: Path) -> bool:
    """Is this run finished? With another configuration or from another warm start it is refused, not mixed in."""
    if not finished(folder, plan.optim.steps):
        return False
    known: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    now = json.loads(json.dumps(plain(plan)))
    if changed := differences(_common(known, now), _common(now, known)):
        raise ValueError(f"{folder}: expected the configuration of its finished run, got another: {changed}")
    if Path(init).is_dir() and known["init"] != _weights(init):
        raise ValueError(f"{folder}: expected a run from {init}, got one that was finished from another warm start")
    return True


def _weights(init: str | Path) -> str:
    from recommit.policy.checkpoint import local_folder
    from recommit.train.grpo import weights_of

    return weights_of(local_folder(init))


def _common(one: Any, other: Any) -> Any:
    """What both have: a version may know values that another does not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _common(value, other[key]) for key, value in one.items() if key in other}
    return one


def train(
    plans: dict[str, GrpoConfig],
    init: str | Path | Mapping[int, str | Path],
    out: str | Path,
    seeds: tuple[int, ...],
    *,
    once: Collection[str] = (),
    jobs: int = 1,
    quiet: bool = False,
) -> int:
    """Run what is missing, ``jobs`` at a time; 0 when all are finished, 130 when one was interrupted.

    ``init`` is a warm start, or one per seed. ``plans`` has one configuration per name (see ``member``), usually that
    of its variant; those of ``once`` run last, with the first seed alone.
    """
    order = [(seed, name) for seed in seeds for name in plans if name not in once]
    order += [(seed, name) for seed in seeds[:1] for name in plans if name in once]
    starts = init if isinstance(init, Mapping) else dict.fromkeys(seeds, init)
    every = [
        (replace(plans[name], run=replace(plans[name].run, seed=seed)), starts[seed], member(out, name, seed))
        for seed, name in order
    ]
    work = [each for each in every if not _skipped(*each)]
    if jobs == 1 or len(work) < 2:
        return next((status for each in work if (status := _run(*each, quiet))), 0)
    return side_by_side.run(_run, [(*each, quiet) for each in work], jobs)


def _run(plan: GrpoConfig, init: str | Path, folder: Path, quiet: bool) -> int:
    from recommit.train import grpo

    if not quiet:
        sys.stderr.write(f"{folder.name}\n")
    return grpo.train(plan, init, folder, quiet=quiet)
