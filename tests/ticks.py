"""Does the interpreter go on during a call? Shared by the tests that ask it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def ticks_during(call: Callable[[], object]) -> float:
    """How many turns of a Python loop another thread gets per second of this call."""
    count, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            count[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.05)
    before, start = count[0], time.perf_counter()
    call()
    rate = (count[0] - before) / (time.perf_counter() - start)
    stop.set()
    thread.join()
    return rate
