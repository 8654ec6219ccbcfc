"""Machines that an estimate can be made for: memory, and the rate of matrix products at best with its source."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 2**30
#: Of a step's time that matrix products take of the best rate; nobody has measured it for these recipes.
SHARE = 0.4


@dataclass(frozen=True)
class Card:
    """One accelerator."""

    title: str
    #: GiB that programs get.
    memory: float
    #: FLOPs per second, dense, by data type; 0: unknown.
    bfloat16: float
    float32: float
    source: str


CARDS = {
    "a100": Card("A100 80 GB", 79.2, 312e12, 19.5e12, "the vendor's sheet, dense"),
    "h200": Card("H200 141 GB", 139.8, 790e12, 67e12, "bfloat16 measured on one card, float32 the vendor's sheet"),
    "rtx4090": Card("RTX 4090 24 GB", 23.5, 165e12, 82.6e12, "the vendor's sheet, dense, sums in float32"),
    "cpu": Card("processor", 16.0, 0.0, 0.0, "unknown; say --peak"),
}


@dataclass(frozen=True)
class Rate:
    """How fast a rank is taken to be."""

    #: FLOPs per second at best; 0: unknown, and no time is estimated.
    peak: float
    share: float
    source: str

    def seconds(self, flops: float) -> float | None:
        """Time that one rank takes for so many FLOPs."""
        return flops / (self.peak * self.share) if self.peak else None


@dataclass(frozen=True)
class Machine:
    """What an estimate is made for: so many cards, by name; ``memory`` (GiB of a rank) and ``peak`` (TFLOP/s at best)
    stand in for the card's where they are not 0."""

    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0
    share: float = SHARE

    def __post_init__(self) -> None:
        if self.card not in CARDS:
            raise ValueError(f"card: expected one of {', '.join(CARDS)}, got {self.card}")
        if self.gpus < 1:
            raise ValueError(f"gpus: expected at least 1, got {self.gpus}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share: expected 0 < share <= 1, got {self.share}")
        if self.memory < 0 or self.peak < 0:
            raise ValueError(f"memory and peak: expected at least 0, got {self.memory} and {self.peak}")

    def rate(self, dtype: str) -> Rate:
        """For weights of that type."""
        if self.peak:
            return Rate(self.peak * 1e12, self.share, "as said on the command line")
        card = CARDS[self.card]
        peak = card.bfloat16 if dtype == "bfloat16" else card.float32
        return Rate(peak, self.share, f"{card.title}, {card.source}")

    @property
    def limit(self) -> int:
        """Bytes per rank."""
        return int((self.memory or CARDS[self.card].memory) * GIB)

    @property
    def cuda(self) -> bool:
        """Is it an accelerator with a context of its own?"""
        return self.card != "cpu"
