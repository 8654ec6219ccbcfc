"""What a preset trains, as a table: every run, what it starts from, what it needs, how far it is, and its command."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.evaluate.tables import grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.plan import Machine
    from recommit.preset import TaskPlan
    from recommit.train.launch import Fleet
    from recommit.train.runs import Run

#: The first port that DeepSpeed's launcher takes in commands that are shown; launched runs get theirs from the kernel.
_PORT = 29500


class Needs(NamedTuple):
    """Of a run: memory on every rank, and how long it takes. None: nobody has counted."""

    gib_per_rank: float | None = None
    hours: float | None = None


#: Counted once for all runs that differ in nothing that costs anything.
_COUNTED: dict[str, Needs] = {}


def needs(plan: TaskPlan, run: Run, ranks: int, card: str | None) -> Needs:
    """What a run needs on so many cards; nothing is counted if none is named."""
    if card is None:
        return Needs()
    from recommit.plan import machine

    on = machine(card, ranks)
    key = json.dumps([alike(run), plan.values["data"], ranks, card], sort_keys=True)
    if key not in _COUNTED:
        _COUNTED[key] = _counted(plan, run, on)
    return _COUNTED[key]


def alike(run: Run) -> dict[str, Any]:
    """A run's recipe without what makes no difference to its cost: seeds, which fixed depth it has, what it imitates."""
    from recommit.train.config import plain

    said = plain(run.config)
    variant = str(said.get("variant", ""))
    rest = {name: value for name, value in said.items() if name not in ("run", "targets")}
    return {**rest, "variant": "fixed" if variant.startswith("fixed-") else variant}


def _counted(plan: TaskPlan, run: Run, on: Machine) -> Needs:
    from recommit.plan import GIB
    from recommit.plan import plan as count

    start = plan.warm_runs()[0].config
    counted = count(run.config, start.model, plan.data.puzzle(), on, fit=False)  # type: ignore[union-attr]
    hours = None if counted.seconds is None else counted.seconds / 3600
    return Needs(counted.memory.peak / GIB, hours)


@dataclass(frozen=True)
class Row:
    """One run."""

    run: str
    starts_from: str
    recipe: str
    steps: int
    ranks: int
    #: Empty where no folder was named.
    state: str
    gib_per_rank: float | None
    hours: float | None
    command: str


def rows(plans: Sequence[TaskPlan], fleet: Fleet | None, *, looked: bool, card: str | None = None) -> list[Row]:
    """One per run, in the order of training; ``looked``: with its state in its folder; ``card``: with what it needs."""
    ranks = fleet.places()[0].ranks if fleet else 1
    return [_row(plan, run, fleet, ranks, looked, card) for plan in plans for run in plan.runs]


def _row(plan: TaskPlan, run: Run, fleet: Fleet | None, ranks: int, looked: bool, card: str | None) -> Row:
    out, need = plan.folder.parent, needs(plan, run, ranks, card)
    return Row(
        run.folder.relative_to(out).as_posix(),
        Path(run.source).relative_to(out).as_posix(),
        f"{plan.values['recipe']} {run.verb} {getattr(run.config, 'variant', '')}".strip(),
        run.config.optim.steps,
        ranks,
        run.state if looked else "",
        need.gib_per_rank,
        need.hours,
        shlex.join(command(plan, run, fleet)),
    )


def command(plan: TaskPlan, run: Run, fleet: Fleet | None) -> list[str]:
    """What trains a run by hand, once its recipe is written: every call of ``recommit reproduce --out`` writes them."""
    from recommit.train import launch, processes

    job = processes.job(run, plan.launch)
    if fleet is None:
        return ["recommit", "train", run.verb, *job.words]
    words = launch.command(fleet, fleet.places()[0], job.module, job.words, _PORT)
    return ["python" if word == sys.executable else word for word in words]


def text(listed: Sequence[Row]) -> str:
    """For a person."""
    head = ("run", "starts from", "recipe", "steps", "ranks", "state", "GiB per rank", "hours")
    cells = [
        [
            r.run,
            r.starts_from,
            r.recipe,
            str(r.steps),
            str(r.ranks),
            r.state or "-",
            _number(r.gib_per_rank),
            _number(r.hours),
        ]
        for r in listed
    ]
    warm = sum(" sft" in r.recipe for r in listed)
    hours = [r.hours for r in listed if r.hours is not None]
    total = f"{len(listed) - warm} reinforcement runs, {warm} warm starts"
    total += f", {sum(hours):.1f} hours by plan" if hours else ""
    return "\n\n".join([grid(head, cells), total, "\n".join(r.command for r in listed)]) + "\n"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def plain(listed: Sequence[Row], preset: dict[str, Any]) -> dict[str, Any]:
    """For a program."""
    return {"runs": [asdict(row) for row in listed], "preset": preset}
