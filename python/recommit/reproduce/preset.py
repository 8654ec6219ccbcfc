"""Presets: what to make of each puzzle, as a YAML file with one entry per puzzle, and the runs that follow from it.

All runs of a puzzle begin with a warm start of that puzzle; where a preset has ``joint``, with one warm start of all
puzzles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.puzzles.registry import TASKS
from recommit.reproduce import heads
from recommit.storage import recipe_text
from recommit.storage.recipe_text import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.data.spec import DataSpec
    from recommit.reproduce.heads import HeadStep
    from recommit.train.family.runs import Run

#: The folder of presets in the package.
_FOLDER = "recipes/reproduce"
#: Whose plans the heads of a preset are trained on.
HEAD_PLANS = ("warm-start", "adaptive")
#: What an entry may say: a type, a list of one, some words, or fields again. Each of several ``sizes`` has data of its
#: own, all are trained together, and each is evaluated by itself. ``world_model`` and ``conditioned`` have the flags of
#: the commands that train these heads, ``evaluate`` those of ``recommit evaluate``.
_FIELDS: dict[str, Any] = {
    "data": dict,
    "recipe": str,
    "sizes": [int],
    "sft": [str],
    "grpo": [str],
    "variants": [str],
    "seeds": [int],
    "warm_starts": ("one", "each"),
    "ablations": [str],
    "singles": [int],
    "training_budgets": {"budgets": [int], "variants": [str]},
    "heads": {
        "plans": HEAD_PLANS,
        "augmentations": int,
        "world_model": {"steps": int, "starts": int},
        "conditioned": {
            **dict.fromkeys(("starts", "hidden", "updates"), int),
            **dict.fromkeys(("price_action", "price_observation"), float),
            **{key: [int] for key in ("length", "budget")},
            "features": str,
        },
    },
    "evaluate": {
        **dict.fromkeys(("instances", "validation", "fresh"), int),
        **dict.fromkeys(("price_action", "price_observation"), float),
        **dict.fromkeys(("stop_on_deadlock", "whole_commitments", "regret"), bool),
        "length": [int],
        "budgets": list,
        "edges": ("fixed", "thirds", "terciles"),
        "task": str,
    },
}
_JOINT = {"recipe": str, "sft": [str]}
_WORDS = {dict: "mapping", str: "text", int: "number", float: "number", bool: "truth value", list: "list"}
#: Lists of changes to the stages of the recipe.
_CHANGES = ("sft", "grpo")
#: Puzzles name folders.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)


def names() -> list[str]:
    """List the presets in this package."""
    listed = (p.name for p in (resources.files("recommit") / _FOLDER).iterdir())
    return sorted(name.removesuffix(".yaml") for name in listed if name.endswith(".yaml"))


def load(preset: str, changes: Sequence[str] = ()) -> dict[str, Any]:
    """A preset by name or file, with changes ``KEY=VALUE`` for all puzzles, or ``PUZZLE.KEY=VALUE`` for one."""
    named = resources.files("recommit") / _FOLDER / f"{preset}.yaml"
    if not named.is_file() and not Path(preset).is_file():
        raise ValueError(f"preset: expected a file or one of {', '.join(names())}, got {preset}")
    try:
        text = named.read_text(encoding="utf-8") if named.is_file() else recipe_text.of_file(preset)
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


def check(whole: dict[str, Any]) -> None:
    """Refuse what a preset cannot say; every refusal names the entry and the value."""
    for name, values in whole["tasks"].items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"tasks: expected names of letters, digits, dots and dashes, got {brief(name)}")
        _expect(f"tasks.{name}", values, _FIELDS, needed=("data", "recipe", "variants", "seeds"))
        if not values["seeds"]:
            raise ValueError(f"tasks.{name}.seeds: expected numbers, got none")
        if len(set(values["seeds"])) < len(values["seeds"]):
            raise ValueError(f"tasks.{name}.seeds: expected each number once, got {brief(values['seeds'])}")
        generator, puzzle = values["data"].get("generator"), TASKS.get(str(values["data"].get("task")))
        if values.get("evaluate", {}).get("fresh") and puzzle is not None and generator in puzzle.level_sets:
            raise ValueError(
                f"tasks.{name}.evaluate.fresh: expected 0 beside the {generator} levels, of which there are no others, "
                f"got {values['evaluate']['fresh']}"
            )
        if len(values.get("sizes", ())) > 1 and values.get("evaluate", {}).get("fresh"):
            raise ValueError(
                f"tasks.{name}.evaluate.fresh: expected none beside several sizes, of which each has test instances of "
                f"its own, got {values['sizes']}"
            )
        for part, needed in (("training_budgets", ("budgets", "variants")), ("heads", ("world_model",))):
            if values.get(part):
                _expect(f"tasks.{name}.{part}", values[part], _FIELDS[part], needed)
        for budget in values.get("evaluate", {}).get("budgets", []):
            _expect(f"tasks.{name}.evaluate.budgets", str(budget), str)
        if len(values.get("sizes", ())) > 1 and values.get("heads"):
            raise ValueError(f"tasks.{name}.heads: expected none beside several sizes, got {values['sizes']}")
        if own := [key for key in ("sft", "warm_starts") if "joint" in whole and key in values]:
            raise ValueError(f"tasks.{name}.{own[0]}: expected none beside joint, got {brief(values[own[0]])}")
    if "joint" in whole:
        _expect("joint", whole["joint"], _JOINT, needed=("recipe",))


def _expect(name: str, value: Any, wanted: Any, needed: Sequence[str] = ()) -> None:
    """Refuse a value that is not as wanted: a type, a list of one, some words, or fields with these."""
    if isinstance(wanted, tuple):
        if value not in wanted:
            raise ValueError(f"{name}: expected {' or '.join(wanted)}, got {brief(value)}")
        return
    kind = wanted if isinstance(wanted, type) else type(wanted)
    fits = isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))
    if not fits or (kind is str and not (0 < len(value) <= 1000 and "\0" not in value and value[0] != "-")):
        raise ValueError(f"{name}: expected a {_WORDS[kind]}, got {brief(value)}")  # one with a dash would be a flag
    if isinstance(wanted, list):
        for each in value:
            _expect(name, each, wanted[0])
    if isinstance(wanted, dict):
        if wrong := [key for key in value if key not in wanted]:
            raise ValueError(f"{name}: expected keys of {', '.join(wanted)}, got {', '.join(wrong)[:200]}")
        if missing := [key for key in needed if key not in value]:
            raise ValueError(f"{name}: expected {missing[0]}, got {', '.join(value) or 'nothing'}")
        for key, each in value.items():
            _expect(f"{name}.{key}", each, wanted[key])


def _change(whole: dict[str, Any], change: str) -> None:
    tasks: dict[str, Any] = whole["tasks"]
    path, equals, text = change.partition("=")
    first, *rest = path.strip().split(".")
    meant = [tasks[first]] if first in tasks else list(tasks.values())
    if first == "sft" and "joint" in whole:
        meant = [whole["joint"]]
    first, *rest = rest if first in tasks and rest else [first, *rest]
    parts = first in _CHANGES or isinstance(_FIELDS.get(first), dict) or _FIELDS.get(first) is dict
    if not equals or first not in _FIELDS or (rest and not parts):
        raise ValueError(
            f"set: expected NAME=VALUE with a name of {', '.join(_FIELDS)} (of all puzzles, or after "
            f"{'. or '.join(tasks)}. of one), got {brief(change)}"
        )
    try:
        value = recipe_text.read(text)
    except ValueError as error:
        raise ValueError(f"set: expected a value in YAML, got {brief(change)}: {error}") from None
    for values in meant:
        if rest and first in _CHANGES:
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
    #: Folders of data, and what they are made from.
    data: dict[Path, DataSpec]
    folder: Path

    def run(self, name: str, changes: Sequence[str] = ()) -> Run:
        """The warm start in one of its folders."""
        from recommit.train import config
        from recommit.train.family.runs import Run

        return Run("sft", config.load(self.recipe, [*self.changes, *changes]), tuple(self.data), self.folder / name)


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
    def data(self) -> dict[Path, DataSpec]:
        """The folders of its data, one per size, and what they are made from."""
        from recommit.data.spec import DataSpec

        alike, sizes = self.values["data"], self.values.get("sizes") or [None]
        specs = [DataSpec.from_dict(alike if size is None else {**alike, "size": size}) for size in sizes]
        return {self.folder / f"data{self.suffix(spec)}": spec for spec in specs}

    def suffix(self, spec: DataSpec) -> str:
        """What the folders of a size have in their names, where there are several."""
        return f"-{spec.size[0]}x{spec.size[1]}" if len(self.values.get("sizes", ())) > 1 else ""

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

    def folders(self) -> list[Path]:
        """All that are made of it besides those of runs."""
        shared = [self.folder, self.imitation.folder, self.launch, self.family, *self.data]
        shared += [step.out for step in self.head_steps()]
        evaluations = [self.evaluation(seed, spec) for spec in self.data.values() for seed in self.seeds]
        return [*shared, *evaluations]

    def evaluation(self, seed: int, spec: DataSpec) -> Path:
        """Where the figures of a seed and a size lie; those of a fresh split stand beside what was measured without
        it."""
        kind = "fresh" if self.values.get("evaluate", {}).get("fresh") else "eval"
        return self.folder / f"{kind}{self.suffix(spec)}-s{seed}"

    def report(self, spec: DataSpec) -> Path:
        """The page about a size."""
        return self.folder / f"report{self.suffix(spec)}.html"

    def head_steps(self, *seeds: int) -> list[HeadStep]:
        """What trains heads, seed by seed; of all seeds for none."""
        wishes, every = self.values.get("heads", {}), list["HeadStep"]()
        task = next(iter(self.data.values())).task if self.joint else ""
        starts = self.starts() if wishes.get("plans") == HEAD_PLANS[0] else {}
        for seed in seeds or self.seeds:
            run = starts[seed] if starts else self.family / f"adaptive-s{seed}"
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
        return WarmStartSource(self.values["recipe"], changes, self.data, self.folder)

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
    def _instances(self) -> tuple[Path, ...]:
        """The data whose recipes make the instances of reinforcement, where the warm start does not say it."""
        return tuple(self.data) if self.joint else ()

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
    data = {folder: spec for task in tasks for folder, spec in task.data.items()}
    return WarmStartSource(values["recipe"], (*values.get("sft", []), *_on(device)), data, out / "joint")


def every_run(entries: Sequence[PresetEntry]) -> list[tuple[PresetEntry, Run]]:
    """All runs of all puzzles; a shared one stands once, with the first puzzle."""
    runs: dict[Path, tuple[PresetEntry, Run]] = {}
    for entry in entries:
        for run in entry.runs:
            runs.setdefault(run.folder, (entry, run))
    return list(runs.values())
