"""What a training run is made of: frozen dataclasses that check themselves, read from recipes, saved with the run.

A recipe is a YAML file with a section per stage; ``load`` makes a configuration of one, with changes as ``--set`` has
them.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import math
import re
import types
import typing
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.policy.backbones.backbone import GIVEN, LISTED
from recommit.policy.config import MAX_REMAINING, MOST_ACTIONS, PLAN_LENGTH, PolicyConfig
from recommit.storage import recipe_text
from recommit.storage.recipe_text import brief, cut

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from typing_extensions import Self

    from recommit.puzzles.puzzle import Puzzle


_FROM_NOTHING = re.compile(r"(random|conv):[a-z0-9-]+")


def is_named(backbone: str) -> bool:
    """True if a recipe may name the backbone: one that the package lists, or random weights."""
    return backbone in LISTED or _FROM_NOTHING.fullmatch(backbone) is not None


@dataclass(frozen=True)
class ModelConfig:
    """What is trained: a backbone, and the heads on it."""

    #: One of ``policy.backbones.backbone.LISTED``; for weights from nothing ``random:NAME``
    #: (``policy.backbones.random_init`` has the names), ``conv:small`` or ``conv:base``; or ``given``, which ``recommit
    #: train sft --backbone`` says: no file names another place.
    backbone: str = "random:small"
    #: Changes to the preset, by field of ``random_init.Shape``, or of ``conv.ConvShape``.
    shape: dict[str, int | float | tuple[int, ...]] = field(default_factory=dict)
    #: Of the backbone. What is trained is float32: AdamW's steps are smaller than what bfloat16 can tell apart.
    dtype: Literal["float32", "bfloat16"] = "float32"
    policy: PolicyConfig = field(default_factory=PolicyConfig)

    def __post_init__(self) -> None:
        if self.backbone != GIVEN and not is_named(self.backbone):
            raise ValueError(
                f"model.backbone: expected random:NAME, conv:NAME, {listed((*LISTED, GIVEN), 'or')}, got "
                f"{brief(self.backbone)}; recommit train sft --backbone PLACE takes others"
            )
        check_choices("model", self)
        if self.dtype != "float32" and self.policy.lora is None:
            raise ValueError(
                "model.dtype: expected float32 for a backbone that is trained whole, since bfloat16 would round most "
                f"updates away (policy.lora trains in float32 beside a frozen one), got {self.dtype}"
            )


@dataclass(frozen=True)
class OptimConfig:
    """AdamW with a learning rate per group of parameters, warm-up and a schedule."""

    steps: int = 1500
    #: States per optimizer step, all ranks together.
    batch: int = 128
    #: States per backward pass on one rank; 0: the rank's whole share at once.
    micro_batch: int = 0
    lr: float = 1e-3
    #: Of the vision encoder, where it is trained.
    vision_lr: float = 1e-4
    #: Of the action decoder.
    decoder_lr: float = 1e-3
    #: Of the depth head; 0: ``decoder_lr``.
    depth_head_lr: float = 0.0
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    warmup: int = 100
    weight_decay: float = 0.01
    #: Largest norm of a step's gradient; 0: not clipped.
    clip: float = 1.0

    def __post_init__(self) -> None:
        least = {"steps": 1, "batch": 1, **dict.fromkeys(("micro_batch", "warmup", "weight_decay", "clip"), 0)}
        check_least("optim", self, **least, lr=0, vision_lr=0, decoder_lr=0, depth_head_lr=0)
        check_choices("optim", self)


@dataclass(frozen=True)
class TargetConfig:
    """What is imitated in a state."""

    #: ``soft``: the probability of all optimal actions together is raised; ``hard``: that of the one on the path.
    kind: Literal["soft", "hard"] = "soft"
    #: ``resample``: a new random optimal path at every visit of a state; ``dataset``: the path that is in the data.
    paths: Literal["resample", "dataset"] = "resample"
    #: Depths whose samples are imitated; in a recipe that says none those of ``model.policy``, or of the policy that
    #: ``recommit train sft --init`` goes on from. One alone is the paper's single-commitment ablation.
    depths: tuple[int, ...] = (1, 2, 4, 8)
    #: ``action``: every action of every sample counts alike; ``sample``: every sample does.
    weighting: Literal["action", "sample"] = "action"
    #: Mirror and turn states at random, where the puzzle allows it.
    augment: bool = False
    #: Sokoban, with a backbone that reads cells (``conv:``): plans of the player on so many other cells of each state
    #: are imitated too, from the same pass. A level's table has their labels for next to nothing.
    dense: int = 0
    #: DAgger: the share of a step's states that the policy itself has come to, in episodes that begin at states of the
    #: data, sampled, of at most ``budget`` commitments; 0: states of the data alone.
    dagger: float = 0.0
    #: A policy that is told the remaining decisions (``show_budget``) is told 1 to so many, drawn evenly: no path says
    #: how many.
    budget: int = 15

    def __post_init__(self) -> None:
        check_least("targets", self, budget=1, dense=0, dagger=0)
        if self.dagger > 1:
            raise ValueError(f"targets.dagger: expected a share, 0..1, got {self.dagger}")
        if self.budget > MAX_REMAINING:
            raise ValueError(f"targets.budget: expected at most {MAX_REMAINING}, got {self.budget}")
        check_choices("targets", self)
        if not self.depths or not all(1 <= depth <= MOST_ACTIONS for depth in self.depths):
            raise ValueError(f"targets.depths: expected numbers 1..{MOST_ACTIONS}, got {self.depths}")
        if self.augment and self.paths == "dataset":
            raise ValueError(
                "targets.augment: expected paths: resample (a mirrored state has another path), got dataset"
            )
        if self.dagger and self.paths == "dataset":
            raise ValueError(
                "targets.dagger: expected paths: resample (no data has a path of such states), got dataset"
            )

    def check_plans(self, policy: PolicyConfig) -> None:
        """Refuse what does not go with the plans of a policy: beyond eight actions nothing may be left out unseen."""
        length = policy.plan_length
        if max(self.depths) > length:
            raise ValueError(f"targets.depths: expected numbers 1..{length}, as long as plans are, got {self.depths}")
        if length > PLAN_LENGTH and self.depths[1:] and length not in self.depths:
            raise ValueError(f"targets.depths: expected {length} among them, the deepest of H, got {self.depths}")
        if length > PLAN_LENGTH and self.paths == "dataset":
            raise ValueError(
                f"targets.paths: expected resample for plans of {length} actions, since data has {PLAN_LENGTH} of each "
                "path, got dataset (--set targets.paths=resample)"
            )


@dataclass(frozen=True)
class ValidationConfig:
    """Validation on instances that no training set contains."""

    #: 0: no validation.
    instances: int = 256
    every: int = 500
    #: Decisions per episode; 0: the loose budget of the puzzle.
    budget: int = 15
    #: Shortest and longest length of the instances; empty: as in the data.
    length: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_least("validation", self, instances=0, every=1, budget=0)
        check_length("validation", self.length)

    def of(self, task: Puzzle) -> Self:
        """With the budget of a puzzle where none is said."""
        return dataclasses.replace(self, budget=self.budget or task.budgets(task.shape)["loose"])


def check_length(owner: str, length: tuple[int, ...]) -> None:
    """Refuse what is no window of lengths."""
    if len(length) not in (0, 2):
        raise ValueError(f"{owner}.length: expected two numbers or none, got {length}")


@dataclass(frozen=True)
class RunConfig:
    """Seed, checkpoints, logs and the machine."""

    seed: int = 0
    #: Steps between checkpoints, and how many of the newest are kept (the best one is kept besides).
    save_every: int = 500
    keep: int = 2
    log_every: int = 10
    #: Threads of torch; 0: as many as it likes. Bitwise resume is promised for equal numbers.
    threads: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    tensorboard: bool = True
    #: Steps that torch's profiler watches, after the first three of a start: ``profile/`` has the trace; 0: none.
    profile: int = 0

    def __post_init__(self) -> None:
        check_least("run", self, seed=0, save_every=1, keep=1, log_every=1, threads=0, profile=0)
        check_choices("run", self)


@dataclass(frozen=True)
class EngineConfig:
    """What computes gradients and steps the optimizer."""

    #: ``plain``: one process of PyTorch. ``deepspeed``: as many ranks as the launcher starts.
    kind: Literal["plain", "deepspeed"] = "plain"
    #: ZeRO stage: 0 data parallelism; 1 the optimizer, 2 gradients too, 3 weights too are split over ranks.
    stage: int = 2
    #: Keep the optimizer (stage 3: the weights too) in the host's memory.
    offload: bool = False
    #: Recompute the activations of every layer in the backward pass instead of keeping them.
    checkpointing: bool = False
    #: Numbers of a gradient that DeepSpeed reduces together; its own default is ten times what an adapter has.
    bucket: int = 50_000_000

    def __post_init__(self) -> None:
        check_choices("engine", self)
        check_least("engine", self, bucket=1)
        if self.stage not in (0, 1, 2, 3):
            raise ValueError(f"engine.stage: expected 0, 1, 2 or 3, got {self.stage}")
        if self.kind == "plain" and self.offload:
            raise ValueError("engine.kind: expected deepspeed with engine.offload, got plain")


@dataclass(frozen=True)
class SftConfig:
    """A supervised warm start."""

    model: ModelConfig = field(default_factory=ModelConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    targets: TargetConfig = field(default_factory=TargetConfig)
    #: Rows of each data set in turn, in the order of the data sets: [1, 3] takes three of the second for one of the
    #: first. Empty: every puzzle alike, and every variant of a puzzle alike.
    mix: tuple[int, ...] = ()
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    run: RunConfig = field(default_factory=RunConfig)

    @staticmethod
    def switched(values: dict[str, Any], said: Collection[str], before: dict[str, Any]) -> None:
        """Leave out of a recipe's values the sizes of its own backbone, where a caller has ``said`` another one than
        it named ``before``. How far z is read is the puzzle's, and stays with another convolution."""
        if "model.backbone" not in said or any(name.startswith("model.shape") for name in said):
            return
        model = values["model"]
        own = mapping(before.get("model") or {}, "model")
        names = [str(each.get("backbone", ModelConfig.backbone)) for each in (own, model)]
        if names[0] != names[1]:
            shape, conv = model.pop("shape", None), all(name.startswith("conv:") for name in names)
            if conv and isinstance(shape, dict) and "reach" in shape:
                model["shape"] = {"reach": shape["reach"]}

    @classmethod
    def completed(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The values of a recipe, in which the depths of a policy are those that are imitated."""
        model, own = values.get("model"), values.get("targets", {})
        policy = model.get("policy") if isinstance(model, dict) else None
        if not isinstance(policy, dict) or "depths" not in policy or not isinstance(own, dict):
            return values  # others than mappings are refused when they are read
        return {**values, "targets": {"depths": policy["depths"], **own}}


def load(
    recipe: str | Path,
    changes: Sequence[str] = (),
    cls: type[Any] = SftConfig,
    stage: str = "sft",
    *,
    values: dict[str, Any] | None = None,
) -> Any:
    """The configuration of a recipe's ``stage``, by name or file, with ``values`` by path and, over them,
    ``field.field=value`` changes (values as in YAML)."""
    whole = section(recipe, stage)
    if not whole:
        raise ValueError(f"recipe: expected the stage {stage}, got none in {recipe}")
    before = copy.deepcopy(whole)
    for path, value in (values or {}).items():
        _override(whole, path, copy.deepcopy(value))
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals:
            raise ValueError(f"set: expected NAME=VALUE, got {change!r}")
        try:
            value = recipe_text.read(text)
        except ValueError as error:
            raise ValueError(f"set: expected a value in YAML, got {brief(change)}: {error}") from None
        _override(whole, path.strip(), value)
    if hasattr(cls, "switched"):
        cls.switched(whole, {*(values or {}), *names_of(changes)}, before)
    try:
        return parse(cls, whole)
    except ValueError as error:
        raise ValueError(cut(str(error))) from None


def _override(values: dict[str, Any], path: str, value: Any) -> None:
    *outer, last = path.split(".")
    for key in outer:
        values = mapping(values.setdefault(key, {}), f"set: {path}")
    values[last] = value


def recipes() -> list[str]:
    """Names of the recipes in this package."""
    return sorted(p.name.removesuffix(".yaml") for p in folder().iterdir() if p.name.endswith(".yaml"))


def folder() -> Any:
    """Where the recipes of this package lie."""
    return files("recommit") / "recipes"


def section(recipe: str | Path, stage: str) -> dict[str, Any]:
    """What a recipe says of a stage; empty if it says nothing."""
    whole = _whole(recipe)
    if not isinstance(whole, dict) or not isinstance(whole.get(stage) or {}, dict):
        raise ValueError(f"recipe: expected a mapping with the stage {stage}, got {type(whole).__name__} in {recipe}")  # noqa: TRY004
    return whole.get(stage) or {}


def names_of(changes: Sequence[str]) -> list[str]:
    """What ``field.field=value`` changes."""
    return [change.partition("=")[0].strip() for change in changes]


def tasks(recipe: str | Path) -> tuple[str, ...]:
    """The puzzles that a recipe was made for; empty if it does not say."""
    whole = _whole(recipe)
    names = whole.get("tasks") or [] if isinstance(whole, dict) else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"recipe: expected names of puzzles as tasks, got {brief(names)} in {recipe}")
    return tuple(names)


def _whole(recipe: str | Path) -> Any:
    named = folder() / f"{recipe}.yaml"
    if not named.is_file() and not Path(recipe).is_file():
        raise ValueError(f"recipe: expected a file or one of {', '.join(recipes())}, got {recipe}")
    try:
        text = named.read_text(encoding="utf-8") if named.is_file() else recipe_text.of_file(recipe)
        return recipe_text.read(text) or {}
    except ValueError as error:
        raise ValueError(f"recipe: {error} in {recipe}") from None


def plain(config: Any) -> dict[str, Any]:
    """JSON values of a configuration."""
    result: dict[str, Any] = dataclasses.asdict(
        config, dict_factory=lambda pairs: {name: value for name, value in pairs if not callable(value)}
    )
    return result


def parse(cls: type[Any], values: Any, name: str = "") -> Any:
    """A configuration from plain values: unknown names refused, numbers and lists converted.

    A class may have ``completed``, which makes of the values of a recipe those of its fields. Nested configurations may
    be there already.
    """
    values = mapping(values, name or "recipe")
    if hasattr(cls, "completed"):
        values = cls.completed(values)
    hints, fields = _hints(cls), dataclasses.fields(cls)  # type: ignore[arg-type]  # a class can be hashed
    names = [field.name for field in fields]
    if unknown := [str(key) for key in values if key not in names]:
        raise ValueError(f"{name or 'recipe'}: expected fields of {', '.join(names)}, got {', '.join(unknown)[:200]}")
    if absent := [field.name for field in fields if field.name not in values and _is_required(field)]:
        raise ValueError(f"{name or 'recipe'}: expected a value of {', '.join(absent)}, got none")
    return cls(**{key: _value(hints[key], value, f"{name}.{key}".lstrip(".")) for key, value in values.items()})


def parse_list(cls: type[Any], values: Any, name: str) -> tuple[Any, ...]:
    """Configurations of one class from a list of mappings."""
    return _list(tuple.__class_getitem__((cls, ...)), values, name)


def check_least(owner: str, config: Any, **least: float) -> None:
    """Refuse fields below their ``least`` value."""
    for name, bound in least.items():
        if getattr(config, name) < bound:
            raise ValueError(f"{owner}.{name}: expected at least {bound:g}, got {getattr(config, name)}")


def check_choices(owner: str, config: Any) -> None:
    """Refuse values that a ``Literal`` field does not name."""
    for name, hint in _hints(type(config)).items():  # type: ignore[arg-type]
        choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
        if choices and getattr(config, name) not in choices:
            raise ValueError(f"{owner}.{name}: expected {listed(choices, 'or')}, got {getattr(config, name)}")


def listed(words: Sequence[Any], last: str) -> str:
    """Words in a sentence: a, b or c."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end


def mapping(values: Any, name: str) -> dict[str, Any]:
    """Refuse what is none."""
    if not isinstance(values, dict):
        raise ValueError(f"{name}: expected a mapping, got {type(values).__name__}")  # noqa: TRY004
    return values


@functools.cache  # since every hint is compiled
def _hints(cls: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _value(hint: Any, value: Any, name: str) -> Any:
    """One value as its hint wants it; of several hints the one that fits."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if type(value) in (types.NoneType, int, str) and type(value) in options:
        return value
    hint, *others = [option for option in options if option is not types.NoneType]
    if dataclasses.is_dataclass(hint):
        return value if type(value) is hint else parse(typing.cast("type[Any]", hint), value, name)
    for option in (hint, *others):
        if typing.get_origin(option) is tuple and (isinstance(value, list | tuple) or not others):
            return _list(option, value, name)
    if typing.get_origin(hint) is dict:
        each_hint = typing.get_args(hint)[1]
        return {key: _value(each_hint, each, f"{name}.{key}") for key, each in mapping(value, name).items()}
    return _scalar(hint, value, name)


def _list(hint: Any, value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name}: expected a list, got {brief(value)}")  # noqa: TRY004
    item, *rest = typing.get_args(hint)
    if rest != [...] and len(value) != 1 + len(rest):
        raise ValueError(f"{name}: expected {1 + len(rest)} values, got {brief(value)}")
    return tuple(
        _value(item, each, f"{name}[{i}]" if dataclasses.is_dataclass(item) else name) for i, each in enumerate(value)
    )


def _scalar(hint: Any, value: Any, name: str) -> Any:
    if hint is float and isinstance(value, str | int) and not isinstance(value, bool):
        with contextlib.suppress(ValueError):
            value = float(value)  # YAML reads 1e-3 as text
    if hint is float and isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number, got {value}")
    if hint in (int, float, bool, str) and (not isinstance(value, hint) or (hint is int and isinstance(value, bool))):
        raise ValueError(f"{name}: expected {hint.__name__}, got {brief(value)}")
    return value
