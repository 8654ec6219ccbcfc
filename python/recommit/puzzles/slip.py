"""Slippery cells: where the player, or the blank, stands on a marked cell, an action fails with a known probability.

An action that fails changes nothing and counts, like one that is blocked. Marks are of places and stay where they are;
pictures show them. Whether an action slips is decided by a uniform number of whoever plays, so that the same numbers
give the same episode; commitment graphs take the expectation over both ways instead (``recommit.graph.delays``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.horizon.checks import number
from recommit.puzzles import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle, States

#: Marked cells are hatched: every so many-th diagonal line of pixels has this colour.
HATCH, COLOUR = 4, (56, 132, 255)


@dataclass(frozen=True, eq=False)
class Slip:
    """Marked cells, and how likely an action fails there.

    Args:
        marks: bool [rows, columns], for all states of a size.
        probability: 0 to 1.
    """

    marks: NDArray[np.bool_]
    probability: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", number("probability", self.probability, 0.0))
        if self.probability > 1:
            raise ValueError(f"probability: expected at most 1, got {self.probability}")
        if not isinstance(self.marks, np.ndarray) or self.marks.dtype != np.bool_ or self.marks.ndim != 2:
            raise ValueError("marks: expected an array bool [rows, columns], got " + _described(self.marks))

    def marked(self, puzzle: Puzzle, states: States) -> NDArray[np.bool_]:
        """[N] does an action of each state begin on a marked cell?"""
        if states.shape[1:] != self.marks.shape:
            raise ValueError(f"marks: expected the shape of the states, {states.shape[1:]}, got {self.marks.shape}")
        result: NDArray[np.bool_] = np.any(np.isin(states, puzzle.movers) & self.marks, axis=(1, 2))
        return result

    def step(
        self, puzzle: Puzzle, states: States, actions: NDArray[np.integer], uniform: NDArray[np.floating]
    ) -> States:
        """States after one action each, which fails on a marked cell where its ``uniform`` number, of [0, 1), is below
        the probability."""
        fails = self.marked(puzzle, states) & (uniform < self.probability)
        return np.where(fails[:, None, None], states, puzzle.step(states, actions))

    def picture(self, puzzle: Puzzle, states: States, cell: int = 28, *, theme: str = "light") -> NDArray[np.uint8]:
        """Pictures like those of ``puzzle.render``, the marked cells hatched."""
        batch, one = checks.grids(states)
        self.marked(puzzle, batch)  # the shapes fit
        images = puzzle.render(batch, cell, theme=theme)
        lines = np.add.outer(np.arange(images.shape[1]), np.arange(images.shape[2])) % HATCH == 0
        images[:, lines & self.marks.repeat(cell, axis=0).repeat(cell, axis=1)] = COLOUR
        return images[0] if one else images


def diagonals(shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Marks on every third diagonal: a third of the cells, among them the middle of 3x3."""
    result: NDArray[np.bool_] = np.add.outer(np.arange(shape[0]), np.arange(shape[1])) % 3 == 2
    return result


def _described(marks: object) -> str:
    return f"{marks.dtype}{list(marks.shape)}" if isinstance(marks, np.ndarray) else type(marks).__name__
