"""From nothing to the report: data, warm start, reinforcement, heads, evaluation, each skipped when it is there.

Nothing here computes: every stage is the function behind its own command, so that any part can be repeated, changed or
replaced by hand in the same folder. In this machine's processes nothing waits for anything but what it is made of. With
a fleet every run, and every evaluation, is launched as processes of its own, and the main table of every puzzle comes
before all that is trained besides.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.evaluate import seeds as across_seeds
from recommit.evaluate.agent_names import seed_of
from recommit.evaluate.family import Members
from recommit.evaluate.options import EvaluateOptions
from recommit.evaluate.tables import paper_tables
from recommit.report.options import ReportOptions
from recommit.reproduce import heads
from recommit.reproduce import preset as presets
from recommit.runs import parallel
from recommit.runs.process import preserved_torch_state
from recommit.runs.progress import last_agent
from recommit.storage import files, ownership
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say
from recommit.train.family import processes
from recommit.train.family.processes import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.data.spec import DataSpec
    from recommit.reproduce.options import ReproduceOptions
    from recommit.reproduce.preset import PresetEntry
    from recommit.runs.parallel import Finished
    from recommit.train.family.launch import Fleet
    from recommit.train.family.runs import Run


class StageFailed(Exception):
    """A stage ended with another status than 0, which is in ``args[0]``."""


def reproduce(options: ReproduceOptions, *, quiet: bool = False) -> Path:
    """Run what is missing of a preset, and return the report of its first puzzle."""
    if options.out is None:
        raise ValueError("out: expected a folder, got none")
    folder = options.out.absolute()
    entries = presets.entries(presets.load(options.preset, options.set), folder, options.device)
    marks = tuple(entry.name for entry in entries)
    ownership.refuse_foreign(folder, marks, "a reproduction of this preset")
    fleet = options.fleet()
    files.make_folders(files.Files(), folder)
    with Lock(folder, work="reproduction"):  # two would sweep each other's files away
        tasks = [Task(entry, options.jobs, fleet, quiet) for entry in entries]
        for task in tasks:
            task.prepare()
        stages = sorted(((turn, task, what) for task in tasks for turn, what in task.stages()), key=lambda one: one[0])
        for number, (_, task, what) in enumerate(stages, 1):
            task.run(what, f"{number} of {len(stages)}")
    return entries[0].report(next(iter(entries[0].data.values())))


@dataclass(frozen=True)
class Task:
    """The stages of one puzzle."""

    entry: PresetEntry
    jobs: int
    fleet: Fleet | None
    quiet: bool

    def stages(self) -> list[tuple[int, str]]:
        """Names of methods, and their turns: those of all puzzles with a lower one come first. A joint warm start needs
        the data of all puzzles; on a fleet the main tables come before what they can do without."""
        names = [(0, "data")]
        if self.fleet is None:
            names += [(2, "training")]
        else:
            names += [(1, "warm_start"), (1, "main_runs"), (1, "main_table"), (2, "reinforcement")]
            names += [(2, "heads")] if self.entry.head_steps() else []
        return [*names, (2, "evaluation"), (2, "report")]

    def run(self, what: str, place: str) -> None:
        """Do a stage, and say how long it took."""
        began, cpu = time.monotonic(), parallel.processor_seconds()
        words = f"== {self.entry.name}: {what.replace('_', ' ')}"
        if not self.quiet:
            say(f"{words} ({place})")
        getattr(self, what)()
        if not self.quiet:
            took, spent = time.monotonic() - began, parallel.processor_seconds() - cpu
            say(f"{words} took {took:.0f} s ({spent:.0f} s of processor time)")

    def prepare(self) -> None:
        """Refuse what cannot be done before anything is, and write down what every run is made of."""

        for folder in self.entry.folders():
            files.own_folder(folder)
        # Runs and evaluations sweep their own folders; these two hold recipes, tables and the report.
        for folder in (self.entry.folder, self.entry.launch):
            files.sweep(files.Files(), folder)
        if self.fleet is not None:
            processes.check(self.fleet, self.entry.runs)
        processes.write_recipes(self.entry.runs, self.entry.launch)

    def data(self) -> None:
        """Build the labelled states."""
        import recommit.data

        for folder, spec in self.entry.data.items():
            recommit.data.build(spec, folder, workers=self.jobs)

    def training(self) -> None:
        """Train everything in processes of this machine; with several seeds, evaluate them too."""
        there = _finished(self.entry)
        work = [piece for piece in pieces(self.entry, self.quiet) if piece.name not in there]
        work += evaluation_pieces(self.entry, self.quiet) if self.jobs > 1 else ()
        count = itertools.count(1)

        def say_how(ended: Finished) -> None:
            what = ended.job.name.removeprefix(f"{self.entry.folder}/")
            spent = f"{ended.seconds:.0f} s ({ended.processor_seconds:.0f} s of processor time)"
            say(f"== {self.entry.name}: {what} took {spent}, {next(count)} of {len(work)}")

        _fine(parallel.run_jobs(work, self.jobs, (lambda _: None) if self.quiet else say_how))

    def warm_start(self) -> None:
        """Imitate, on the fleet."""
        self._train(self.entry.warm_runs())

    def main_runs(self) -> None:
        """Reinforce the runs that the main table compares, on the fleet."""
        self._train(self.entry.main_runs())

    def main_table(self) -> None:
        """Play the first seed while only its runs are there: an evaluation would play one that is not finished as it
        is."""
        main = {run.folder for run in [*self.entry.warm_runs(), *self.entry.main_runs()]}
        if not any(run.folder.is_dir() for run in self.entry.runs if run.folder not in main):
            self._evaluate({self.entry.seeds[0]: ("main",)})

    def reinforcement(self) -> None:
        """All runs from the warm start, and those from warm starts at one depth alone, on the fleet."""
        imitated, reinforced = self.entry.single_runs()
        self._train([*self.entry.reinforced(), *imitated, *self.entry.budget_runs()])
        self._train(reinforced)

    def heads(self) -> None:
        """Train heads of several seeds at a time, in this machine's processes."""
        work = [(self.entry.head_steps(seed), self.quiet) for seed in self.entry.seeds]
        if self.jobs == 1 or len(work) == 1:
            for each in work:
                _fine(heads.train(*each))
        else:
            _fine(parallel.run_parallel(heads.train, work, self.jobs))

    def evaluation(self) -> None:
        """Play everybody, several seeds at a time; then put all seeds in one table."""

        first, *others = self.entry.seeds
        if self.fleet is not None or self.jobs == 1 or not evaluation_pieces(self.entry, self.quiet):
            self._evaluate({first: (), **dict.fromkeys(others, paper_tables.OF_ONE_SEED)})
        for spec in self.entry.data.values():
            table = across_seeds.together([self.entry.evaluation(seed, spec) for seed in self.entry.seeds])
            name = f"results{self.entry.suffix(spec)}.md"
            files.replace(files.Files(), self.entry.folder / name, table.encode())
            if not self.quiet:
                say(table)

    def report(self) -> None:
        """Write the page about the first seed, with all seeds in one table."""
        from recommit.report import page

        for spec in self.entry.data.values():
            first, *others = (self.entry.evaluation(seed, spec) for seed in self.entry.seeds)
            page.write(ReportOptions(first, self.entry.report(spec), tuple(others)))

    def _train(self, every: list[Run]) -> None:

        assert self.fleet is not None
        _fine(processes.train(self.fleet, every, self.entry.launch, quiet=self.quiet))

    def _evaluate(self, tables: dict[int, tuple[str, ...]]) -> None:
        """The tables (none named: all) of each seed."""

        if self.fleet is not None:
            work = [evaluation_job(self.entry, *each) for each in _each(self.entry, tables)]
            _fine(processes.run(self.fleet, work, self.entry.launch, quiet=self.quiet))
        elif self.jobs == 1 or len(tables) * len(self.entry.data) == 1:
            for each in _each(self.entry, tables):
                evaluate(self.entry, *each, self.quiet)
        else:
            calls = [(self.entry, *each, self.quiet, 1) for each in _each(self.entry, tables)]
            _fine(parallel.run_parallel(evaluate, calls, self.jobs))


def _each(entry: PresetEntry, tables: dict[int, tuple[str, ...]]) -> Iterator[tuple[int, DataSpec, tuple[str, ...]]]:
    """Seed, size and tables of every evaluation."""
    return ((seed, spec, names) for spec in entry.data.values() for seed, names in tables.items())


def _fine(status: int) -> None:
    if status:
        raise StageFailed(status)


def _finished(entry: PresetEntry) -> set[str]:
    """Runs that are there, and so is all that they begin with. A foreign folder is refused before anything is done."""
    there, missing = set[str](), set[str]()
    for run in entry.runs:
        files.own_folder(run.folder)
        fine = missing.isdisjoint(map(str, run.sources)) and run.skipped()
        (there if fine else missing).add(str(run.folder))
    return there


def pieces(entry: PresetEntry, quiet: bool) -> list[parallel.Job]:
    """Warm starts, heads and reinforcement, each after what it begins with."""
    imitation, reinforcement = list[parallel.Job](), list[parallel.Job]()
    for run in entry.runs:
        piece = parallel.Job(_apart, (_train, run, quiet), str(run.folder), frozenset(map(str, run.sources)))
        (imitation if run.verb == "sft" else reinforcement).append(piece)
    heads_of_seeds = list[parallel.Job]()
    for seed in entry.seeds if entry.head_steps() else ():
        steps = entry.head_steps(seed)
        name, needs = str(entry.folder / f"heads-s{seed}"), frozenset(map(str, steps[0].sources))
        heads_of_seeds.append(parallel.Job(_apart, (heads.train, steps, quiet), name, needs))
    return [*imitation, *heads_of_seeds, *reinforcement]


def evaluation_pieces(entry: PresetEntry, quiet: bool) -> list[parallel.Job]:
    """Every seed's evaluation, after all that it plays. None of a single seed, which may have every core later."""
    first, *others = entry.seeds
    if not others:
        return []
    names = [piece.name for piece in pieces(entry, quiet)]
    needs = {seed: [name for name in names if seed_of(name) in ("", str(seed))] for seed in others}
    needs[first] = names
    tables = {first: (), **dict.fromkeys(others, paper_tables.OF_ONE_SEED)}
    return [
        parallel.Job(
            _apart,
            (evaluate, entry, seed, spec, names, quiet, 1),
            str(entry.evaluation(seed, spec)),
            frozenset(needs[seed]),
        )
        for seed, spec, names in _each(entry, tables)
    ]


def evaluation_job(entry: PresetEntry, seed: int, spec: DataSpec, tables: tuple[str, ...]) -> Job:
    """What plays everybody of one seed: ``recommit evaluate`` on every rank."""
    out = entry.evaluation(seed, spec)
    log, written, before = entry.launch / f"{out.name}.log", out / "tables.md", _changed(out / "tables.md")
    whom = _whom(entry, seed, spec, tables)
    words = ["evaluate", str(whom.pop("run")), "--seed", str(seed), "--out", str(out)]
    words += ["--device", entry.device or "auto"]
    for name, value in {**whom, **_settings(entry, spec)}.items():
        words += _option(name, value)
    return Job(out.name, "recommit.cli", tuple(words), lambda: _changed(written) != before, lambda: last_agent(log))


def _option(name: str, value: Any) -> list[str]:
    """As the command line has it: a switch stands alone, or not at all."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    values = list(value) if isinstance(value, list | tuple) else [value]
    return [flag, *map(str, values)] if values else []


def _whom(entry: PresetEntry, seed: int, spec: DataSpec, tables: tuple[str, ...]) -> dict[str, Any]:
    """The family, or of a puzzle that the paper does not have everybody in it by name."""
    members = Members(entry.family, seed, _settings(entry, spec).get("task", ""))
    if paper_tables.in_paper(members):
        return {"run": entry.family, "paper": True, "tables": tables}
    return {"run": members.adaptive, "agents": paper_tables.agents_of(members, tables)}


def _changed(file: Path) -> int:
    """When it was written; 0 if it was not."""
    return file.stat().st_mtime_ns if file.is_file() else 0


def _settings(entry: PresetEntry, spec: DataSpec) -> dict[str, Any]:
    """What the preset says of evaluations, and of several sizes which one is played."""
    which = {"task": f"{spec.task}{suffix}"} if (suffix := entry.suffix(spec)) else {}
    return {**entry.values.get("evaluate", {}), **which}


def evaluate(
    entry: PresetEntry, seed: int, spec: DataSpec, tables: tuple[str, ...], quiet: bool, threads: int = 0
) -> int:
    """Play everybody of one seed and size in this process, and fill its tables; 0."""
    from recommit.evaluate.evaluation import evaluated

    values = _settings(entry, spec)
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    settings |= {"seed": seed, "threads": threads, "device": entry.device or "auto", **_whom(entry, seed, spec, tables)}
    evaluated(EvaluateOptions(out=entry.evaluation(seed, spec), **settings), quiet=quiet)
    return 0


def _apart(call: Callable[..., int], *arguments: Any) -> int:
    """A piece in a process that does others before and after."""
    with preserved_torch_state():
        return call(*arguments)


def _train(run: Run, quiet: bool) -> int:
    return 0 if run.skipped() else run.train(quiet)
