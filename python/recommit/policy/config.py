"""What a policy is made of; every class checks itself and is saved with the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

#: Never more actions than this in one commitment: the action decoder has that many positions.
MAX_ACTIONS = 8
#: The name of the trained adapter; PEFT writes only this one to the top of a folder.
ADAPTER = "default"
#: A policy that is told how many decisions are left reads two digits.
MOST_LEFT = 99
#: Far more than any decoder has: a stranger's policy that asks for more would only take this machine's memory.
MOST = {"width": 1 << 16, "layers": 1 << 8, "heads": 1 << 12, "ffn": 1 << 18}
#: Of low-rank adapters likewise.
MOST_RANK = 1 << 12
#: How many views of a picture there can be: see ``recommit.policy.pictures.symmetry``.
VIEWS = (1, 2, 4, 8)
#: States per pass where nobody learns: more of them leave a processor's caches (1,024 at once take 1.3 times as long).
PASS = 256


@dataclass(frozen=True)
class DecoderConfig:
    """The causal transformer that turns z into actions. The defaults are the paper's."""

    width: int = 512
    layers: int = 2
    heads: int = 4
    ffn: int = 1024
    #: ``none``: a plan does not know its depth, so a shorter commitment is a prefix of a longer one, and any depth 1..8
    #: can be asked of any policy. ``embedding``: a zero-initialised vector per depth is added to the prefix.
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


#: What a depth head may read.
READS = ("z", "plan", "views", "sure", "agreement", "foresight", "stakes", "stakes-z")
#: Of these: what is read of where the plan should lead, and of what is at stake.
OF_FORESIGHT, OF_STAKES = ("foresight", "stakes", "stakes-z"), ("stakes", "stakes-z")


@dataclass(frozen=True)
class HeadConfig:
    """The map from a look to the depths. The defaults are the paper's: one linear map from z."""

    #: ``z``: what the backbone says. ``plan``: also how sure the action decoder is of each action of its greedy plan.
    #: ``views``: also how far the views of a look agree on it (see ``views`` of the policy). ``sure`` and ``agreement``
    #: are the last two without z: fewer numbers, which need fewer states to learn from. ``foresight``: what the policy
    #: expects the plan to lead to, and nothing else (see ``foresight`` of the policy). ``stakes``: that, how sure the
    #: plan is, how many looks are left, and what an action and a look cost (see ``prices`` of the policy).
    #: ``stakes-z``: z as well.
    reads: Literal["z", "plan", "views", "sure", "agreement", "foresight", "stakes", "stakes-z"] = "z"
    #: Width of a hidden layer; 0: none.
    hidden: int = 0
    #: How its last map begins: ``zero``, exactly uniform; ``default``, torch's own; ``normal:STD``, such as
    #: normal:0.01.
    init: str = "zero"
    #: The hidden layer's function: the exact one, or its formula with tanh, by which heads on graphs are fitted.
    gelu: Literal["none", "tanh"] = "none"

    def __post_init__(self) -> None:
        if self.reads not in READS:
            raise ValueError(f"head.reads: expected {', '.join(READS[:-1])} or {READS[-1]}, got {self.reads}")
        if self.gelu not in ("none", "tanh"):
            raise ValueError(f"head.gelu: expected none or tanh, got {self.gelu}")
        if self.hidden < 0:
            raise ValueError(f"head.hidden: expected at least 0, got {self.hidden}")
        if self.init not in ("zero", "default") and self.deviation is None:
            raise ValueError(f"head.init: expected zero, default or normal:STD with STD above 0, got {self.init}")

    @property
    def deviation(self) -> float | None:
        """STD of ``normal:STD``; None if that is not what is asked."""
        kind, colon, number = self.init.partition(":")
        try:
            deviation = float(number) if kind == "normal" and colon else 0.0
        except ValueError:
            return None
        return deviation if 0.0 < deviation < math.inf else None


@dataclass(frozen=True)
class ForesightConfig:
    """Nets that say where a plan would lead (``recommit.policy.foresight``): of pictures of one puzzle and size."""

    task: str
    rows: int
    cols: int
    #: How many kinds of cells pictures have.
    kinds: int
    #: Symmetries of a picture over which distances are averaged: 8, or 1 of a puzzle whose goal does not turn.
    views: int = 8
    width: int = 32
    blocks: int = 5
    #: The longest distance that is told from longer ones; a lost level counts as so far.
    far: int = 46

    def __post_init__(self) -> None:
        for name, most in (("rows", 64), ("cols", 64), ("kinds", 256), ("width", 1024), ("blocks", 64), ("far", 1024)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"foresight.{name}: expected 1..{most}, got {getattr(self, name)}")
        if self.views not in VIEWS:
            raise ValueError(f"foresight.views: expected one of {', '.join(map(str, VIEWS))}, got {self.views}")


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

    #: The depths the depth head chooses from, ascending.
    depths: tuple[int, ...] = (1, 2, 4, 8)
    #: Task names in the order of the decoder's output projections.
    tasks: tuple[str, ...] = ("sliding", "sokoban")
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    #: None: the backbone is trained whole (small models from scratch).
    lora: LoraConfig | None = field(default_factory=LoraConfig)
    #: Prompt per task, by file name without suffix.
    prompts: tuple[str, ...] = ("sliding-v1", "sokoban-v1")
    #: Drawing: theme, pixels per cell (0: one visual token, or what else the backbone likes), and whether the constant
    #: outer wall is left out.
    theme: str = "light"
    cell: int = 0
    crop: bool = True
    #: Tell the policy in its prompt how many decisions are left, this one included: it sees more than the paper's.
    show_budget: bool = False
    #: Pictures per look: the cells of the picture turned and mirrored (1, 2, 4 or 8 ways; never the state), and the
    #: mean of what the decoder says of them, action by action. Works for any trained policy; a look takes as many times
    #: as long.
    views: int = 1
    #: What says where a plan would lead, if anything does.
    foresight: ForesightConfig | None = None
    #: What an action and a look cost, as shares of a solved episode, for a head that reads the stakes.
    prices: tuple[float, float] = (0.0, 0.0)
    #: The puzzles that it was trained on, with their sizes (sliding-3x3); none is said of an older policy, and of one
    #: that may look at anything.
    trained: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.head.reads in OF_FORESIGHT and self.foresight is None:
            raise ValueError(
                f"head.reads: expected {self.head.reads} of a policy that has foresight (recommit train world-model)"
            )
        if len(self.prices) != 2 or not all(0 <= price < math.inf for price in self.prices):
            raise ValueError(f"prices: expected two numbers from 0 on, of an action and of a look, got {self.prices}")
        if self.views not in VIEWS:
            raise ValueError(f"views: expected one of {', '.join(map(str, VIEWS))}, got {self.views}")
        if not self.depths or list(self.depths) != sorted(set(self.depths)):
            raise ValueError(f"depths: expected ascending numbers without doubles, got {self.depths}")
        if self.depths[0] < 1 or self.depths[-1] > MAX_ACTIONS:
            raise ValueError(f"depths: expected numbers 1..{MAX_ACTIONS}, got {self.depths}")
        if self.head.reads != "z" and self.decoder.depth_conditioning != "none":
            raise ValueError(
                "head.reads: expected z with decoder.depth_conditioning (a plan that waits for its depth cannot tell "
                f"it), got {self.head.reads}"
            )
        if len(self.prompts) != len(self.tasks):
            raise ValueError(f"prompts: expected one per task ({len(self.tasks)}), got {len(self.prompts)}")
        if self.cell < 0:
            raise ValueError(f"cell: expected 0 or a number of pixels, got {self.cell}")

    @property
    def budget_conditioned(self) -> bool:
        """Is it told how many decisions are left, by its prompt or as a number for its depth head?"""
        return self.show_budget or self.head.reads in OF_STAKES

    def refuse_untrained(self, task: str, shape: tuple[int, int]) -> None:
        """Refuse a puzzle or a size that the policy has never seen: its answer would be a guess."""
        name = f"{task}-{shape[0]}x{shape[1]}"
        if self.trained and name not in self.trained:
            raise ValueError(
                f"task: expected {' or '.join(self.trained)}, which this policy was trained on, got {name}; "
                "anyway (--anyway) plays it all the same"
            )

    def task_index(self, name: str) -> int:
        """Which of the decoder's outputs serves a task."""
        if name not in self.tasks:
            raise ValueError(f"task: expected one of {', '.join(self.tasks)}, got {name}")
        return self.tasks.index(name)
