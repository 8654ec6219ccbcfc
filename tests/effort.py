"""What a call costs, in a unit that takes longer on a slow or a busy machine, too: for limits that hold on every one.

The unit is the processor time of a fixed loop of Python's. A limit lies far above what was measured beside four busy
loops, and far below what the planted defect costs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Turns of the loop that is one unit: half a millisecond or so.
TURNS = 20_000


def unit() -> float:
    """Seconds of processor time that the loop takes now; the median of nine."""
    return sorted(_seconds(_loop) for _ in range(9))[4]


def effort(call: Callable[[], object]) -> float:
    """Units that a call of this thread costs; the least of three."""
    before = unit()
    cost = min(_seconds(call) for _ in range(3))
    return cost / max(before, unit())


def _loop() -> int:
    total = 0
    for number in range(TURNS):
        total += number & 3
    return total


def _seconds(call: Callable[[], object]) -> float:
    begin = time.thread_time()
    call()
    return time.thread_time() - begin
