"""Work in several processes, in order; Ctrl-C lets what has begun save itself and begins nothing else."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: A status, and seconds of the clock and of processors.
Spent: TypeAlias = "tuple[int, float, float]"

INTERRUPTED = 130


@dataclass(frozen=True)
class Piece:
    """A part of the work, which may need others to be over."""

    call: Callable[..., int]
    arguments: tuple[Any, ...]
    #: What others name it by.
    name: str = ""
    #: Names of those that must be over before; of names that no piece has nothing is needed.
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ended:
    """How a piece ended, and what it took."""

    piece: Piece
    status: int
    seconds: float
    #: Of its own process and of those that it waited for.
    processor_seconds: float


def run(call: Callable[..., int], work: Sequence[tuple[Any, ...]], jobs: int) -> int:
    """``call(*each)`` for all of ``work``, ``jobs`` at a time, until one does not return 0; the highest status."""
    return in_order([Piece(call, each) for each in work], jobs)


def in_order(work: Sequence[Piece], jobs: int, ended: Callable[[Ended], None] = lambda _: None) -> int:
    """All pieces, the first that can begin first, ``jobs`` at a time; with one, in this process. After a status that is
    not 0 nothing begins. The highest status; ``ended`` hears of every piece that is over.

    Not more is handed out than is worked on: what lies in a pool's queue can no longer be called off.
    """
    if jobs == 1 or len(work) < 2:
        return _one_by_one(list(work), ended)
    waiting, running, status = list(work), dict["Future[Spent]", Piece](), 0
    with ProcessPoolExecutor(min(jobs, len(waiting)), mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            while running or (waiting and not status):
                while not status and len(running) < jobs and (piece := _next(waiting, [*running.values()])):
                    waiting.remove(piece)
                    running[pool.submit(_timed, piece)] = piece
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    over = Ended(running.pop(future), *future.result())
                    status = max(status, over.status)
                    ended(over)
        except KeyboardInterrupt:
            return INTERRUPTED
    return status


def _one_by_one(waiting: list[Piece], ended: Callable[[Ended], None]) -> int:
    while piece := _next(waiting, []):
        waiting.remove(piece)
        over = Ended(piece, *_timed(piece))
        ended(over)
        if over.status:
            return over.status
    return 0


def _next(waiting: list[Piece], running: list[Piece]) -> Piece | None:
    """The first that waits for nobody; None while all do, or none is left."""
    unfinished = {piece.name for piece in (*waiting, *running)}
    first = next((piece for piece in waiting if not piece.needs & unfinished), None)
    if first is None and waiting and not running:
        raise ValueError(f"work: expected an order, got pieces that wait for each other: {waiting[0].name}")
    return first


def _timed(piece: Piece) -> Spent:
    began, processor = time.monotonic(), processor_seconds()
    status = piece.call(*piece.arguments)
    return status, time.monotonic() - began, processor_seconds() - processor


def processor_seconds() -> float:
    """Seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])
