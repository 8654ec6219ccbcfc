"""From nothing to the figure: data, warm start, reinforcement, evaluation, report, each skipped when it is there.

A preset is a YAML file with one entry per puzzle. Nothing here computes: every stage is the function behind its own
command, so that any part can be repeated, changed or replaced by hand in the same folder.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.data.recipe import Recipe

#: The folder of presets in the package.
_PRESETS = "recipes/reproduce"


class Stopped(Exception):
    """A stage ended with another status than 0, which is in ``args[0]``."""


def presets() -> list[str]:
    """Names of the presets in this package."""
    return sorted(
        p.name.removesuffix(".yaml")
        for p in (resources.files("recommit") / _PRESETS).iterdir()
        if p.name.endswith(".yaml")
    )


def load(preset: str) -> dict[str, Any]:
    """A preset by name or file."""
    import yaml

    named = resources.files("recommit") / _PRESETS / f"{preset}.yaml"
    if not named.is_file() and not Path(preset).is_file():
        raise ValueError(f"preset: expected a file or one of {', '.join(presets())}, got {preset}")
    text = named.read_text(encoding="utf-8") if named.is_file() else Path(preset).read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def reproduce(preset: str, out: str | Path, *, jobs: int = 2, quiet: bool = False) -> Path:
    """Run what is missing of a preset in ``out``; the report."""
    plan, folder = load(preset), Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    reports = [Task(name, task, folder / name, jobs, quiet).run() for name, task in plan["tasks"].items()]
    return reports[0]


class Task:
    """The stages of one puzzle."""

    def __init__(self, name: str, plan: dict[str, Any], folder: Path, jobs: int, quiet: bool) -> None:
        self.name, self.plan, self.folder, self.jobs, self.quiet = name, plan, folder, jobs, quiet

    def run(self) -> Path:
        """All of them, in order."""
        self._timed("data", self.data)
        self._timed("warm start", self.warm_start)
        self._timed("reinforcement", self.reinforcement)
        self._timed("evaluation", self.evaluation)
        self._timed("report", self.report)
        return self.folder / "report.html"

    def _timed(self, what: str, work: Callable[[], None]) -> None:
        began = time.monotonic()
        if not self.quiet:
            sys.stderr.write(f"== {self.name}: {what}\n")
        work()
        if not self.quiet:
            sys.stderr.write(f"== {self.name}: {what} took {time.monotonic() - began:.0f} s\n")

    def recipe(self) -> Recipe:
        """Of the data."""
        from recommit.data.recipe import Recipe

        return Recipe.from_dict(self.plan["data"])

    def data(self) -> None:
        """Labelled states."""
        import recommit.data

        recommit.data.build(self.recipe(), self.folder / "data", workers=self.jobs)

    def warm_start(self) -> None:
        """Imitation: one for all seeds, or one each."""
        from recommit.train import side_by_side

        recipe, changes = self.plan["recipe"], self.plan.get("sft", [])
        own = {self.starts()[seed]: [f"run.seed={seed}"] if self._each() else [] for seed in self.plan["seeds"]}
        work = [(recipe, [*changes, *more], self.folder / "data", out, self.quiet) for out, more in own.items()]
        if self.jobs == 1 or len(work) == 1:
            for each in work:
                _fine(_imitate(*each))
            return
        _fine(side_by_side.run(_imitate, work, self.jobs))

    def starts(self) -> dict[int, Path]:
        """The warm start of every seed."""
        return {seed: self.folder / (f"sft-s{seed}" if self._each() else "sft") for seed in self.plan["seeds"]}

    def _each(self) -> bool:
        """Has every seed a warm start of its own?"""
        given = self.plan.get("warm_starts", "one")
        if given not in ("one", "each"):
            raise ValueError(f"warm_starts: expected one or each, got {given}")
        return bool(given == "each")

    def reinforcement(self) -> None:
        """Every variant with every seed, then the ablations with the first."""
        from recommit.train import family
        from recommit.train_command import planned_family

        once = tuple(self.plan.get("ablations", ()))
        names, changes = (*self.plan["variants"], *once), tuple(self.plan.get("grpo", []))
        plans = planned_family(self.plan["recipe"], names, changes, {})
        out, seeds = self.folder / "family", tuple(self.plan["seeds"])
        _fine(family.train(plans, self.starts(), out, seeds, once=once, jobs=self.jobs, quiet=self.quiet))

    def evaluation(self) -> None:
        """The family's agents, several seeds at a time; then all seeds in one table."""
        from recommit.data import files
        from recommit.evaluate import across

        self._evaluations()
        folders = [self.folder / f"eval-s{seed}" for seed in self.plan["seeds"]]
        files.replace(files.Files(), self.folder / "results.md", across.together(folders).encode())

    def _evaluations(self) -> None:
        from recommit.train import side_by_side

        work = [(self.folder, seed, self.plan.get("evaluate", {}), self.quiet) for seed in self.plan["seeds"]]
        if self.jobs == 1 or len(work) == 1:
            for each in work:
                _evaluate(*each)
            return
        _fine(side_by_side.run(_evaluate, [(*each, 1) for each in work], self.jobs))

    def report(self) -> None:
        """A page to look at."""
        from recommit.report_command import report

        first, *others = (self.folder / f"eval-s{seed}" for seed in self.plan["seeds"])
        report(first, self.folder / "report.html", seeds=tuple(others), quiet=self.quiet)


def _imitate(recipe: str, changes: list[str], data: Path, out: Path, quiet: bool) -> int:
    """A warm start; nothing if it is finished."""
    from recommit.train import config, sft

    return sft.train(config.load(recipe, changes), data, out, quiet=quiet)


def _evaluate(folder: Path, seed: int, given: dict[str, Any], quiet: bool, threads: int = 0) -> int:
    """Everybody in the family of one seed."""
    import torch

    from recommit.evaluate import experiments, tables
    from recommit.evaluate.evaluation import Evaluation, Plan
    from recommit.evaluate.members import Found, Members
    from recommit.evaluate.store import Store

    if threads:
        torch.set_num_threads(threads)
    options: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    members = Members(folder / "family", seed)
    plan = Plan(str(members.adaptive), experiments.agents_of(members), seed=seed, **options)
    with Store(folder / f"eval-s{seed}") as store:
        summary = Evaluation(plan, store, quiet=quiet).run()
        beside_paper = experiments.in_paper(members)
        text = experiments.write(Found(summary, members)) if beside_paper else tables.text(summary, store.folder)
        store.write_text("tables.md", text)
    return 0


def _fine(status: int) -> None:
    if status:
        raise Stopped(status)


def figures(folder: str | Path) -> dict[str, Any]:
    """The solve rates of a finished puzzle's first seed, by agent and budget."""
    path = next(iter(sorted(Path(folder).glob("eval-s*/summary.json"))))
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {f"{row['agent'].partition('@')[0]} {row['budget']}": row["solve_rate"] for row in rows}
