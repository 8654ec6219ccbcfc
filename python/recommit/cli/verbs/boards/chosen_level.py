"""The level that ``recommit play`` and ``render`` are about: one of a file, or a generated one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.cli.requests import WrongCall, puzzle, window
from recommit.puzzles.solver import puzzle_of

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.puzzles.levels import Grid
    from recommit.puzzles.puzzle import Puzzle


#: The puzzle of generated levels where nobody says one.
USUAL = "sokoban"


@dataclass(frozen=True, eq=False)
class ChosenLevel:
    """A state, its puzzle and what it is called."""

    task: Puzzle
    state: Grid
    title: str


@dataclass(frozen=True)
class LevelRequest:
    """Flags that say which levels there are; without a file they are generated, one after the other."""

    file: Path | None
    task: str | None
    size: tuple[int, ...]
    boxes: int
    length: tuple[int, ...] | None
    seed: int

    def level(self, index: int) -> ChosenLevel:
        """The level of this number, counted from 0."""
        if index < 0:
            raise WrongCall(f"index: expected at least 0, got {index}")
        return self._generated(index) if self.file is None else self._read(self.file, index)

    def _read(self, file: Path, index: int) -> ChosenLevel:
        import recommit

        if self.task:
            raise WrongCall(f"task: expected none with a level file, which says its puzzle, got {self.task}")
        levels = recommit.read_levels(file)
        if index >= len(levels):
            raise WrongCall(f"index: expected 0..{len(levels) - 1}, got {index}")
        state = levels[index]
        return ChosenLevel(puzzle_of(state, levels.task), state, levels.titles[index] or f"level {index}")

    def _generated(self, index: int) -> ChosenLevel:
        task = self.task or USUAL
        try:
            kind = puzzle(task, self.size, self.boxes)
            (state,) = kind.generate(1, seed=self.seed, length=window(self.length), start=index).states
        except ValueError as error:
            raise WrongCall(str(error)) from None
        return ChosenLevel(puzzle_of(state, task), state, f"{task}, seed {self.seed}, number {index}")
