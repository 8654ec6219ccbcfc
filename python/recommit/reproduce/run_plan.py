"""What a preset trains, as a table: every run, what it starts from, what it needs, how far it is, and its command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.reproduce.preset import every_run
from recommit.results.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.estimate import Machine
    from recommit.reproduce.heads import HeadStep
    from recommit.reproduce.preset import PresetEntry
    from recommit.train.family.launch import Fleet
    from recommit.train.family.runs import Run


class Needs(NamedTuple):
    """Memory of a run on every rank, and the time of its passes. None: nobody has counted."""

    gib_per_rank: float | None = None
    hours: float | None = None


def needs(entry: PresetEntry, run: Run, machine: Machine) -> Needs:
    """What a run needs on a machine, as ``recommit estimate`` counts it: in seconds."""
    from recommit.estimate import estimate as count

    specs = (entry.imitation.data if run.verb == "sft" else entry.data).values()
    model = entry.warm_runs()[0].config.model  # type: ignore[union-attr]
    each = [count(run.config, model, spec.puzzle(), machine) for spec in specs]
    hours = [one.seconds / 3600 for one in each if one.seconds is not None]
    # Several share the batches of a warm start evenly; in reinforcement each has instances of its own.
    together = len(hours) if run.verb == "sft" else 1
    return Needs(max(one.memory.peak for one in each) / 2**30, sum(hours) / together if hours else None)


def alike(run: Run) -> dict[str, Any]:
    """A run's recipe without what makes no difference to its cost: seeds, which fixed depth it has, what it
    imitates."""
    from recommit.train.config import plain

    recipe = plain(run.config)
    variant = str(recipe.get("variant", ""))
    rest = {name: value for name, value in recipe.items() if name not in ("run", "targets")}
    return {**rest, "variant": "fixed" if variant.startswith("fixed-") else variant}


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


def rows(entries: Sequence[PresetEntry], fleet: Fleet | None, *, looked: bool, card: str | None = None) -> list[Row]:
    """One per run, in the order of training; ``looked``: with its state in its folder; with what it needs on a card."""
    from recommit.estimate import CARDS, Machine

    if card is not None and card not in CARDS:
        raise ValueError(f"card: expected one of {', '.join(CARDS)}, got {card}")
    machine = None if card is None else Machine(card, fleet.ranks if fleet else 1)
    counted: dict[str, Needs] = {}  # once for runs that cost the same
    runs = []
    for entry, run in every_run(entries):
        key = repr((entry.name, alike(run)))
        if key not in counted:
            counted[key] = Needs() if machine is None else needs(entry, run, machine)
        runs.append(_row(entry, run, fleet, counted[key], looked))
    return [*runs, *(_head_row(entry, step, looked) for entry in entries for step in entry.head_steps())]


def _head_row(entry: PresetEntry, step: HeadStep, looked: bool) -> Row:
    out = entry.folder.parent
    many = next((step.options[name] for name in ("steps", "updates") if name in step.options), 0)
    return Row(
        step.out.relative_to(out).as_posix(),
        " ".join(source.relative_to(out).as_posix() for source in step.sources),
        step.verb,
        many,
        1,
        ("finished" if step.there else "missing") if looked else "",
        None,
        None,
        shlex.join(step.command),
    )


def _row(entry: PresetEntry, run: Run, fleet: Fleet | None, need: Needs, looked: bool) -> Row:
    out, recipe = entry.folder.parent, entry.imitation.recipe if run.verb == "sft" else entry.values["recipe"]
    return Row(
        run.folder.relative_to(out).as_posix(),
        " ".join(source.relative_to(out).as_posix() for source in run.sources),
        f"{recipe} {run.verb} {getattr(run.config, 'variant', '')}".strip(),
        run.config.optim.steps,
        fleet.ranks if fleet else 1,
        run.state if looked else "",
        need.gib_per_rank,
        need.hours,
        shlex.join(command(entry, run, fleet)),
    )


def command(entry: PresetEntry, run: Run, fleet: Fleet | None) -> list[str]:
    """What trains a run by hand, once its recipe is written: every call of ``recommit reproduce --out`` writes them."""
    from recommit.train.family import processes

    job = processes.job(run, entry.launch)
    if fleet is None:
        return ["recommit", "train", run.verb, *job.words]
    return fleet.command(fleet.slots[0], job.module, job.words)


def text(listed: Sequence[Row]) -> str:
    """For a person."""
    head = ("run", "starts from", "recipe", "steps", "ranks", "state", "GiB per rank", "hours")
    cells = [
        [
            r.run,
            r.starts_from,
            r.recipe,
            str(r.steps or "-"),
            str(r.ranks),
            r.state or "-",
            _number(r.gib_per_rank),
            _number(r.hours),
        ]
        for r in listed
    ]
    warm, heads = (sum(word in r.recipe for r in listed) for word in (" sft", "train world-model"))
    runs = [r for r in listed if " sft" in r.recipe or " grpo" in r.recipe]
    total = f"{len(runs) - warm} reinforcement runs, {warm} warm starts" + (f", {heads} with heads" if heads else "")
    if all(r.hours is not None for r in runs):
        total += f"; {sum(r.hours or 0.0 for r in runs):.1f} hours of passes, one run after the other"
    elif all(r.gib_per_rank is None for r in listed):
        total += "; memory and hours of each: --card a100 (minutes)"
    return "\n\n".join([Grid.of(head, cells).markdown(), total, "\n".join(r.command for r in listed)]) + "\n"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
