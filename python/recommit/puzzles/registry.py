"""Registry of all puzzles. To add one, add a line to each of the two lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from recommit.puzzles.ice import Ice
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban

if TYPE_CHECKING:
    from recommit.puzzles.puzzle import Puzzle

#: Values of ``--task``.
Task = Literal["sliding", "sokoban", "ice"]
PUZZLES: tuple[type[Puzzle], ...] = (Sliding, Sokoban, Ice)

TASKS: dict[str, type[Puzzle]] = {kind.task: kind for kind in PUZZLES}


def puzzle(task: str) -> type[Puzzle]:
    """The class of a task."""
    if task not in TASKS:
        raise ValueError(f"task: expected one of {', '.join(TASKS)}, got {task!r:.80}")
    return TASKS[task]
