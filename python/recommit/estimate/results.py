"""What an estimate says. Plain frozen values; importing them costs nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

GIB = 2**30


@dataclass(frozen=True)
class ModelSize:
    """Who learns, and what it reads of a state."""

    backbone: str
    #: Parameters by part: language, vision, lora, decoder, depth head; all of them, and those that are trained.
    parameters: dict[str, int]
    trained: dict[str, int]
    visual_tokens: int
    text_tokens: int


@dataclass(frozen=True)
class Count:
    """Passes of one kind in a step (or validation) of one rank."""

    kind: str
    passes: int
    states: int
    #: Floating-point operations of all of them.
    flops: int
    #: Why it may be fewer; empty: it is exactly so many.
    bound: str


@dataclass(frozen=True)
class Phase:
    """A kind of step: how many there are, and what one takes."""

    name: str
    times: int
    counts: tuple[Count, ...]
    seconds: float | None

    @property
    def flops(self) -> int:
        """Operations of one step of one rank."""
        return sum(count.flops for count in self.counts)


@dataclass(frozen=True)
class LearningFlops:
    """Floating-point operations of a step's passes that learn, of one rank."""

    forward: int = 0
    backward: int = 0
    again: int = 0


@dataclass(frozen=True)
class Memory:
    """Bytes of one rank, by kind; each kind by itself, and ``peak`` at the worst moment."""

    #: There all the time: weights, lora, heads, optimiser, reference, features, buckets, gathered, allowance.
    resident: dict[str, int]
    gradients: int
    #: Beyond gradients, at the peak of a pass that learns, with the recipe's engine.checkpointing.
    activations: int
    #: The same if every layer keeps its activations, and if they are computed again.
    activations_kept: int
    activations_recomputed: int
    #: Of the largest pass that does not learn.
    looking: int
    #: While the optimiser moves the weights, gradients included.
    stepping: int

    @property
    def peak(self) -> int:
        """While a pass learns, a pass looks without learning, or the weights move."""
        return sum(self.resident.values()) + max(self.gradients + self.activations, self.looking, self.stepping)


@dataclass(frozen=True)
class Rate:
    """How fast a rank is taken to be."""

    #: Floating-point operations per second at best; 0: unknown, and no time is estimated.
    peak: float
    share: float
    source: str

    def seconds(self, flops: float) -> float | None:
        """Time that one rank takes for so many operations."""
        return flops / (self.peak * self.share) if self.peak else None


@dataclass(frozen=True)
class Estimate:
    """A stage of a recipe on so many ranks."""

    stage: str
    task: str
    size: tuple[int, int]
    gpus: int
    #: Bytes that a rank may take.
    limit: int
    model: ModelSize
    phases: tuple[Phase, ...]
    learning: LearningFlops
    memory: Memory
    rate: Rate
    #: Bytes of the node's memory, and of the run's folder.
    host: dict[str, int]
    disk: dict[str, int]
    #: Settings under which it fits, if it does not as it is; None: none was found.
    fits_with: tuple[str, ...] | None = field(default=())

    @property
    def fits(self) -> bool:
        """Does the recipe fit as it is?"""
        return self.memory.peak <= self.limit

    @property
    def seconds(self) -> float | None:
        """Time of the whole run, its passes alone."""
        return self.rate.seconds(self.flops / self.gpus)

    @property
    def flops(self) -> int:
        """Operations of the whole run, all ranks together."""
        return self.gpus * sum(phase.times * phase.flops for phase in self.phases)

    def to_json(self) -> dict[str, Any]:
        """All numbers."""
        derived = {"fits": self.fits, "peak": self.memory.peak, "flops": self.flops, "seconds": self.seconds}
        phases = [asdict(phase) | {"flops": phase.flops} for phase in self.phases]
        memory = {"kept" if name == "resident" else name: value for name, value in asdict(self.memory).items()}
        return {**asdict(self), "memory": memory, "phases": phases, **derived}
