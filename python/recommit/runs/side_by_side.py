"""Work in several processes, in order; Ctrl-C lets what has begun save itself and begins nothing else."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERRUPTED = 130


def run(call: Callable[..., int], work: Sequence[tuple[Any, ...]], jobs: int) -> int:
    """``call(*each)`` for all of ``work``, ``jobs`` at a time, until one does not return 0; the highest status.

    Not more is handed out than is worked on: what lies in a pool's queue can no longer be called off.
    """
    waiting, running, status = list(work), set[Future[int]](), 0
    with ProcessPoolExecutor(min(jobs, len(waiting)), mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            while running or (waiting and not status):
                while waiting and not status and len(running) < jobs:
                    running.add(pool.submit(call, *waiting.pop(0)))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                status = max([status, *(each.result() for each in done)])
        except KeyboardInterrupt:
            return INTERRUPTED
    return status
