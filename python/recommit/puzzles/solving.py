"""Solving many levels one by one: a plan in letters, what it cost, and who is told how far it is."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit.puzzles.registry import TASKS
from recommit.puzzles.solutions import Limits, Status
from recommit.puzzles.solver import letters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    Grid = NDArray[np.uint8]

#: Seconds between two looks at Ctrl-C and the progress line.
TICK = 0.1


@dataclass(frozen=True)
class Solved:
    """The answer to one level, and what it cost."""

    index: int
    title: str
    rows: int
    columns: int
    #: ``exact``, ``unsolvable``, ``node_limit``, ``byte_limit`` or ``time_limit``.
    status: str
    #: Optimal number of actions; None unless the status is ``exact``.
    length: int | None
    #: A proven lower bound of the length; None for a level that cannot be solved.
    bound: int | None
    #: One letter per action, u d l r; upper case where the action pushes a box. None unless ``exact``.
    plan: str | None
    #: Search nodes; 0 where a table answered.
    nodes: int
    #: CPU time of the thread that solved it, tables of the level included.
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class SolveRequest:
    """How to solve. Answers are those of ``Puzzle.solve`` and depend neither on ``threads`` nor on the order."""

    limits: Limits = field(default_factory=Limits)
    ties: Literal["first", "random"] = "first"
    seed: int = 0
    #: Levels at a time; None is one per core. The limits are for each of them.
    threads: int | None = None


def solve_level(
    task: Puzzle,
    state: Grid,
    request: SolveRequest,
    index: int,
    title: str,
    progress: Callable[[int], None] | None = None,
) -> Solved:
    """One level; its random plan is its own, whatever is solved beside it."""
    seed = int.from_bytes(sha256(f"{request.seed}/{index}".encode()).digest()[:7], "big")
    began = time.thread_time()
    solutions = task.solve(state[None], request.limits, ties=request.ties, seed=seed, threads=1, progress=progress)
    seconds = time.thread_time() - began
    status = Status(int(solutions.status[0]))
    exact = status is Status.EXACT
    return Solved(
        index=index,
        title=title,
        rows=state.shape[0],
        columns=state.shape[1],
        status=status.name.lower(),
        length=int(solutions.length[0]) if exact else None,
        bound=None if status is Status.UNSOLVABLE else int(solutions.bound[0]),
        plan=letters(task, state, solutions[0]) if exact else None,
        nodes=int(solutions.nodes[0]),
        seconds=round(seconds, 6),
    )


class _Stopped(Exception):
    """Raised inside a worker's call once nobody waits for it."""


def solve_all(
    task_name: str,
    states: Sequence[Grid],
    titles: Sequence[str],
    request: SolveRequest,
    tell: Callable[[int, float], None] | None = None,
) -> Iterator[Solved]:
    """The answers in the order of the levels, each as soon as it and all before it are known.

    ``tell`` is called some ten times a second with (levels done, seconds so far), on the calling thread. Ctrl-C, or
    leaving the loop, stops all workers within some hundredths of a second.
    """
    stop, began = threading.Event(), time.monotonic()

    def check(_done: int) -> None:
        if stop.is_set():
            raise _Stopped

    def work(index: int) -> Solved:
        check(0)
        state = states[index]
        shape = (int(state.shape[0]), int(state.shape[1]))
        return solve_level(TASKS[task_name].of_states(shape), state, request, index, titles[index], check)

    pool = ThreadPoolExecutor(request.threads or os.cpu_count() or 1, "solve")
    try:
        futures = [pool.submit(work, index) for index in range(len(states))]
        for index, future in enumerate(futures):
            _await(future, futures[index:], lambda left: tell and tell(len(states) - left, time.monotonic() - began))
            yield future.result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _await(future: Future[Solved], open_: list[Future[Solved]], tell: Callable[[int], object]) -> None:
    while not future.done():
        wait([future], TICK, FIRST_COMPLETED)
        tell(sum(not other.done() for other in open_))


def totals(solved: Sequence[Solved]) -> dict[str, Any]:
    """How many ended how, and what all of them cost together."""
    kinds = [level.status for level in solved]
    return {
        "levels": len(solved),
        "exact": kinds.count("exact"),
        "unsolvable": kinds.count("unsolvable"),
        "unknown": sum(kind.endswith("_limit") for kind in kinds),
        "actions": sum(level.length or 0 for level in solved),
        "nodes": sum(level.nodes for level in solved),
        "seconds": round(sum(level.seconds for level in solved), 6),
    }
