"""What a policy is made of; every class checks itself and is saved with the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from recommit.prices import Prices
from recommit.puzzles.frames import MAX_CELL

#: Actions of a plan, unless a depth is deeper: the action decoder has that many positions.
PLAN_LENGTH = 8
#: Never more actions than this in one plan: so many places have the decisions of an evaluation.
MOST_ACTIONS = 16
#: The name of the trained adapter; PEFT writes only this one to the top of a folder.
ADAPTER = "default"
#: A policy whose prompt says how many decisions remain reads two digits.
MAX_REMAINING = 99
#: Far more than any decoder has: a stranger's policy that asks for more would only take this machine's memory.
MOST = {"width": 1 << 16, "layers": 1 << 8, "heads": 1 << 12, "ffn": 1 << 18}
#: Of puzzles, each of which has an output of its own, and of low-rank adapters likewise.
MOST_TASKS = 64
MOST_RANK = 1 << 12
#: The longest distance that a world model can tell.
MOST_FAR = 1024
#: How many symmetry augmentations of a picture there can be: see ``recommit.policy.augmentations``.
AUGMENTATIONS = (1, 2, 4, 8)
#: States per pass where nobody learns: more of them leave a processor's caches (1,024 at once take 1.3 times as long).
PASS = 256


@dataclass(frozen=True)
class DecoderConfig:
    """The causal transformer that turns z into actions. The defaults are the paper's."""

    width: int = 512
    layers: int = 2
    heads: int = 4
    ffn: int = 1024
    #: ``none``: a plan does not know its depth, so a shorter commitment is a prefix of a longer one, and any depth of
    #: its plans can be asked of any policy. ``embedding``: a zero-initialised vector per depth is added to the prefix.
    depth_conditioning: Literal["none", "embedding"] = "none"
    #: How z comes in: ``prefix``, as the first token of the sequence, or ``cross``: every layer attends to it after
    #: itself.
    z: Literal["prefix", "cross"] = "prefix"

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"decoder.{name}: expected 1..{most}, got {getattr(self, name)}")
        if self.width % self.heads:
            raise ValueError(f"decoder.width: expected a multiple of heads ({self.heads}), got {self.width}")
        if self.depth_conditioning not in ("none", "embedding"):
            raise ValueError(f"decoder.depth_conditioning: expected none or embedding, got {self.depth_conditioning}")
        if self.z not in ("prefix", "cross"):
            raise ValueError(f"decoder.z: expected prefix or cross, got {self.z}")


#: Numbers per action of a plan: its confidence.
CONFIDENCE = 3
#: Numbers of what a conditioned head is told: the decisions that remain, one over them, and two prices.
CONDITIONS = 4
#: What a depth head may read -> the parts of which it is the concatenation, in this order:
#: ``z``            what the backbone says of the picture;
#: ``confidence``   of each action of the greedy plan its probability, that of all up to it, and its entropy;
#: ``world-model``  the distance that a world model expects now and after each depth (see ``world_model``);
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
    """How many numbers ``features`` are, where z has ``z`` of them, the head chooses from so many ``depths`` and plans
    have ``length`` actions."""
    parts = {
        "z": z,
        "confidence": CONFIDENCE * length,
        "world-model": 2 * (1 + depths),
        "conditions": CONDITIONS,
    }
    return sum(parts[part] for part in FEATURES[features])


@dataclass(frozen=True)
class HeadConfig:
    """The map from an observation to the depths. The defaults are the paper's: one linear map from z."""

    #: One of ``FEATURES``. Those without z are fewer numbers, which need fewer states to learn from.
    features: str = "z"
    #: Width of a hidden layer; 0: none.
    hidden: int = 0
    #: How its last map begins: ``zero``, exactly uniform; ``default``, torch's own; ``normal:STD``, such as
    #: normal:0.01.
    init: str = "zero"
    #: The hidden layer's function: the exact one, or its formula with tanh, by which heads on graphs are fitted.
    gelu: Literal["none", "tanh"] = "none"

    def __post_init__(self) -> None:
        if self.features not in FEATURES:
            raise ValueError(f"head.features: expected one of {', '.join(FEATURES)}, got {self.features}")
        if self.gelu not in ("none", "tanh"):
            raise ValueError(f"head.gelu: expected none or tanh, got {self.gelu}")
        if not 0 <= self.hidden <= MOST["width"]:
            raise ValueError(f"head.hidden: expected 0..{MOST['width']}, got {self.hidden}")
        if self.init not in ("zero", "default") and self.deviation is None:
            raise ValueError(f"head.init: expected zero, default or normal:STD with STD above 0, got {self.init}")

    def reads(self, part: str) -> bool:
        return part in FEATURES[self.features]

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
    """Nets that say where a plan would lead (``recommit.policy.world_model``): of pictures of one puzzle and size."""

    task: str
    rows: int
    cols: int
    #: How many kinds of cells pictures have.
    kinds: int
    #: Symmetries of a picture over which distances are averaged: 8, or 1 of a puzzle whose goal does not turn.
    augmentations: int = 8
    width: int = 32
    blocks: int = 5
    #: The longest distance that is told from longer ones.
    far: int = 46
    #: The actions that a lost level counts as: at least ``far``, or losing it would be better than to be far.
    lost: int = 46

    def __post_init__(self) -> None:
        for name, most in (
            ("rows", 64),
            ("cols", 64),
            ("kinds", 256),
            ("width", 1024),
            ("blocks", 64),
            ("far", MOST_FAR),
        ):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"world_model.{name}: expected 1..{most}, got {getattr(self, name)}")
        if not self.far <= self.lost <= 2 * MOST_FAR:
            raise ValueError(f"world_model.lost: expected far {self.far}..{2 * MOST_FAR}, got {self.lost}")
        _check_augmentations("world_model.augmentations", self.augmentations)


@dataclass(frozen=True)
class LoraConfig:
    """Low-rank adapters on the language model's attention and MLP projections. The defaults are the paper's."""

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05

    def __post_init__(self) -> None:
        if not 1 <= self.rank <= MOST_RANK:
            raise ValueError(f"lora.rank: expected 1..{MOST_RANK}, got {self.rank}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"lora.dropout: expected 0 <= dropout < 1, got {self.dropout}")


@dataclass(frozen=True)
class PolicyConfig:
    """Everything but the weights."""

    #: The depths the depth head chooses from, ascending. Plans are as long as the deepest, and at least eight actions.
    depths: tuple[int, ...] = (1, 2, 4, 8)
    #: Task names in the order of the decoder's output projections.
    tasks: tuple[str, ...] = ("sliding", "sokoban")
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    #: None: the backbone is trained whole (small models from scratch).
    lora: LoraConfig | None = field(default_factory=LoraConfig)
    #: Prompt per task, by file name without suffix.
    prompts: tuple[str, ...] = ("sliding-v2", "sokoban-v2")
    #: Drawing: theme, pixels per cell (0: one visual token, or what else the backbone likes), and whether the constant
    #: outer wall is left out.
    theme: str = "light"
    cell: int = 0
    crop: bool = True
    #: Tell the policy in its prompt how many decisions remain, this one included: it sees more than the paper's.
    show_budget: bool = False
    #: Pictures per observation (symmetry augmentations): its cells
    #: mirrored and turned (1, 2, 4 or 8 ways; never the state), and the mean of what the decoder says of them, action
    #: by action. Works for any trained policy, at as many times the FLOPs.
    augmentations: int = 1
    #: What says where a plan would lead, if anything does.
    world_model: WorldModelConfig | None = None
    #: What an action and an observation cost, for a conditioned head.
    prices: Prices = field(default_factory=Prices)
    #: The puzzles that it was trained on, with their sizes (sliding-3x3); empty: it may be asked about any.
    trained: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.head.reads("world-model") and self.world_model is None:
            raise ValueError(
                f"head.features: expected {self.head.features} of a policy that has a world model "
                "(recommit train world-model), got one without"
            )
        _check_augmentations("augmentations", self.augmentations)
        if not self.depths:
            raise ValueError("depths: expected at least one, got none")
        check_depths(self.depths)
        if self.head.features != "z" and self.decoder.depth_conditioning != "none":
            raise ValueError(
                "head.features: expected z with decoder.depth_conditioning (a plan that waits for its depth cannot "
                f"tell it), got {self.head.features}"
            )
        if not 1 <= len(self.tasks) <= MOST_TASKS:
            raise ValueError(f"tasks: expected 1..{MOST_TASKS}, got {len(self.tasks):,}")
        if len(self.prompts) != len(self.tasks):
            raise ValueError(f"prompts: expected one per task ({len(self.tasks)}), got {len(self.prompts)}")
        if not 0 <= self.cell <= MAX_CELL:
            raise ValueError(f"cell: expected 0..{MAX_CELL} pixels, got {self.cell}")

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
                "CommitPolicy.from_pretrained(..., anyway=True), or --anyway, plays it all the same"
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
    """Refuse what no depth head can choose from; none are fine."""
    if list(depths) != sorted(set(depths)):
        raise ValueError(f"depths: expected ascending numbers without doubles, got {depths}")
    if depths and (depths[0] < 1 or depths[-1] > MOST_ACTIONS):
        raise ValueError(f"depths: expected numbers 1..{MOST_ACTIONS}, got {depths}")
