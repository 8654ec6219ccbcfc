"""The icy cave."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recommit import _core, checks
from recommit.puzzles.puzzle import Instances, Puzzle, Usual

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import States

#: Longest optimal length of generated caves.
LONGEST = 254


class Ice(Puzzle):
    """An icy cave of any size up to 64x64: an action sends the player sliding until a rock is in the way, and the cave
    is solved when it comes to rest on the goal; sliding over the goal does not count.

    ``size`` (rows, or (rows, columns), outer rock included) only affects ``generate``.
    """

    task = "ice"
    core: ClassVar[ModuleType] = _core.ice
    sides = (4, 64)
    highest = 4
    splits = ("starts", "layouts")
    usual = Usual(size=(8, 8), length=(3, 8), budgets={"loose": 6, "tight": 4})
    codes = "0 ice, 1 rock, 2 goal, 3 player, 4 player on goal."
    rules = (
        "This is an icy cave. An action sends the player up, down, left or right; it slides until a rock stops it. "
        "Bring it to rest on the goal."
    )

    def __init__(self, size: int | tuple[int, int] = 8) -> None:
        rows, cols = checks.pair("size", size)
        self.rows = checks.integer("size", rows, *self.sides)
        self.cols = checks.integer("size", cols, *self.sides)

    def legend(self) -> tuple[States, NDArray[np.intp]]:
        """Two small caves, one with the player on ice and one with the player on the goal."""
        states = np.array([[[1] * 5, [1, 0, 3, 2, 1], [1] * 5], [[1] * 5, [1, 0, 0, 4, 1], [1] * 5]], np.uint8)
        return states, np.unique(states, return_index=True)[1]

    @classmethod
    def layouts(cls, states: States) -> States:
        """Rocks and goal."""
        return np.array([0, 1, 2, 0, 2], np.uint8)[states]

    def generate(
        self,
        count: int,
        *,
        seed: int = 0,
        length: int | tuple[int, int] | None = None,
        start: int = 0,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Instances:
        """``count`` solvable caves; cave i depends on (size, seed, length, start + i) alone, and its length is exact.

        A length is drawn uniformly from the window. Then caves are drawn (4/64 to 16/64 of the cells rocks, at random
        places, the goal on any other cell) until one has a start of this length, and the start uniformly among those:
        given the number of rocks, all caves with such a start are equally likely. If 1,024 caves have none, or without
        ``length``, the length is drawn uniformly from those of a cave.
        """
        count, seed, start = checks.batch(count, seed, start, self.rows * self.cols)
        low, high = (1, LONGEST) if length is None else checks.window(length, 1, LONGEST)
        states, lengths = self.core.generate(
            *self.shape, count, shortest=low, longest=high, seed=seed, start=start, threads=threads, progress=progress
        )
        return Instances(self.task, self.size_name, seed, start, states, lengths)
