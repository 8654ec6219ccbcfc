"""What a call costs, in a unit that takes longer on a slow or a busy machine, too: for limits that hold on every one.

The unit is the processor time of a fixed loop of Python's. A limit lies far above what was measured beside four busy
loops, and far below what the planted defect costs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

#: Turns of the loop that is one unit: half a millisecond or so.
TURNS = 20_000
#: Seconds that no machine needs less for.
LEAST = 1e-5


def unit() -> float:
    """Seconds of processor time that the loop takes now; the median of nine."""
    return sorted(_seconds(_loop) for _ in range(9))[4]


def effort(call: Callable[[], object]) -> float:
    """Units that a call of this thread costs; the least of three."""
    before = unit()
    cost = min(_seconds(call) for _ in range(3))
    return cost / max(before, unit())


class Meter:
    """What a block of this thread costs: ``with Meter() as meter: ...``, then ``meter.units``."""

    def __enter__(self) -> Self:
        self._begin = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._seconds = time.thread_time() - self._begin

    @property
    def units(self) -> float:
        return self._seconds / unit()

    def cheaper(self, units: float) -> bool:
        """Did it cost less? A call far below the limit is not compared with a loop."""
        return self._seconds < units * LEAST or self.units < units


def work(units: int) -> None:
    """Cost so much."""
    for _ in range(units):
        _loop()


def _loop() -> int:
    total = 0
    for number in range(TURNS):
        total += number & 3
    return total


def _seconds(call: Callable[[], object]) -> float:
    begin = time.thread_time()
    call()
    return time.thread_time() - begin
