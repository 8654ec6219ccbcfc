"""Machines for estimates: memory, and peak rate of matrix products with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

GIB = 2**30


class Pace(NamedTuple):
    """Assumptions of a time estimate, not measured for these recipes."""

    #: Share of the peak rate that matrix products reach.
    share: float
    #: Seconds per kernel launch; a compiled region counts as one.
    launch: float
    #: Start-up seconds: imports, weights, process groups.
    start: float
    #: True: launches overlap with compute, so the longer of the two counts; else their sum.
    overlap: bool

    @property
    def text(self) -> str:
        """The assumptions in words."""
        how = "whichever is longer" if self.overlap else "one after the other"
        start = f", {self.start:.0f} s of start-up" if self.start else ""
        return f"{self.share:.0%} of the rate, {self.launch * 1e6:.0f} us a kernel, {how}{start}"


#: Bounds of ``Estimate.seconds``: passes of thousands of tokens in a resident process; passes of hundreds, one by one.
LOW, HIGH = Pace(0.4, 5e-6, 0.0, True), Pace(0.2, 8e-6, 90.0, False)


class Rate(NamedTuple):
    """Peak FLOPs per second of a rank (0: unknown, no time estimate), and its source."""

    peak: float
    source: str


class Card(NamedTuple):
    """An accelerator: usable GiB, and peak dense FLOPs per second by dtype (0: unknown)."""

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
    """``gpus`` cards by name; ``memory`` (GiB per rank) and ``peak`` (TFLOP/s), if not 0, override the card's."""

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
        """The rate for weights of ``dtype``."""
        if self.peak:
            return Rate(self.peak * 1e12, "as said on the command line")
        card = CARDS[self.card]
        return Rate(card.bfloat16 if dtype == "bfloat16" else card.float32, f"{card.title}, {card.source}")

    @property
    def limit(self) -> int:
        """Available bytes per rank."""
        return int((self.memory or CARDS[self.card].memory) * GIB)
