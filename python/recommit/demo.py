"""A first look: generate boards of both puzzles, play them at random, time the core, draw a gallery.

Run it with ``python -m recommit.demo [FOLDER]``; it takes a few seconds.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.puzzles.puzzle import Puzzle

Result = TypeVar("Result")

#: What the demo plays, and the number of boards and of actions on each.
TASKS: tuple[Puzzle, ...] = (Sliding(3), Sliding(4), Sokoban(8, boxes=2), Sokoban(10, boxes=4))
BOARDS = 2048
ACTIONS = 256


@dataclass(frozen=True)
class Played:
    """What happened on one task: rates count one thread's CPU time."""

    task: Puzzle
    boards: int
    solved: int
    moved: float
    generated_per_second: float
    steps_per_second: float
    frames_per_second: float


def play(task: Puzzle, boards: int = BOARDS, actions: int = ACTIONS, seed: int = 0) -> Played:
    """Generate boards, then execute random actions on each until it is solved or they run out."""
    instances, generating = _timed(lambda: task.generate(boards, seed=seed, threads=1))
    plan = np.random.default_rng(seed).integers(0, 4, (boards, actions), np.uint8)
    depths = np.full(boards, actions, np.int32)
    outcome, executing = _timed(lambda: task.execute(instances.states, plan, depths, threads=1))
    _, drawing = _timed(lambda: task.render(instances.states[:256], cell=28, threads=1))
    executed = int(outcome.executed.sum())
    return Played(
        task=task,
        boards=boards,
        solved=int(outcome.solved.sum()),
        moved=int(outcome.moved.sum()) / max(executed, 1),
        generated_per_second=boards / generating,
        steps_per_second=executed / executing,
        frames_per_second=min(boards, 256) / drawing,
    )


def main(folder: Path) -> None:
    """Play every task, print what happened, and leave ``gallery.png`` in ``folder``."""
    from recommit.gallery import gallery

    print(f"{BOARDS} boards of each puzzle, up to {ACTIONS} random actions on each, one thread:\n")
    print(f"{'puzzle':<16}{'boards/s':>12}{'steps/s':>14}{'frames/s':>12}{'moved':>8}{'solved':>9}")
    for task in TASKS:
        row = play(task)
        print(
            f"{task.task + ' ' + task.variant:<16}{row.generated_per_second:>12,.0f}{row.steps_per_second:>14,.0f}"
            f"{row.frames_per_second:>12,.0f}{row.moved:>8.0%}{row.solved / row.boards:>9.1%}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "gallery.png"
    gallery(path)
    print(f"\nA picture of the puzzles: {path}")


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What ``work`` returns, and the CPU seconds it took."""
    begin = time.process_time()
    result = work()
    return result, max(time.process_time() - begin, 1e-9)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out"))
