"""The sliding puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recommit import _core
from recommit.puzzles import checks
from recommit.puzzles.instances import Instances
from recommit.puzzles.puzzle import Puzzle

if TYPE_CHECKING:
    from types import ModuleType

    from recommit.puzzles.puzzle import States


class Sliding(Puzzle):
    """``rows`` by ``cols`` tiles (2..5 each); cells hold tile numbers, 0 is the blank, ``up`` moves the blank up."""

    task = "sliding"
    core: ClassVar[ModuleType] = _core.sliding

    def __init__(self, rows: int, cols: int | None = None) -> None:
        self.rows = checks.integer("rows", rows, 2, 5)
        self.cols = checks.integer("cols", rows if cols is None else cols, 2, 5)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.cols

    @property
    def variant(self) -> str:
        """For example ``3x3``."""
        return f"{self.rows}x{self.cols}"

    def check(self, states: States, name: str = "states") -> States:
        """The states, if they are boards of this shape (anything else that is wrong with them the core finds)."""
        shape: tuple[int, ...] = getattr(states, "shape", ())
        if len(shape) == 3 and shape[1:] != self.shape:
            raise ValueError(f"{name}: expected boards of {self.variant}, got {shape[1]}x{shape[2]}")
        return states

    def generate(self, count: int, *, seed: int = 0, start: int = 0, threads: int | None = None) -> Instances:
        """Boards from random walks without immediate reversal; board i depends on (shape, seed, start + i) alone."""
        count, seed, start = checks.batch(count, seed, start)
        states = self.core.generate_walks(self.rows, self.cols, count, seed=seed, start=start, threads=threads)
        return Instances(self.task, self.variant, seed, start, states, np.full(count, -2, np.int32))
