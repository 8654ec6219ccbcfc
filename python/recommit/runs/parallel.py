"""Jobs in several processes, in order; Ctrl-C lets what has begun save itself and begins nothing else."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERRUPTED = 130


@dataclass(frozen=True)
class Job:
    """A call that returns an exit status, and the names of the jobs that must be over before it."""

    call: Callable[..., int]
    arguments: tuple[Any, ...]
    name: str = ""
    #: Names that no job has are not waited for.
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Finished:
    """How a job ended, and what it took."""

    job: Job
    status: int
    seconds: float
    #: Of its own process and of those that it waited for.
    processor_seconds: float


def run_parallel(call: Callable[..., int], work: Sequence[tuple[Any, ...]], processes: int) -> int:
    """``call(*each)`` for all of ``work``, so many at a time, until one does not return 0; the highest status."""
    return run_jobs([Job(call, each) for each in work], processes)


def run_jobs(jobs: Sequence[Job], processes: int, finished: Callable[[Finished], None] = lambda _: None) -> int:
    """All jobs, the first that can begin first, so many at a time; with one process, in this one. After a status that
    is not 0 nothing begins. The highest status; ``finished`` hears of every job that is over.

    Not more is handed out than is worked on: what lies in a pool's queue can no longer be called off.
    """
    waiting, running, status = list(jobs), dict["Future[tuple[int, float, float]]", Job](), 0
    if processes == 1 or len(jobs) < 2:
        while not status and (job := _next(waiting, [])):
            waiting.remove(job)
            over = Finished(job, *_timed(job))
            status = over.status
            finished(over)
        return status
    with ProcessPoolExecutor(min(processes, len(jobs)), mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            while running or (waiting and not status):
                while not status and len(running) < processes and (job := _next(waiting, [*running.values()])):
                    waiting.remove(job)
                    running[pool.submit(_timed, job)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    over = Finished(running.pop(future), *future.result())
                    status = max(status, over.status)
                    finished(over)
        except KeyboardInterrupt:
            return INTERRUPTED
    return status


def _next(waiting: list[Job], running: list[Job]) -> Job | None:
    """The first that waits for nobody; None while all do, or none is left."""
    unfinished = {job.name for job in (*waiting, *running)}
    first = next((job for job in waiting if not job.needs & unfinished), None)
    if first is None and waiting and not running:
        raise ValueError(f"work: expected an order, got jobs that wait for each other: {waiting[0].name}")
    return first


def _timed(job: Job) -> tuple[int, float, float]:
    began, processor = time.monotonic(), processor_seconds()
    status = job.call(*job.arguments)
    return status, time.monotonic() - began, processor_seconds() - processor


def processor_seconds() -> float:
    """Seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])
