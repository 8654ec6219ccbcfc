"""What a training run is made of: frozen dataclasses that check themselves, read from recipes, saved with the run."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.policy.config import MAX_ACTIONS, MAX_REMAINING, DecoderConfig, HeadConfig, LoraConfig, PolicyConfig
from recommit.storage import recipe_text
from recommit.storage.recipe_text import brief, cut
from recommit.train.recipe import check_choices, check_least, parse, plain, recipes, section, tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from recommit.puzzles.puzzle import Puzzle


@dataclass(frozen=True)
class ModelConfig:
    """What is trained: a backbone, and the heads on it."""

    #: A folder or hub repository, or ``random:NAME`` (of ``policy.backbones.make.BACKBONES``) for weights from nothing.
    backbone: str = "random:small"
    #: Changes to the preset, by field of ``policy.make.Shape``.
    shape: dict[str, Any] = field(default_factory=dict)
    dtype: Literal["float32", "bfloat16"] = "float32"
    policy: PolicyConfig = field(default_factory=PolicyConfig)

    def __post_init__(self) -> None:
        check_choices("model", self)


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
    head_lr: float = 1e-3
    #: Of the depth head; 0: ``head_lr``.
    depth_lr: float = 0.0
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    warmup: int = 100
    weight_decay: float = 0.01
    #: Largest norm of a step's gradient; 0: not clipped.
    clip: float = 1.0

    def __post_init__(self) -> None:
        least = {"steps": 1, "batch": 1, **dict.fromkeys(("micro_batch", "warmup", "weight_decay", "clip"), 0)}
        check_least("optim", self, **least, lr=0, vision_lr=0, head_lr=0, depth_lr=0)
        check_choices("optim", self)


@dataclass(frozen=True)
class TargetConfig:
    """What is imitated in a state."""

    #: ``soft``: the probability of all optimal actions together is raised; ``hard``: that of the one on the path.
    kind: Literal["soft", "hard"] = "soft"
    #: ``resample``: a new random optimal path at every visit of a state; ``dataset``: the path that is in the data.
    paths: Literal["resample", "dataset"] = "resample"
    #: Depths whose samples are imitated; one alone is the paper's single-commitment ablation.
    depths: tuple[int, ...] = (1, 2, 4, 8)
    #: ``action``: every action of every sample counts alike; ``sample``: every sample does.
    weighting: Literal["action", "sample"] = "action"
    #: Mirror and turn states at random, where the puzzle allows it.
    augment: bool = False
    #: A policy that is told the remaining decisions (``show_budget``) is told 1 to so many, drawn evenly: no path says
    #: how many.
    budget: int = 15

    def __post_init__(self) -> None:
        check_least("targets", self, budget=1)
        if self.budget > MAX_REMAINING:
            raise ValueError(f"targets.budget: expected at most {MAX_REMAINING}, got {self.budget}")
        check_choices("targets", self)
        if not self.depths or not all(1 <= depth <= MAX_ACTIONS for depth in self.depths):
            raise ValueError(f"targets.depths: expected numbers 1..{MAX_ACTIONS}, got {self.depths}")
        if self.augment and self.paths == "dataset":
            raise ValueError(
                "targets.augment: expected paths: resample (a mirrored state has another path), got dataset"
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
        return dataclasses.replace(self, budget=self.budget or task.usual.budgets["loose"])


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
    #: What multiplies float32 matrices on a CPU: ``onednn`` is twice as fast on AMD processors; other last bits.
    matmul_backend: Literal["default", "onednn"] = "default"
    device: str = "auto"
    tensorboard: bool = True
    #: Project name for Weights & Biases; empty: not used.
    wandb: str = ""

    def __post_init__(self) -> None:
        check_least("run", self, seed=0, save_every=1, keep=1, log_every=1, threads=0)
        check_choices("run", self)


@dataclass(frozen=True)
class EngineConfig:
    """What computes gradients and steps the optimizer."""

    #: ``plain``: one process of PyTorch. ``deepspeed``: as many ranks as the launcher starts.
    kind: Literal["plain", "deepspeed"] = "plain"
    #: ZeRO stage: 0 data parallelism; 1 the optimizer, 2 gradients too, 3 weights too are split over ranks.
    stage: int = 2
    #: Compute in bfloat16, with float32 weights behind.
    bf16: bool = False
    #: Keep the optimizer (stage 3: the weights too) in the host's memory.
    offload: bool = False
    #: Recompute the activations of every layer in the backward pass instead of keeping them.
    checkpointing: bool = False
    #: What else DeepSpeed is told, in its own words: bucket sizes and the like. See ``--deepspeed``.
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choices("engine", self)
        if self.stage not in (0, 1, 2, 3):
            raise ValueError(f"engine.stage: expected 0, 1, 2 or 3, got {self.stage}")
        if self.kind == "plain" and (self.bf16 or self.offload or self.settings):
            raise ValueError(
                "engine.kind: expected deepspeed with engine.bf16, engine.offload or engine.settings, got plain"
            )


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


def load(recipe: str | Path, changes: Sequence[str] = (), cls: type[Any] = SftConfig, stage: str = "sft") -> Any:
    """The configuration of a recipe's ``stage``, by name or file, with ``field.field=value`` changes (values as in
    YAML).
    """
    values = section(recipe, stage)
    if not values:
        raise ValueError(f"recipe: expected the stage {stage}, got none in {recipe}")
    for change in changes:
        path, equals, value = change.partition("=")
        if not equals:
            raise ValueError(f"set: expected NAME=VALUE, got {change!r}")
        *outer, last = path.strip().split(".")
        inner = values
        for key in outer:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise ValueError(f"set: expected the name of one value, got {path!r}")  # noqa: TRY004
        try:
            inner[last] = recipe_text.read(value)
        except ValueError as error:
            raise ValueError(f"set: expected a value in YAML, got {brief(change)}: {error}") from None
    try:
        return parse(cls, values)
    except ValueError as error:
        raise ValueError(cut(str(error))) from None


def changed(recipe: str | Path, values: dict[str, Any], changes: Sequence[str], cls: type[Any], stage: str) -> Any:
    """Load a stage of a recipe with ``values`` by path and, over them, ``changes`` as ``--set`` has them."""
    lines = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return load(recipe, [*lines, *changes], cls, stage)


__all__ = [
    "DecoderConfig",
    "EngineConfig",
    "HeadConfig",
    "LoraConfig",
    "ModelConfig",
    "OptimConfig",
    "PolicyConfig",
    "RunConfig",
    "SftConfig",
    "TargetConfig",
    "ValidationConfig",
    "changed",
    "load",
    "parse",
    "plain",
    "recipes",
    "section",
    "tasks",
]
