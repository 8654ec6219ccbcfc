"""All that a preset trains of a puzzle, side by side: nothing waits for anything but what it is made of."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from recommit.reproduce import evaluations, heads
from recommit.runs.side_by_side import Piece, in_order
from recommit.storage import files
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recommit.reproduce.preset import PresetEntry
    from recommit.runs.side_by_side import Ended
    from recommit.train.family.runs import Run


def train(entry: PresetEntry, verbs: Mapping[str, Callable[..., int]], jobs: int, quiet: bool) -> int:
    """Do what is missing, ``jobs`` pieces at a time; 0, or the highest status of those that failed."""
    there = _finished(entry)
    work = [piece for piece in pieces(entry, verbs, quiet) if piece.name not in there]
    work += evaluation_pieces(entry, quiet) if jobs > 1 else ()
    count = itertools.count(1)

    def say_how(ended: Ended) -> None:
        what = ended.piece.name.removeprefix(f"{entry.folder}/")
        spent = f"{ended.seconds:.0f} s ({ended.processor_seconds:.0f} s of processor time)"
        say(f"== {entry.name}: {what} took {spent}, {next(count)} of {len(work)}")

    return in_order(work, jobs, (lambda _: None) if quiet else say_how)


def _finished(entry: PresetEntry) -> set[str]:
    """Runs that are there, and so is all that they begin with. A foreign folder is refused before anything is done."""
    there, missing = set[str](), set[str]()
    for run in entry.runs:
        files.own_folder(run.folder)
        fine = missing.isdisjoint(map(str, run.sources)) and run.skipped()
        (there if fine else missing).add(str(run.folder))
    return there


def pieces(entry: PresetEntry, verbs: Mapping[str, Callable[..., int]], quiet: bool) -> list[Piece]:
    """Warm starts, heads and reinforcement, each after what it begins with."""
    imitation, reinforcement = list[Piece](), list[Piece]()
    for run in entry.runs:
        piece = Piece(_apart, (_train, run, quiet), str(run.folder), frozenset(map(str, run.sources)))
        (imitation if run.verb == "sft" else reinforcement).append(piece)
    heads_of_seeds = list[Piece]()
    for seed in entry.seeds if entry.head_steps() else ():
        steps = entry.head_steps(seed)
        name, needs = str(entry.folder / f"heads-s{seed}"), frozenset(map(str, steps[0].sources))
        heads_of_seeds.append(Piece(_apart, (heads.teach, steps, verbs, quiet), name, needs))
    return [*imitation, *heads_of_seeds, *reinforcement]


def evaluation_pieces(entry: PresetEntry, quiet: bool) -> list[Piece]:
    """Every seed's evaluation, after all that it plays. None of a single seed, which may have every core later, nor
    where models behind an endpoint play before."""
    from recommit.evaluate.tables import experiments

    first, *others = entry.seeds
    if not others or entry.zero_shot():
        return []
    names = [piece.name for piece in pieces(entry, {}, quiet)]
    played = {first: names, **{seed: [name for name in names if _seed(name) in ("", str(seed))] for seed in others}}
    tables = {first: (), **dict.fromkeys(others, experiments.OF_ONE_SEED)}
    return [
        Piece(
            _apart,
            (evaluations.play, entry, seed, tables[seed], quiet, 1),
            str(entry.evaluation(seed)),
            frozenset(played[seed]),
        )
        for seed in entry.seeds
    ]


def _apart(call: Callable[..., int], *arguments: Any) -> int:
    """A piece in a process that does others before and after."""
    from recommit.runs.process import unsettled

    with unsettled():
        return call(*arguments)


def _train(run: Run, quiet: bool) -> int:
    return 0 if run.skipped() else run.train(quiet)


def _seed(name: str) -> str:
    from recommit.evaluate import seeds

    return seeds.seed_of(name)
