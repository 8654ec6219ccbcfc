"""A family of runs: every variant by GRPO from one warm start, with every seed, each a command of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.runs.jobs import Job
from recommit.storage import ownership
from recommit.storage.recipe_text import brief
from recommit.train.options import GrpoOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.train.options import FamilyOptions

#: Runs name folders.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
#: Between a variant's name and the decisions of its training episodes, where these are not the recipe's.
BUDGET = "-k"


def member(out: str | Path, name: str, seed: int) -> Path:
    """Where a run of the family lies: ``name`` is its variant, or also its training budget, as in ``adaptive-k5``."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"variants: expected names of letters, digits, dots and dashes, got {brief(name)}")
    return Path(out) / f"{name}-s{seed}"


def jobs(options: FamilyOptions) -> list[Job]:
    """All runs, in order, each of them checked."""
    shared = ["--recipe", options.recipe, "--init", str(options.init)]
    for name in ("task", "steps", "threads", "reward", "set"):
        value = getattr(options, name)
        words = list(map(str, value)) if isinstance(value, tuple) else [] if value is None else [str(value)]
        shared += [f"--{name}", *words] if words else []
    every = []
    for budget in options.budgets or (None,):
        for variant in options.variants:
            said: dict[str, Any] = {"set": options.set, "steps": options.steps, "reward": options.reward}
            config = GrpoOptions(options.recipe, variant=variant, budget=budget, **said).config()
            options.fleet(elsewhere=True).check(variant, config.engine.kind)
            more = [] if budget is None else ["--budget", str(budget)]
            name = f"{variant}{'' if budget is None else f'{BUDGET}{budget}'}"
            every += [(seed, member(options.out, name, seed), ["--variant", variant, *more]) for seed in options.seeds]
    every.sort(key=lambda one: options.seeds.index(one[0]))
    return [
        Job(
            out.name,
            ("train", "grpo", *shared, *own, "--seed", str(seed), "--out", str(out), *options.said("train grpo")),
            out,
            (options.init,),
        )
        for seed, out, own in every
    ]


def refuse_foreign(out: Path, jobs: Sequence[Job]) -> None:
    """A family may lie beside its data and its warm start, and nowhere among somebody's files. The folder of a run that
    died at once has nothing but its name."""
    entries = list(out.iterdir()) if out.is_dir() else []
    ours = [each.name for each in entries if any((each / mark).exists() for mark in ("config.json", "manifest.json"))]
    ownership.refuse_foreign(out, (*ours, *(job.name for job in jobs), "launch"), "a family of runs")
