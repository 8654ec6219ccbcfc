"""``recommit bench``: how fast the core is here, on one thread, in CPU time.

The real benchmarks, which stand beside other people's code, are in the folder ``bench`` of the repository.
"""

from __future__ import annotations

import time
from json import dumps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.puzzles.registry import PUZZLES
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.puzzles.puzzle import Puzzle

Result = TypeVar("Result")

TASKS: tuple[Puzzle, ...] = (*(kind.of(kind.usual.size, 2) for kind in PUZZLES), Sliding(4), Sokoban(10, boxes=4))
FRAMES = 256


def bench(signature: bool = False, json: bool = False) -> None:
    """Time the core on this machine (one thread, CPU time), or print what it computes as one number per part.

    Args:
        signature: Print the numbers that every build on every machine must agree on.
        json: Print JSON.
    """
    if signature:
        from recommit.puzzles.signature import signature as compute

        numbers = {part: f"{number:016x}" for part, number in compute().items()}
        tell(dumps(numbers, indent=2) if json else "\n".join(f"{p:<8}{n}" for p, n in numbers.items()))
        return
    rows = [play(task) for task in TASKS]
    tell(dumps(rows, indent=2) if json else table(rows))


def play(task: Puzzle, boards: int = 2048, actions: int = 256, seed: int = 0) -> dict[str, Any]:
    """Generate boards, execute up to ``actions`` random actions on each, draw some of them; rates count one thread's
    CPU time, and only actions that were executed, since a board stops at its goal."""
    task.generate(1, seed=seed + 1, threads=1)  # tables and sprites are made once, on first use
    instances, generating = _timed(lambda: task.generate(boards, seed=seed, threads=1))
    plan = np.random.default_rng(seed).integers(0, 4, (boards, actions), np.uint8)
    depths = np.full(boards, actions, np.int32)
    outcome, executing = _timed(lambda: task.execute(instances.states, plan, depths, threads=1))
    shown = instances.states[:FRAMES]
    frames = task.render(shown, cell=28, threads=1)
    _, drawing = _timed(lambda: task.render(shown, cell=28, out=frames, threads=1))
    executed = int(outcome.executed.sum())
    return {
        "task": task.task,
        "variant": task.size_name,
        "boards": boards,
        "actions": executed,
        "moved": int(outcome.moved.sum()),
        "solved": int(outcome.solved.sum()),
        "boards_per_second": boards / generating,
        "actions_per_second": executed / executing,
        "frames_per_second": len(frames) / drawing,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text."""
    lines = [f"{'puzzle':<16}{'boards/s':>12}{'actions/s':>14}{'frames/s':>12}{'moved':>8}{'solved':>9}"]
    lines += [
        f"{row['task'] + ' ' + row['variant']:<16}{row['boards_per_second']:>12,.0f}{row['actions_per_second']:>14,.0f}"
        f"{row['frames_per_second']:>12,.0f}{row['moved'] / max(row['actions'], 1):>8.0%}"
        f"{row['solved'] / row['boards']:>9.1%}"
        for row in rows
    ]
    return "\n".join(lines)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What ``work`` returns, and the CPU seconds it took."""
    begin = time.process_time()
    result = work()
    return result, max(time.process_time() - begin, 1e-9)
