"""Machines that an estimate can be made for: memory, and the rate of matrix products at best with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

GIB = 2**30


class Pace(NamedTuple):
    """What a time assumes, none of it measured for these recipes."""

    #: Of the best rate, while products are computed.
    share: float
    #: Seconds between the starts of two kernels; a compiled piece counts as one.
    launch: float
    #: Seconds before the first step: imports, weights, process groups.
    start: float
    #: Are kernels started while others compute? Then the longer of the two counts, else both.
    overlap: bool

    @property
    def text(self) -> str:
        """In a few words."""
        how = "whichever is longer" if self.overlap else "one after the other"
        start = f", {self.start:.0f} s of start-up" if self.start else ""
        return f"{self.share:.0%} of the rate, {self.launch * 1e6:.0f} us a kernel, {how}{start}"


#: Of ``Estimate.seconds``: passes of thousands of tokens in a resident process; passes of hundreds, one by one.
LOW, HIGH = Pace(0.4, 5e-6, 0.0, True), Pace(0.2, 8e-6, 90.0, False)


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
