"""From nothing to the figure: data, warm start, reinforcement, evaluation, report, each skipped when it is there.

Nothing here computes: every stage is the function behind its own command, so that any part can be repeated, changed or
replaced by hand in the same folder. With a fleet every run, and every evaluation, is launched as processes of its own,
and the main table of every puzzle comes before all that is trained besides.
"""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.reproduce import evaluations, heads, training
from recommit.reproduce import preset as presets
from recommit.reproduce.schedule import StageSchedule
from recommit.runs import side_by_side
from recommit.storage import files, ownership
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recommit.reproduce.preset import PresetEntry
    from recommit.train.family.launch import Fleet
    from recommit.train.family.runs import Run

#: What `recommit gallery` leaves: scripts/demo lets it write into the same folder, before.
GALLERY = "gallery.png"


class StageFailed(Exception):
    """A stage ended with another status than 0, which is in ``args[0]``."""


def reproduce(
    preset: str,
    out: str | Path,
    *,
    jobs: int = 2,
    fleet: Fleet | None = None,
    device: str | None = None,
    verbs: Mapping[str, Callable[..., int]],
    changes: Sequence[str] = (),
    quiet: bool = False,
) -> Path:
    """Run what is missing of a preset in ``out``; the report of its first puzzle. ``verbs``: see ``Task``."""
    folder = Path(out).absolute()
    entries = presets.entries(presets.load(preset, changes), folder, device)
    marks = (*(entry.name for entry in entries), GALLERY)
    ownership.refuse_foreign(folder, marks, "a reproduction of this preset")
    files.make_folders(files.Files(), folder)
    with Lock(folder, work="reproduction"):  # two would sweep each other's files away
        tasks = [Task(entry, jobs, fleet, quiet, verbs) for entry in entries]
        for task in tasks:
            task.prepare()
        stages = sorted((stage for task in tasks for stage in task.stages()), key=lambda stage: stage.turn)
        schedule = StageSchedule([stage.seconds for stage in stages])
        for stage in stages:
            stage.run(schedule, quiet)
    return entries[0].folder / "report.html"


@dataclass(frozen=True)
class PuzzleStage:
    """A part of the work on one puzzle."""

    puzzle: str
    what: str
    work: Callable[[], None]
    #: Those of all puzzles with a lower number come first.
    turn: int
    #: What it takes on two quiet cores, where the preset says so.
    seconds: float | None = None

    def run(self, schedule: StageSchedule, quiet: bool) -> None:
        """Do it, and say how long it took."""
        began, cpu = time.monotonic(), side_by_side.processor_seconds()
        if not quiet:
            say(f"== {self.puzzle}: {self.what} ({schedule.place()})")
        self.work()
        took = time.monotonic() - began
        schedule.passed(took)
        if not quiet:
            spent = side_by_side.processor_seconds() - cpu
            say(f"== {self.puzzle}: {self.what} took {took:.0f} s ({spent:.0f} s of processor time)")


@dataclass(frozen=True)
class Task:
    """The stages of one puzzle."""

    entry: PresetEntry
    jobs: int
    fleet: Fleet | None
    quiet: bool
    #: ``zero-shot``, ``train world-model``, ``graph build`` and ``train stakes``, whose flags a preset has by name.
    verbs: Mapping[str, Callable[..., int]]

    def stages(self) -> list[PuzzleStage]:
        """All of them, in order. A joint warm start needs the data of all puzzles; on a fleet the main tables come
        before what they can do without."""
        first: dict[str, Callable[[], None]] = {"data": self.data}
        main: dict[str, Callable[[], None]] = {}
        rest: dict[str, Callable[[], None]] = {"training": self.training}
        if self.fleet is not None:
            main = {"warm start": self.warm_start, "main runs": self.main_runs, "main table": self.main_table}
            rest = {"reinforcement": self.reinforcement}
            if self.entry.head_steps():
                rest |= {"heads": self.heads}
        if self.entry.zero_shot():
            rest |= {"zero-shot": self.zero_shot}
        rest |= {"evaluation": self.evaluation, "report": self.report}
        return [
            PuzzleStage(self.entry.name, what, call, turn, self.entry.values.get("seconds", {}).get(what))
            for turn, work in enumerate((first, main, rest))
            for what, call in work.items()
        ]

    def prepare(self) -> None:
        """Refuse what cannot be done before anything is, and write down what every run is made of."""
        from recommit.train.family import processes

        for folder in self.entry.folders():
            files.own_folder(folder)
        # Runs and evaluations sweep their own folders; these two hold recipes, tables and the report.
        for folder in (self.entry.folder, self.entry.launch):
            files.sweep(files.Files(), folder)
        if self.fleet is not None:
            processes.check(self.fleet, self.entry.runs)
        processes.write_recipes(self.entry.runs, self.entry.launch)

    def data(self) -> None:
        """Labelled states."""
        import recommit.data

        recommit.data.build(self.entry.data, self.entry.folder / "data", workers=self.jobs)

    def training(self) -> None:
        """Everything that learns, in processes of this machine; with several seeds, their evaluations too."""
        _fine(training.train(self.entry, self.verbs, self.jobs, self.quiet))

    def warm_start(self) -> None:
        """Imitation."""
        self._train(self.entry.warm_runs())

    def main_runs(self) -> None:
        """Reinforcement of those that the main table compares."""
        self._train(self.entry.main_runs())

    def main_table(self) -> None:
        """Play the first seed while only its runs are there: an evaluation would play one that is not finished as it
        is."""
        main = {run.folder for run in [*self.entry.warm_runs(), *self.entry.main_runs()]}
        if not any(run.folder.is_dir() for run in self.entry.runs if run.folder not in main):
            self._evaluate({self.entry.seeds[0]: ("main",)})

    def reinforcement(self) -> None:
        """All runs from the warm start, and those from warm starts at one depth alone."""
        imitated, reinforced = self.entry.single_runs()
        self._train([*self.entry.reinforced(), *imitated, *self.entry.budget_runs()])
        self._train(reinforced)

    def heads(self) -> None:
        """Foresight and stakes, several seeds at a time, in this machine's processes."""
        work = [(self.entry.head_steps(seed), self.verbs, self.quiet) for seed in self.entry.seeds]
        if self.jobs == 1 or len(work) == 1:
            for each in work:
                _fine(heads.teach(*each))
        else:
            _fine(side_by_side.run(heads.teach, work, self.jobs))

    def zero_shot(self) -> None:
        """Models behind an endpoint, untrained; their keys and caps are those of ``recommit zero-shot``."""
        for folder, flags in self.entry.zero_shot().items():
            with contextlib.redirect_stdout(sys.stderr):  # whose last line is the report's path
                _fine(self.verbs["zero-shot"](out=folder, quiet=self.quiet, **flags))

    def _train(self, every: list[Run]) -> None:
        from recommit.train.family import processes

        assert self.fleet is not None
        _fine(processes.train(self.fleet, every, self.entry.launch, quiet=self.quiet))

    def evaluation(self) -> None:
        """Everybody, several seeds at a time; then all seeds in one table."""
        from recommit.evaluate import seeds
        from recommit.evaluate.tables import experiments

        first, *others = self.entry.seeds
        if self.fleet is not None or self.jobs == 1 or not training.evaluation_pieces(self.entry, self.quiet):
            self._evaluate({first: (), **dict.fromkeys(others, experiments.OF_ONE_SEED)})
        folders = [self.entry.evaluation(seed) for seed in self.entry.seeds]
        table = seeds.together(folders)
        files.replace(files.Files(), self.entry.folder / "results.md", table.encode())
        if not self.quiet:
            say(table)

    def _evaluate(self, tables: dict[int, tuple[str, ...]]) -> None:
        """The tables (none named: all) of each seed."""
        from recommit.train.family import processes

        if self.fleet is not None:
            work = [evaluations.job(self.entry, seed, names) for seed, names in tables.items()]
            _fine(processes.run(self.fleet, work, self.entry.launch, quiet=self.quiet))
        elif self.jobs == 1 or len(tables) == 1:
            for seed, names in tables.items():
                evaluations.play(self.entry, seed, names, self.quiet)
        else:
            calls = [(self.entry, seed, names, self.quiet, 1) for seed, names in tables.items()]
            _fine(side_by_side.run(evaluations.play, calls, self.jobs))

    def report(self) -> None:
        """A page to look at."""
        from recommit.report import page

        first, *others = (self.entry.evaluation(seed) for seed in self.entry.seeds)
        page.write(first, self.entry.folder / "report.html", seeds=others)


def _fine(status: int) -> None:
    if status:
        raise StageFailed(status)


def figures(folder: str | Path) -> dict[str, Any]:
    """The solve rates of a finished puzzle's first seed, by agent and budget."""
    from recommit.storage import reading

    by_kind = (sorted(Path(folder).glob(f"{kind}-s*/summary.json")) for kind in ("fresh", "eval"))
    path = next(path for paths in by_kind for path in paths)
    rows = reading.rows(path.parent, path.name, {"agent": str, "budget": str, "solve_rate": float})
    own = [row for row in rows if not row["agent"].startswith("adaptive@")]  # not other recipes and heads
    return {f"{row['agent'].partition('@')[0]} {row['budget']}": row["solve_rate"] for row in own}
