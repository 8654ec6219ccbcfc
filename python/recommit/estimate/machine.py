"""Machines that an estimate can be made for: memory, and the rate of matrix products at best with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

GIB = 2**30
#: Of the best rate, what a step is taken to reach: assumed, and not measured for these recipes.
SHARE = 0.4


class Rate(NamedTuple):
    """FLOPs per second of a rank at best (0: unknown, and no time is estimated), and where that is from."""

    peak: float
    source: str


class Card(NamedTuple):
    """One accelerator: GiB that programs get, and FLOPs per second, dense, by data type (0: unknown)."""

    title: str
    memory: float
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
class Machine:
    """Cards by name; ``memory`` (GiB of a rank) and ``peak`` (TFLOP/s at best), where not 0, replace the card's."""

    card: str = "a100"
    gpus: int = 1
    memory: float = 0.0
    peak: float = 0.0

    def __post_init__(self) -> None:
        if self.card not in CARDS:
            raise ValueError(f"card: expected one of {', '.join(CARDS)}, got {self.card}")
        if self.gpus < 1 or min(self.memory, self.peak) < 0:
            got = f"{self.gpus}, {self.memory} and {self.peak}"
            raise ValueError(f"gpus: expected at least 1, memory and peak at least 0, got {got}")

    def rate(self, dtype: str) -> Rate:
        """Of products of weights of a type."""
        if self.peak:
            return Rate(self.peak * 1e12, "as said on the command line")
        card = CARDS[self.card]
        return Rate(card.bfloat16 if dtype == "bfloat16" else card.float32, f"{card.title}, {card.source}")

    @property
    def limit(self) -> int:
        """Bytes per rank."""
        return int((self.memory or CARDS[self.card].memory) * GIB)
