"""Presets: what to make of each puzzle, as a YAML file with one entry per puzzle, and the runs that follow from it.

All runs of a puzzle begin with a warm start of that puzzle; where a preset has ``joint``, with one warm start of all
puzzles.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.reproduce import heads
from recommit.reproduce.preset_check import CHANGES, HEAD_PLANS, KEYS, MAPPINGS, check
from recommit.storage import recipe_text
from recommit.storage.recipe_text import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.data.spec import DataSpec
    from recommit.reproduce.heads import HeadStep
    from recommit.train.family.runs import Run

#: The folder of presets in the package.
_FOLDER = "recipes/reproduce"


def names() -> list[str]:
    """List the presets in this package."""
    listed = (p.name for p in (resources.files("recommit") / _FOLDER).iterdir())
    return sorted(name.removesuffix(".yaml") for name in listed if name.endswith(".yaml"))


def load(preset: str, changes: Sequence[str] = ()) -> dict[str, Any]:
    """A preset by name or file, with changes ``KEY=VALUE`` for all puzzles, or ``PUZZLE.KEY=VALUE`` for one."""
    named = resources.files("recommit") / _FOLDER / f"{preset}.yaml"
    if not named.is_file() and not Path(preset).is_file():
        raise ValueError(f"preset: expected a file or one of {', '.join(names())}, got {preset}")
    text = named.read_text(encoding="utf-8") if named.is_file() else Path(preset).read_text(encoding="utf-8")
    try:
        whole: dict[str, Any] = recipe_text.read(text)
    except ValueError as error:
        raise ValueError(f"preset: {error} in {preset}") from None
    if not isinstance(whole, dict) or not isinstance(whole.get("tasks"), dict):
        kind = type(whole).__name__
        raise ValueError(f"preset: expected a mapping with tasks, got {kind} in {preset}")  # noqa: TRY004
    check(whole)
    for change in changes:
        _change(whole, change)
    check(whole)
    return whole


def _change(whole: dict[str, Any], change: str) -> None:
    tasks: dict[str, Any] = whole["tasks"]
    path, equals, text = change.partition("=")
    first, *rest = path.strip().split(".")
    meant = [tasks[first]] if first in tasks else list(tasks.values())
    if first == "sft" and "joint" in whole:
        meant = [whole["joint"]]
    first, *rest = rest if first in tasks and rest else [first, *rest]
    if not equals or first not in KEYS or (rest and first not in (*CHANGES, *MAPPINGS)):
        raise ValueError(
            f"set: expected NAME=VALUE with a name of {', '.join(KEYS)} (of all puzzles, or after "
            f"{'. or '.join(tasks)}. of one), got {brief(change)}"
        )
    try:
        value = recipe_text.read(text)
    except ValueError as error:
        raise ValueError(f"set: expected a value in YAML, got {brief(change)}: {error}") from None
    for values in meant:
        if rest and first in CHANGES:
            values[first] = [*values.get(first, []), f"{'.'.join(rest)}={text}"]
        elif rest:
            values[first] = {**values.get(first, {}), ".".join(rest): value}
        else:
            values[first] = value


@dataclass(frozen=True)
class WarmStartSource:
    """Where warm starts come from: a recipe with its changes, the data of one puzzle or of all, and the folder for
    them."""

    recipe: str
    changes: tuple[str, ...]
    #: What the data of each puzzle are made from, and their folders.
    data_specs: tuple[DataSpec, ...]
    data: tuple[Path, ...]
    folder: Path

    def run(self, name: str, changes: Sequence[str] = ()) -> Run:
        """The warm start in one of its folders."""
        from recommit.train import config
        from recommit.train.family.runs import Run

        source = self.data[0] if len(self.data) == 1 else self.data
        return Run("sft", config.load(self.recipe, [*self.changes, *changes]), source, self.folder / name)


@dataclass(frozen=True)
class PresetEntry:
    """What a preset says of one puzzle, and its folder: which runs there are, what of, and where."""

    name: str
    values: dict[str, Any]
    folder: Path
    #: Of all runs; None for that of the recipe.
    device: str | None = None
    #: The warm start that all puzzles share; None for one of this puzzle.
    joint: WarmStartSource | None = None

    @property
    def data(self) -> DataSpec:
        """DataSpec of the data."""
        from recommit.data.spec import DataSpec

        return DataSpec.from_dict(self.values["data"])

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the runs."""
        return tuple(self.values["seeds"])

    @property
    def family(self) -> Path:
        """Where reinforced runs lie."""
        return self.folder / "family"

    @property
    def launch(self) -> Path:
        """Where recipes and logs of the runs lie."""
        return self.folder / "launch"

    def zero_shot(self) -> dict[Path, dict[str, Any]]:
        """Models that are played untrained, on the instances of the evaluation: the folder and the flags of each."""
        shared = {"data": self.folder / "data", "instances": self.values.get("evaluate", {}).get("instances", 1024)}
        return {
            self.family / f"zero-shot-{asking['model'].replace('/', '-')}": {**shared, **asking}
            for asking in self.values.get("zero_shot", [])
        }

    def folders(self) -> list[Path]:
        """All that are made of it besides those of runs."""
        shared = [self.folder, self.imitation.folder, self.launch, self.family, self.folder / "data"]
        shared += [step.out for step in self.head_steps()]
        return [*shared, *map(self.evaluation, self.seeds), *self.zero_shot()]

    def evaluation(self, seed: int) -> Path:
        """Where the figures of a seed lie; those of a fresh split stand beside what was measured without it."""
        kind = "fresh" if self.values.get("evaluate", {}).get("fresh") else "eval"
        return self.folder / f"{kind}-s{seed}"

    def head_steps(self, *seeds: int) -> list[HeadStep]:
        """What teaches heads, seed by seed; of all seeds for none."""
        wishes, every = self.values.get("heads", {}), list["HeadStep"]()
        task = self.data.task if self.joint else ""
        for seed in seeds or self.seeds:
            of_warm_start = wishes.get("plans") == HEAD_PLANS[0]
            run = self.starts()[seed] if of_warm_start else self.family / f"adaptive-s{seed}"
            every += heads.steps(wishes, run, self.folder, seed, task)
        return every

    @property
    def runs(self) -> list[Run]:
        """All of them."""
        imitated, reinforced = self.single_runs()
        return [*self.warm_runs(), *self.reinforced(), *imitated, *self.budget_runs(), *reinforced]

    @property
    def imitation(self) -> WarmStartSource:
        """What its warm starts are made of."""
        if self.joint is not None:
            return self.joint
        changes = (*self.values.get("sft", []), *_on(self.device))
        return WarmStartSource(self.values["recipe"], changes, (self.data,), (self.folder / "data",), self.folder)

    def starts(self) -> dict[int, Path]:
        """The warm start of every seed."""
        each = self.values.get("warm_starts", "one") == "each"
        return {seed: self.imitation.folder / (f"sft-s{seed}" if each else "sft") for seed in self.seeds}

    def warm_runs(self) -> list[Run]:
        """Imitation: one for all seeds, or one each."""
        each = self.values.get("warm_starts", "one") == "each"
        own = {folder.name: [f"run.seed={seed}"] if each else [] for seed, folder in self.starts().items()}
        return [self.imitation.run(name, more) for name, more in own.items()]

    def reinforced(self) -> list[Run]:
        """Every variant with every seed, then the ablations with the first."""
        from recommit.train.family import runs as families

        once = tuple(self.values.get("ablations", ()))
        configs = self._configs((*self.values["variants"], *once))
        return families.members(configs, self.starts(), self.family, self.seeds, once, self._instances)

    def main_runs(self) -> list[Run]:
        """Those of the main table: adaptive and fixed depths, the first seed."""
        folders = {f"{name}-s{self.seeds[0]}" for name in self.values["variants"]}
        return [r for r in self.reinforced() if r.name in folders and r.name.startswith(("adaptive-", "fixed-"))]

    def budget_runs(self) -> list[Run]:
        """Other numbers of decisions per training episode than the recipe's, the first seed."""
        from recommit.train.family import runs as families

        study, runs = self.values.get("training_budgets", {}), list["Run"]()
        own = self._configs(("adaptive",))["adaptive"].rollout.budget if study else 0
        for budget in study.get("budgets", []):
            if budget != own:
                configs = self._configs(tuple(study["variants"]), {"rollout.budget": budget})
                named = {f"{name}{families.BUDGET}{budget}": config for name, config in configs.items()}
                runs += families.members(named, self.starts(), self.family, self.seeds[:1], data=self._instances)
        return runs

    def single_runs(self) -> tuple[list[Run], list[Run]]:
        """One depth alone: the warm starts, and their reinforcement with the first seed."""
        from recommit.train.family import runs as families

        seed, imitated, reinforced = self.seeds[0], list["Run"](), list["Run"]()
        for depth in self.values.get("singles", []):
            folder = f"single-{depth}-init" if self.joint else f"{self.family.name}/single-{depth}-init"
            imitated.append(self.imitation.run(folder, [f"targets.depths=[{depth}]"]))
            config = self._configs((f"fixed-{depth}",))[f"fixed-{depth}"]
            source = imitated[-1].folder
            reinforced += families.members(
                {f"single-{depth}": config}, source, self.family, (seed,), data=self._instances
            )
        return imitated, reinforced

    @property
    def _instances(self) -> Path | None:
        """The data whose recipe makes the instances of reinforcement, where the warm start does not say it."""
        return self.folder / "data" if self.joint else None

    def _configs(self, variants: tuple[str, ...], flags: dict[str, Any] | None = None) -> dict[str, Any]:
        from recommit.train.family.runs import family_configs

        changes = (*self.values.get("grpo", []), *_on(self.device))
        return family_configs(self.values["recipe"], variants, changes, flags or {})


def _on(device: str | None) -> list[str]:
    return [] if device is None else [f"run.device={device}"]


def entries(preset: dict[str, Any], out: Path, device: str | None = None) -> list[PresetEntry]:
    """Make the entry of every puzzle, in order."""
    joint = _joint(preset, out, device) if "joint" in preset else None
    return [PresetEntry(name, values, out / name, device, joint) for name, values in preset["tasks"].items()]


def _joint(preset: dict[str, Any], out: Path, device: str | None) -> WarmStartSource:
    values, tasks = preset["joint"], [PresetEntry(name, values, out / name) for name, values in preset["tasks"].items()]
    data_specs, data = tuple(task.data for task in tasks), tuple(task.folder / "data" for task in tasks)
    return WarmStartSource(values["recipe"], (*values.get("sft", []), *_on(device)), data_specs, data, out / "joint")


def every_run(entries: Sequence[PresetEntry]) -> list[tuple[PresetEntry, Run]]:
    """All runs of all puzzles; a shared one stands once, with the first puzzle."""
    runs: dict[Path, tuple[PresetEntry, Run]] = {}
    for entry in entries:
        for run in entry.runs:
            runs.setdefault(run.folder, (entry, run))
    return list(runs.values())
