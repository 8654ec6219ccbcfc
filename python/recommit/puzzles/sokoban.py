"""Sokoban."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recommit import _core
from recommit.puzzles import checks
from recommit.puzzles.instances import Instances
from recommit.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from types import ModuleType


class Sokoban(Puzzle):
    """Sokoban on any grid up to 64x64; ``size`` (rows, or (rows, columns), outer wall included) and ``boxes`` matter
    to ``generate`` only."""

    task = "sokoban"
    core: ClassVar[ModuleType] = _core.sokoban

    def __init__(self, size: int | tuple[int, int] = 8, boxes: int = 2) -> None:
        rows, cols = size if isinstance(size, tuple) else (size, size)
        self.rows = checks.integer("size", rows, 4, 64)
        self.cols = checks.integer("size", cols, 4, 64)
        self.boxes = checks.integer("boxes", boxes, 1, 1024)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, outer wall included."""
        return self.rows, self.cols

    @property
    def variant(self) -> str:
        """For example ``8x8-2``."""
        return f"{self.rows}x{self.cols}-{self.boxes}"

    def generate(self, count: int, *, seed: int = 0, start: int = 0, threads: int | None = None) -> Instances:
        """Levels from random reverse pulls, then walls; level i depends on (size, boxes, seed, start + i) alone."""
        count, seed, start = checks.batch(count, seed, start)
        states = self.core.generate_reverse(
            self.rows, self.cols, self.boxes, count, seed=seed, start=start, threads=threads
        )
        return Instances(self.task, self.variant, seed, start, states, np.full(count, -2, np.int32))
