"""Configuration of a policy; every class checks itself and is saved with the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from recommit import checks
from recommit.prices import Prices
from recommit.puzzles.frames import MAX_CELL

#: Actions of a plan, and positions of the action decoder, unless the deepest depth is larger.
PLAN_LENGTH = 8
#: Most actions of a plan: evaluations store one column for each.
MOST_ACTIONS = 16
#: The name of the trained adapter; PEFT writes only this one to the top of a folder.
ADAPTER = "default"
#: The prompt has two digits for it.
MAX_REMAINING = 99
#: Limits of sizes, so that an untrusted file cannot exhaust memory.
MOST = {"width": 1 << 16, "layers": 1 << 8, "heads": 1 << 12, "ffn": 1 << 18}
MOST_TASKS, MOST_RANK, MOST_FAR = 64, 1 << 12, 1024
#: Allowed numbers of symmetry augmentations of a picture.
AUGMENTATIONS = (1, 2, 4, 8)
#: Batch size without gradients: larger ones leave the CPU caches (1,024 states at once take 1.3 times as long).
PASS = 256


@dataclass(frozen=True)
class DecoderConfig:
    """The causal transformer that turns z into actions. The defaults are the paper's."""

    width: int = 512
    layers: int = 2
    heads: int = 4
    ffn: int = 1024
    #: ``none``: plans do not depend on the depth: a shorter commitment is a prefix of a longer one.
    #: ``embedding``: a zero-initialised vector per depth is added to the prefix.
    depth_conditioning: Literal["none", "embedding"] = "none"
    #: ``prefix``: z is the first token; ``cross``: every layer attends to it.
    z: Literal["prefix", "cross"] = "prefix"

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            checks.integer(f"decoder.{name}", getattr(self, name), 1, most)
        if self.width % self.heads:
            raise ValueError(f"decoder.width: expected a multiple of heads ({self.heads}), got {self.width}")
        checks.choice("decoder.depth_conditioning", self.depth_conditioning, ("none", "embedding"))
        checks.choice("decoder.z", self.z, ("prefix", "cross"))


#: Numbers per action of a plan: its confidence.
CONFIDENCE = 3
#: Inputs of a conditioned head: the decisions that remain, one over them, and two prices.
CONDITIONS = 4
#: Input of a depth head -> its parts, concatenated in this order:
#: ``z``            the backbone's state;
#: ``confidence``   of each action of the greedy plan its probability, that of all up to it, and its entropy;
#: ``world-model``  the distance that a world model expects now and after each depth (see ``world_model``);
#:                  where it is the only part it says nothing of now;
#: ``conditions``   how many decisions remain, and what an action and an observation cost (see ``prices``).
FEATURES: dict[str, tuple[str, ...]] = {
    "z": ("z",),
    "confidence": ("confidence",),
    "z+confidence": ("z", "confidence"),
    "world-model": ("world-model",),
    "conditioned": ("confidence", "world-model", "conditions"),
    "z+conditioned": ("z", "confidence", "world-model", "conditions"),
}


def feature_count(features: str, z: int, depths: int, length: int = PLAN_LENGTH) -> int:
    """Width of a depth head's input, for a z of width ``z``, a number of ``depths`` and plans of ``length`` actions."""
    parts = {"z": z, "confidence": CONFIDENCE * length, "world-model": 2 * (1 + depths), "conditions": CONDITIONS}
    return sum(parts[part] for part in FEATURES[features])


@dataclass(frozen=True)
class HeadConfig:
    """The depth head. The defaults are the paper's: one linear map from z."""

    #: One of ``FEATURES``.
    features: str = "z"
    #: Width of a hidden layer; 0: none.
    hidden: int = 0
    #: Initial weights of the last map: ``zero`` (uniform), ``default`` (torch's) or ``normal:STD`` (normal:0.01).
    init: str = "zero"
    #: GELU of the hidden layer: exact (``none``), or its tanh approximation, with which heads on graphs are fitted.
    gelu: Literal["none", "tanh"] = "none"
    #: Of features ``world-model``: depth h is judged where the plan's first h actions have a probability between these.
    #: Above, h or a deeper one is taken; below, a shallower one.
    unsure: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        checks.choice("head.features", self.features, tuple(FEATURES))
        if not 0.0 <= self.unsure[0] <= self.unsure[1] <= 1.0 or (self.gated and self.features != "world-model"):
            raise ValueError(
                f"head.unsure: expected 0 <= low <= high <= 1, and others than 0 and 1 for features world-model alone, "
                f"got {self.unsure} for features {self.features}"
            )
        checks.choice("head.gelu", self.gelu, ("none", "tanh"))
        checks.integer("head.hidden", self.hidden, 0, MOST["width"])
        if self.init not in ("zero", "default") and self.deviation is None:
            raise ValueError(f"head.init: expected zero, default or normal:STD with STD above 0, got {self.init}")

    def reads(self, part: str) -> bool:
        return part in FEATURES[self.features]

    @property
    def gated(self) -> bool:
        """True if the plan's probabilities decide some depths, so that states differ in cost."""
        return self.unsure != (0.0, 1.0)

    @property
    def deviation(self) -> float | None:
        """STD of ``normal:STD``; None for other values."""
        kind, colon, number = self.init.partition(":")
        try:
            deviation = float(number) if kind == "normal" and colon else 0.0
        except ValueError:
            return None
        return deviation if 0.0 < deviation < math.inf else None


@dataclass(frozen=True)
class WorldModelConfig:
    """A world model (``recommit.policy.world_model``) for pictures of one puzzle and size."""

    task: str
    rows: int
    cols: int
    #: Kinds of cells.
    kinds: int
    #: Symmetries of a picture over which distances are averaged. Eight cost eight times as much and buy little.
    augmentations: int = 1
    width: int = 32
    blocks: int = 5
    #: Largest distance class.
    far: int = 46
    #: Distance assigned to a lost level; at least ``far``.
    lost: int = 46

    def __post_init__(self) -> None:
        most = {"rows": 64, "cols": 64, "kinds": 256, "width": 1024, "blocks": 64, "far": MOST_FAR}
        for name, bound in most.items():
            checks.integer(f"world_model.{name}", getattr(self, name), 1, bound)
        checks.integer("world_model.lost", self.lost, self.far, 2 * MOST_FAR)
        _check_augmentations("world_model.augmentations", self.augmentations)


@dataclass(frozen=True)
class LoraConfig:
    """Low-rank adapters on the language model's attention and MLP projections. The defaults are the paper's."""

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05

    def __post_init__(self) -> None:
        checks.integer("lora.rank", self.rank, 1, MOST_RANK)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"lora.dropout: expected 0 <= dropout < 1, got {self.dropout}")


@dataclass(frozen=True)
class PolicyConfig:
    """Configuration of a ``CommitPolicy``: everything but the weights."""

    #: The depths the depth head chooses from, ascending. Plans are as long as the deepest, and at least eight actions.
    depths: tuple[int, ...] = (1, 2, 4, 8)
    #: Task names in the order of the decoder's output projections.
    tasks: tuple[str, ...] = ("sliding", "sokoban")
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    #: None: the backbone is trained whole (small models from scratch).
    lora: LoraConfig | None = field(default_factory=LoraConfig)
    #: Prompt per task: a file of ``prompts`` by name without suffix, or the text of a user's turn with "{image}" in it.
    prompts: tuple[str, ...] = ("sliding-v2", "sokoban-v2")
    #: Drawing: theme, pixels per cell (0: the backbone's default), and whether the constant outer wall is left out.
    theme: str = "light"
    cell: int = 0
    crop: bool = True
    #: Put the number of remaining decisions (this one included) into the prompt; the paper does not.
    show_budget: bool = False
    #: Symmetry augmentations per picture (1, 2, 4 or 8), whose action distributions are averaged; works for any trained
    #: policy, at that many times the FLOPs.
    augmentations: int = 1
    world_model: WorldModelConfig | None = None
    #: Prices that a conditioned head reads.
    prices: Prices = field(default_factory=Prices)
    #: Puzzles and sizes of the training data (sliding-3x3), to which play is restricted; empty: no restriction.
    trained: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.head.reads("world-model") and self.world_model is None:
            features = self.head.features
            raise ValueError(f"world_model: expected one for head.features {features} (train world-model), got none")
        _check_augmentations("augmentations", self.augmentations)
        checks.integer("number of depths", len(self.depths), 1, MOST_ACTIONS)
        check_depths(self.depths)
        if self.head.features != "z" and self.decoder.depth_conditioning != "none":
            raise ValueError(
                "head.features: expected z where plans depend on the depth (decoder.depth_conditioning), "
                f"got {self.head.features}"
            )
        checks.integer("number of tasks", len(self.tasks), 1, MOST_TASKS)
        if len(self.prompts) != len(self.tasks):
            raise ValueError(f"prompts: expected one per task ({len(self.tasks)}), got {len(self.prompts)}")
        checks.integer("cell", self.cell, 0, MAX_CELL)

    @property
    def plan_length(self) -> int:
        return max(PLAN_LENGTH, self.depths[-1])

    @property
    def budget_conditioned(self) -> bool:
        """True if the prompt or the depth head reads the number of remaining decisions."""
        return self.show_budget or self.head.reads("conditions")

    def refuse_untrained(self, task: str, shape: tuple[int, int]) -> None:
        """Refuse puzzles and sizes outside the training data."""
        name = f"{task}-{shape[0]}x{shape[1]}"
        if self.trained and name not in self.trained:
            raise ValueError(
                f"task: expected {' or '.join(self.trained)}, which this policy was trained on, got {name}; "
                "CommitPolicy.from_pretrained(..., anyway=True) plays it all the same"
            )

    def task_index(self, name: str) -> int:
        """Index of the decoder's output for a task."""
        if name not in self.tasks:
            raise ValueError(f"task: expected one of {', '.join(self.tasks)}, got {name}")
        return self.tasks.index(name)


def _check_augmentations(name: str, number: int) -> None:
    if number not in AUGMENTATIONS:
        raise ValueError(f"{name}: expected one of {', '.join(map(str, AUGMENTATIONS))}, got {number}")


def check_depths(depths: tuple[int, ...]) -> None:
    """Refuse depths that are not strictly ascending within 1..MOST_ACTIONS; an empty tuple is allowed."""
    if list(depths) != sorted(set(depths)):
        raise ValueError(f"depths: expected ascending numbers without doubles, got {depths}")
    if depths and (depths[0] < 1 or depths[-1] > MOST_ACTIONS):
        raise ValueError(f"depths: expected numbers 1..{MOST_ACTIONS}, got {depths}")
