"""``recommit train sft|grpo|family``. Light to import."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recommit.cli.flags import takes, usual
from recommit.cli.requests import WrongCall
from recommit.storage.terminal_text import tell
from recommit.train.options import FamilyOptions, GrpoOptions, SftOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.train.family.runs import Run

_COMMON = ("steps", "seed", "threads", "device", "zero", "deepspeed", "vision_cache", "set")
_USUAL = {
    **dict.fromkeys(_COMMON, "that of the recipe"),
    "zero": "no DeepSpeed",
    "deepspeed": "no DeepSpeed",
    "vision_cache": "none",
    "set": "nothing more",
}
_OF_RECIPE = dict.fromkeys(("batch", "backbone"), "that of the recipe")


@usual(**_USUAL, **_OF_RECIPE, single_commitment="all of the recipe")
@takes(SftOptions)
def sft(options: SftOptions) -> int:
    """Imitate."""
    try:
        config = options.config()
        if options.show:
            return _shown(config)
        from recommit.train.sft import train

        return train(config, options.data, options.out, init=options.init, tasks=options.tasks, quiet=options.quiet)
    except ValueError as error:
        raise WrongCall(str(error)) from None


@usual(
    **_USUAL,
    variant="adaptive",
    task="that of the warm start, which has one",
    data="the recipes of the warm start",
    budget="that of the recipe",
)
@takes(GrpoOptions)
def grpo(options: GrpoOptions) -> int:
    """Improve by GRPO."""
    try:
        config = options.config()
        if options.show:
            return _shown(config)
        from recommit.train.grpo import train

        data = options.data or None
        return train(config, options.init, options.out, data=data, tasks=options.tasks, quiet=options.quiet)
    except ValueError as error:
        raise WrongCall(str(error)) from None


@usual(
    budgets="that of the recipe",
    task="that of the warm start, which has one",
    set="nothing more",
    steps="that of the recipe",
    threads="that of the recipe",
    gpus="runs in this machine's processes",
    gpus_per_run="all of them",
    hostfile="this machine alone",
    device="that of the recipe",
)
@takes(FamilyOptions)
def family(options: FamilyOptions) -> int:
    """Train a family."""
    from recommit.train.family import processes, runs

    try:
        fleet, wanted = options.fleet(), options.runs()
        _refuse_foreign(options.out, wanted)
        if fleet is None:
            return runs.train(wanted, jobs=options.jobs, quiet=options.quiet)
        return processes.train(fleet, wanted, options.out / "launch", quiet=options.quiet)
    except ValueError as error:
        raise WrongCall(str(error)) from None


def _refuse_foreign(out: Path, runs: Sequence[Run]) -> None:
    """A family may lie beside its data and its warm start, and nowhere among somebody's files. The folder of a run that
    died at once has nothing but its name."""
    from recommit.storage.ownership import refuse_foreign

    entries = list(out.iterdir()) if out.is_dir() else []
    ours = [each.name for each in entries if any((each / mark).exists() for mark in ("config.json", "manifest.json"))]
    refuse_foreign(out, (*ours, *(run.name for run in runs), "launch"), "a family of runs")


def _shown(config: Any) -> int:
    from recommit.train.config import plain

    tell(json.dumps(plain(config), indent=2))
    return 0
