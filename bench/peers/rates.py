"""What the scripts beside it share: a rate per second of CPU time, as one line."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

ROUNDS, SECONDS = 5, 1.0


def rate(work: Callable[[int], object], items: int) -> float:
    """Items per second of this process's CPU time, the median of some rounds; ``work`` is told how often it ran."""
    for call in range(3):
        work(call)
    return statistics.median(_round(work, items) for _ in range(ROUNDS))


def _round(work: Callable[[int], object], items: int) -> float:
    calls, begin = 0, time.process_time()
    while (seconds := time.process_time() - begin) < SECONDS:
        work(calls)
        calls += 1
    return calls * items / seconds


def report(what: str, work: Callable[[int], object], items: int) -> None:
    print(f"{what}: {rate(work, items) / 1e6:.3g} M steps/s of CPU time", flush=True)
