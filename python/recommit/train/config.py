"""The configuration of a training run: frozen dataclasses that check themselves, read from recipes, saved with the run.

A recipe is a YAML file with a section per stage; ``load`` turns one into a configuration, with the changes of
``--set``.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.policy.backbones.backbone import GIVEN, LISTED
from recommit.policy.config import MAX_REMAINING, MOST_ACTIONS, PLAN_LENGTH, PolicyConfig
from recommit.storage import recipe_text
from recommit.storage.recipe_text import brief, cut
from recommit.storage.schema import check, listed, mapping, parse, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from recommit.puzzles.puzzle import Puzzle


_FROM_NOTHING = re.compile(r"(random|conv):[a-z0-9-]+")


def is_named(backbone: str) -> bool:
    """True if a recipe may name the backbone: a listed one, or random weights."""
    return backbone in LISTED or _FROM_NOTHING.fullmatch(backbone) is not None


@dataclass(frozen=True)
class ModelConfig:
    """The backbone, and the heads on it."""

    #: One of ``policy.backbones.backbone.LISTED``; for weights from nothing ``random:NAME``
    #: (``policy.backbones.random_init`` has the names), ``conv:small`` or ``conv:base``; or ``given``, set by
    #: ``recommit train sft --backbone``: a recipe may name no other place.
    backbone: str = "random:small"
    #: Overrides of the preset, by field of ``random_init.Shape`` or ``conv.ConvShape``.
    shape: dict[str, int | float | tuple[int, ...]] = field(default_factory=dict)
    #: Dtype of the backbone. Trained weights are float32: AdamW's steps are below bfloat16's resolution.
    dtype: Literal["float32", "bfloat16"] = "float32"
    policy: PolicyConfig = field(default_factory=PolicyConfig)

    def __post_init__(self) -> None:
        if self.backbone != GIVEN and not is_named(self.backbone):
            raise ValueError(
                f"model.backbone: expected random:NAME, conv:NAME, {listed((*LISTED, GIVEN), 'or')}, got "
                f"{brief(self.backbone)}; recommit train sft --backbone PLACE takes others"
            )
        check("model", self)
        if self.dtype != "float32" and self.policy.lora is None:
            raise ValueError(
                "model.dtype: expected float32 for a backbone that is trained whole, since bfloat16 would round most "
                f"updates away (policy.lora trains in float32 beside a frozen one), got {self.dtype}"
            )


@dataclass(frozen=True)
class OptimConfig:
    """AdamW with a learning rate per parameter group, warm-up and a schedule."""

    steps: int = 1500
    #: States per optimizer step, all ranks together.
    batch: int = 128
    #: States per backward pass on one rank; 0: the rank's whole share at once.
    micro_batch: int = 0
    lr: float = 1e-3
    #: Learning rate of the action decoder.
    decoder_lr: float = 1e-3
    #: Learning rate of the depth head; 0: ``decoder_lr``.
    depth_head_lr: float = 0.0
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    warmup: int = 100
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        rates = {"lr": 0, "decoder_lr": 0, "depth_head_lr": 0, "weight_decay": 0}
        check("optim", self, steps=1, batch=1, micro_batch=0, warmup=0, **rates)


@dataclass(frozen=True)
class TargetConfig:
    """Imitation targets of a state."""

    #: ``soft``: maximise the total probability of all optimal actions; ``hard``: that of the path's action.
    kind: Literal["soft", "hard"] = "soft"
    #: ``resample``: a new random optimal path at every visit of a state; ``dataset``: the stored path.
    paths: Literal["resample", "dataset"] = "resample"
    #: Depths to imitate; empty: those of the policy. A single one is the paper's single-commitment ablation.
    depths: tuple[int, ...] = ()
    #: Equal weight for every ``action`` of every sample, or for every ``sample``.
    weighting: Literal["action", "sample"] = "action"
    #: Apply a random symmetry to each state, where the puzzle allows it.
    augment: bool = False
    #: Sokoban with a backbone that reads cells (``conv:``): also imitate plans with the player on this many other cells
    #: of each state, from the same pass. A level's table gives their labels almost for free.
    dense: int = 0
    #: DAgger: share of a step's states that come from the policy's own sampled episodes, which start at states of the
    #: data and last at most ``budget`` commitments; 0: none.
    dagger: float = 0.0
    #: With ``show_budget``, the number of remaining decisions is drawn uniformly from 1..``budget``: expert paths have
    #: none.
    budget: int = 15

    def __post_init__(self) -> None:
        check("targets", self, budget=1, dense=0, dagger=0)
        data, within = self.paths == "dataset", all(1 <= depth <= MOST_ACTIONS for depth in self.depths)
        refuse(
            (self.dagger > 1, "targets.dagger", "a share, 0..1", self.dagger),
            (self.budget > MAX_REMAINING, "targets.budget", f"at most {MAX_REMAINING}", self.budget),
            (not within, "targets.depths", f"numbers 1..{MOST_ACTIONS}", self.depths),
            (
                data and self.augment,
                "targets.augment",
                "paths: resample (a mirrored state has another path)",
                "dataset",
            ),
            (data and self.dagger, "targets.dagger", "paths: resample (no data has a path of such states)", "dataset"),
        )

    def of(self, policy: PolicyConfig) -> Self:
        """Fill in the policy's depths where none is named. Refuse targets that do not fit its plans: actions beyond the
        eighth must all be trained."""
        length, depths, told = policy.plan_length, self.depths or policy.depths, policy.decoder.depth_conditioning
        long, deepest = length > PLAN_LENGTH, f"{length} among them, the deepest of H"
        drawn = f"resample for plans of {length} actions, since data has {PLAN_LENGTH} of each path"
        unseen, data = depths[1:] and length not in depths, "dataset (--set targets.paths=resample)"
        refuse(
            (max(depths) > length, "targets.depths", f"numbers 1..{length}, as long as plans are", depths),
            (long and unseen, "targets.depths", deepest, depths),
            (long and self.paths == "dataset", "targets.paths", drawn, data),
            (self.dense and told != "none", "targets.dense", "0 for plans that are told their depth", self.dense),
        )
        return dataclasses.replace(self, depths=depths)


@dataclass(frozen=True)
class ValidationConfig:
    """Validation on instances that no training set contains."""

    #: 0: no validation.
    instances: int = 256
    every: int = 500
    #: Decisions per episode; 0: the loose budget of the puzzle.
    budget: int = 15
    #: Shortest and longest length of the instances; none: as in the data.
    length: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check("validation", self, instances=0, every=1, budget=0)

    def of(self, task: Puzzle) -> Self:
        """Fill in the puzzle's loose budget where it is 0."""
        return dataclasses.replace(self, budget=self.budget or task.budgets(task.shape)["loose"])


@dataclass(frozen=True)
class RunConfig:
    """Seed, checkpoints, logs and the machine."""

    seed: int = 0
    #: Steps between checkpoints, and number of newest ones to keep (in addition to the best).
    save_every: int = 500
    keep: int = 2
    log_every: int = 10
    #: Torch threads; 0: one for a small network on a CPU, else torch's default. Bitwise resume needs the same number.
    threads: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    tensorboard: bool = True

    def __post_init__(self) -> None:
        check("run", self, seed=0, save_every=1, keep=1, log_every=1, threads=0)


@dataclass(frozen=True)
class EngineConfig:
    """The engine of gradients and optimizer steps."""

    #: ``plain``: PyTorch, replicated on every rank that a launcher starts. ``deepspeed``: sharded by ``stage``.
    kind: Literal["plain", "deepspeed"] = "plain"
    #: ZeRO stage: 0 data parallelism; 1 shards the optimizer, 2 also gradients, 3 also weights.
    stage: Literal[0, 1, 2, 3] = 2
    #: Keep the optimizer (stage 3: the weights too) in the host's memory.
    offload: bool = False
    #: Recompute the activations of every layer in the backward pass instead of keeping them.
    checkpointing: bool = False
    #: torch.compile backend for passes of the frozen backbone under an adapter: ``cudagraphs`` launches a GPU's kernels
    #: as one graph, ``inductor`` also fuses them, ``eager`` and ``aot_eager`` are for tests. A shape is compiled on its
    #: first use.
    compile: Literal["none", "eager", "aot_eager", "cudagraphs", "inductor"] = "none"

    def __post_init__(self) -> None:
        check("engine", self)
        moving = self.compile != "none" and (self.checkpointing or (self.kind, self.stage) == ("deepspeed", 3))
        refuse(
            (self.kind == "plain" and self.offload, "engine.kind", "deepspeed with engine.offload", "plain"),
            (moving, "engine.compile", "none with engine.stage=3 or engine.checkpointing=true", self.compile),
        )


@dataclass(frozen=True)
class SftConfig:
    """A supervised warm start."""

    model: ModelConfig = field(default_factory=ModelConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    targets: TargetConfig = field(default_factory=TargetConfig)
    #: Ratio of rows per data set, in their order: [1, 3] takes three of the second for one of the first. Empty: equal
    #: shares for puzzles, and for the variants of a puzzle.
    mix: tuple[int, ...] = ()
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    run: RunConfig = field(default_factory=RunConfig)


def load(
    recipe: str | Path,
    changes: Sequence[str] = (),
    cls: type[Any] = SftConfig,
    stage: str = "sft",
    *,
    values: dict[str, Any] | None = None,
) -> Any:
    """The configuration of a ``stage`` of a recipe (name or file), overridden first by ``values`` (by path), then by
    ``field.field=value`` changes (values in YAML)."""
    whole = section(recipe, stage)
    if not whole:
        raise ValueError(f"recipe: expected the stage {stage}, got none in {recipe}")
    for path, value in (values or {}).items():
        _override(whole, path, copy.deepcopy(value))
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals:
            raise ValueError(f"set: expected NAME=VALUE, got {change!r}")
        try:
            value = recipe_text.read(text)
        except ValueError as error:
            quoted = f"; a list in quotes: --set '{path}=[1, 2]'" if "[" in text else f": {error}"
            raise ValueError(f"set: expected NAME=VALUE in YAML, got {brief(change)}{quoted}") from None
        _override(whole, path.strip(), value)
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
    """The folder of the package's recipes."""
    return files("recommit") / "recipes"


def section(recipe: str | Path, *names: str) -> dict[str, Any]:
    """A stage of a recipe, or a nested section of one; empty if absent."""
    whole = _whole(recipe)
    if not isinstance(whole, dict):
        got = type(whole).__name__
        raise ValueError(f"recipe: expected a mapping with the stage {names[0]}, got {got} in {recipe}")  # noqa: TRY004
    for number, name in enumerate(names, 1):
        whole = mapping(whole.get(name) or {}, ".".join(names[:number]))
    return whole


def tasks(recipe: str | Path) -> tuple[str, ...]:
    """The puzzles that a recipe declares as its ``tasks``; empty if none."""
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
    return dataclasses.asdict(config)
