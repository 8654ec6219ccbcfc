"""Optimal plans for levels from any source: ``recommit.solve("levels.txt")``, and the command ``recommit solve``."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit import checks
from recommit.puzzles.levels import Levels, as_levels, parse_levels, read_levels
from recommit.puzzles.puzzle import Instance, Instances
from recommit.puzzles.registry import TASKS
from recommit.puzzles.solutions import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.puzzles.levels import Grid
    from recommit.puzzles.puzzle import Puzzle
    from recommit.puzzles.solutions import Limits, Solutions


@dataclass(frozen=True)
class Solution:
    """The solver's answer for one level, with its cost."""

    title: str
    status: Status
    #: Optimal number of actions, or UNSOLVABLE, or UNKNOWN.
    length: int
    #: Proven lower bound of the length.
    bound: int
    #: 0 up, 1 down, 2 left, 3 right; empty unless the status is EXACT.
    actions: tuple[int, ...]
    task: str
    state: Grid = field(repr=False, compare=False)
    #: Search nodes; 0 if a table was used.
    nodes: int = field(default=0, compare=False)
    #: CPU time of the solving thread, including the level's tables.
    seconds: float = field(default=0.0, compare=False)

    @property
    def letters(self) -> str:
        """One letter per action, u d l r; upper case where it pushes a box."""
        return letters(puzzle_of(self.state, self.task), self.state, np.array(self.actions, np.uint8))


def _solution(task: str, state: Grid, title: str, solutions: Solutions, row: int, seconds: float = 0.0) -> Solution:
    """The ``Solution`` of one row of ``solutions``."""
    return Solution(
        title,
        Status(int(solutions.status[row])),
        int(solutions.length[row]),
        int(solutions.bound[row]),
        tuple(solutions[row].tolist()),
        task,
        state,
        int(solutions.nodes[row]),
        round(seconds, 6),
    )


def solve(
    levels: str | os.PathLike[str] | Levels | Instances | Instance | Grid | Sequence[Any],
    limit: Limits | None = None,
    *,
    ties: Literal["first", "random"] = "first",
    seed: int = 0,
    threads: int | None = None,
) -> Any:
    """An optimal plan for every level, as a list of ``Solution``, or one ``Solution`` for a single state.

    ``levels`` is a level file, the text of one (with line breaks), ``Levels``, ``Instances``, one state, a batch, or
    grids of several sizes. The puzzle of an array is inferred from its cells. The other arguments are those of
    ``Puzzle.solve``.
    """
    pack, one = _pack(levels)
    answers: dict[int, Solution] = {}
    for shape in dict.fromkeys(pack.shapes):
        places = [i for i, other in enumerate(pack.shapes) if other == shape]
        batch = np.stack([pack[i] for i in places])
        solutions = TASKS[pack.task].of_states(shape).solve(batch, limit, ties=ties, seed=seed, threads=threads)
        for row, place in enumerate(places):
            answers[place] = _solution(pack.task, batch[row], pack.titles[place], solutions, row)
    return answers[0] if one else [answers[place] for place in range(len(pack))]


def _pack(levels: Any) -> tuple[Levels, bool]:
    """``Levels`` from any argument of ``solve``, and True if it is a single state."""
    if isinstance(levels, str) and "\n" in levels:
        return parse_levels(levels), False
    if isinstance(levels, str | os.PathLike):
        return read_levels(levels), False
    if isinstance(levels, Levels):
        return levels, False
    if isinstance(levels, Instance):
        shape = (int(levels.state.shape[0]), int(levels.state.shape[1]))
        return Levels(levels.id.partition("/")[0], (shape,), (levels.id,), levels.state.ravel()), True
    if isinstance(levels, Instances):
        rows, columns = levels.states.shape[1:]
        return Levels(levels.task, ((rows, columns),) * len(levels), tuple(levels.ids), levels.states.ravel()), False
    if isinstance(levels, list | tuple) and all(isinstance(each, np.ndarray) for each in levels):
        return as_levels(levels, None), False
    if not isinstance(levels, list | tuple | np.ndarray):
        raise TypeError(f"levels: expected a file, levels, a state or several, got {type(levels).__name__}")
    batch, one = checks.grids(levels, "levels")
    return as_levels(np.ascontiguousarray(batch), None), one


def puzzle_of(state: Grid, task: str | None = None) -> Puzzle:
    """The puzzle of a state, inferred from its cells without ``task``."""
    rows, columns = state.shape
    return TASKS[task or as_levels(state[None], None).task].of_states((int(rows), int(columns)))


def letters(task: Puzzle, state: Grid, plan: NDArray[np.uint8]) -> str:
    """The plan as letters, after a replay that checks that exactly the last action reaches the goal."""
    count = len(plan)
    prefixes = np.arange(1, count + 1, dtype=np.int32)
    after = task.execute(np.repeat(state[None], count, 0), np.repeat(plan[None], count, 0), prefixes, threads=1)
    reached = after.solved if count else task.is_solved(state[None])
    if not reached[-1] or reached[:-1].any():
        raise AssertionError(f"a plan of {count} actions does not end at the goal, or goes on after it")
    pushes = task.pushes(np.concatenate([state[None], after.states]))
    return "".join("UDLR"[action] if push else "udlr"[action] for action, push in zip(plan, pushes, strict=True))


def cores() -> int:
    """Number of cores available to this process, which a batch system may limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Stopped(Exception):
    """Raised in workers to stop them once the caller has left."""


def solve_all(
    task_name: str,
    states: Sequence[Grid],
    titles: Sequence[str],
    limit: Limits | None = None,
    *,
    ties: Literal["first", "random"] = "first",
    seed: int = 0,
    threads: int | None = None,
    tell: Callable[[int, float], None] | None = None,
) -> Iterator[Solution]:
    """Yield the solutions in the order of the levels, as soon as available.

    ``threads`` levels are solved concurrently (None: one per core), each under ``limit``; a level's random plan does
    not depend on the others. ``tell`` is called about ten times a second with (levels done, elapsed seconds), on the
    calling thread. Ctrl-C, or leaving the loop, stops all workers within some hundredths of a second.
    """
    stop, began = threading.Event(), time.monotonic()

    def check(_done: int) -> None:
        if stop.is_set():
            raise _Stopped

    def work(index: int) -> Solution:
        check(0)
        own = int.from_bytes(sha256(f"{seed}/{index}".encode()).digest()[:7], "big")
        state, task, since = states[index], puzzle_of(states[index], task_name), time.thread_time()
        solutions = task.solve(state[None], limit, ties=ties, seed=own, threads=1, progress=check)
        return _solution(task_name, state, titles[index], solutions, 0, time.thread_time() - since)

    pool = ThreadPoolExecutor(threads or cores(), "solve")
    try:
        futures = [pool.submit(work, index) for index in range(len(states))]
        for future in futures:
            while not future.done():
                wait([future], 0.1, FIRST_COMPLETED)
                if tell is not None:
                    tell(sum(other.done() for other in futures), time.monotonic() - began)
            yield future.result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def totals(solved: Sequence[Solution]) -> dict[str, Any]:
    """Counts by status, and total cost."""
    kinds = [level.status for level in solved]
    exact, unsolvable = kinds.count(Status.EXACT), kinds.count(Status.UNSOLVABLE)
    return {
        "levels": len(solved),
        "exact": exact,
        "unsolvable": unsolvable,
        "unknown": len(solved) - exact - unsolvable,
        "actions": sum(len(level.actions) for level in solved),
        "nodes": sum(level.nodes for level in solved),
        "seconds": round(sum(level.seconds for level in solved), 6),
    }
