"""Does the interpreter go on during a call? Shared by the tests that ask it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def goes_on(call: Callable[[], object], tries: int) -> bool:
    """Whether another thread runs during the call, in one of the tries: a busy machine may give it no core in some."""
    return any(silence(call) < 0.5 for _ in range(tries))


def holder() -> Callable[[], object]:
    """The planted defect: a call of a quarter of a second that keeps the GIL."""
    values = np.random.default_rng(0).random(1_000_000).tolist()
    return lambda: sorted(values)


def silence(call: Callable[[], object]) -> float:
    """The longest time without a turn of another thread's Python loop, as a share of the call.

    Turns per second would not do: the few milliseconds for which the interpreter lets the other thread go on at both
    ends, and whatever the system adds to them, are a good part of a short call, whoever holds the GIL inside it.
    """
    longest, last, stop = [0.0], [time.perf_counter()], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            now = time.perf_counter()
            longest[0], last[0] = max(longest[0], now - last[0]), now

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.05)
    longest[0], start = 0.0, time.perf_counter()
    call()
    end = time.perf_counter()
    while last[0] < end:  # the turn that ends a silence at the call's end
        time.sleep(0.001)
    stop.set()
    thread.join()
    return min(longest[0] / (end - start), 1.0)
