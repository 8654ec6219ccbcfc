"""Which games are played: a puzzle, its difficulty, a budget and how boards are shown, and instances by split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.data import held_out
from recommit.data.spec import SPLITS, DataSpec, Difficulty
from recommit.prices import Prices
from recommit.puzzles import registry
from recommit.puzzles.frames import MAX_CELL, MIN_CELL
from recommit.zero_shot.game import CELL, MOVES, VIEWS, Game, prompts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.puzzles.puzzle import Puzzle

#: Default number of instances of a split.
COUNT = 256
#: Most observations of a game.
MOST_OBSERVATIONS = 64


@dataclass(frozen=True)
class GameSpec:
    """Equal specs deal equal games. The test games are those of ``recommit evaluate`` on data of the same recipe.

    Empty values of ``size``, ``length`` and ``budget`` are the puzzle's usual ones, with the loose budget. Each split
    has ``count`` instances.
    """

    task: str = "sliding"
    size: tuple[int, ...] = ()
    boxes: int = 0
    length: tuple[int, ...] = ()
    budget: int = 0
    count: int = COUNT
    seed: int = 0
    view: str = VIEWS[0]
    cell: int = CELL
    moves: str = MOVES[0]
    price_action: float = 0.0
    price_observation: float = 0.0

    def __post_init__(self) -> None:
        puzzle = registry.puzzle(self.task)
        self._fill("size", self._pair("size", self.size) or puzzle.usual.size)
        self._fill("length", self._pair("length", self.length) or puzzle.usual.length)
        self._fill("budget", self.budget or puzzle.budgets(self.size)["loose"])
        if puzzle.most_boxes:
            self._fill("boxes", self.boxes or 2)
        if not 1 <= self.budget <= MOST_OBSERVATIONS:
            raise ValueError(f"budget: expected 1..{MOST_OBSERVATIONS}, got {self.budget}")
        if self.count < 1:
            raise ValueError(f"count: expected at least 1, got {self.count}")
        checks.integer("cell", self.cell, MIN_CELL, MAX_CELL)
        prompts(self.task, self.moves, self.view)

    def _fill(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @staticmethod
    def _pair(name: str, value: Any) -> tuple[int, ...]:
        """Two numbers; one stands for both, alone or in a list: configurations of others have both forms."""
        numbers = tuple(int(number) for number in ((value,) if isinstance(value, int) else value))
        if len(numbers) > 2:
            raise ValueError(f"{name}: expected one or two numbers, got {len(numbers)}")
        return (numbers[0], numbers[-1]) if numbers else ()

    @cached_property
    def puzzle(self) -> Puzzle:
        """The task."""
        return registry.puzzle(self.task).of((self.size[0], self.size[1]), self.boxes)

    @cached_property
    def data(self) -> DataSpec:
        """The recipe of a data set whose instances these are."""
        difficulty = Difficulty((self.length[0], self.length[1]), self.boxes)
        size, many = (self.size[0], self.size[1]), self.count
        return DataSpec(self.task, size, (difficulty,), many, validation=many, test=many, seed=self.seed)

    def starts(self, split: str) -> Starts:
        """The instances of a split, made once per process."""
        if split not in SPLITS:
            raise ValueError(f"split: expected one of {', '.join(SPLITS)}, got {split!r}")
        return _starts(self.data, split, self.count)

    def ids(self, split: str) -> list[str]:
        """Names of the instances, as data sets and evaluations have them."""
        starts = self.starts(split)
        return self.data.ids(starts.difficulty.tolist(), starts.number.tolist())

    def game(self, split: str, index: int) -> Game:
        """A fresh game of an instance."""
        if not 0 <= index < self.count:
            raise IndexError(f"index: expected 0..{self.count - 1}, got {index}")
        return self.of_state(self.starts(split).states[index])

    def of_state(self, state: NDArray[np.uint8] | list[list[int]]) -> Game:
        """A fresh game from any start, which may have another size."""
        cells = np.asarray(state)
        if cells.ndim != 2:
            raise ValueError(f"state: expected rows of cells, got {cells.ndim} dimensions")
        if cells.dtype.kind not in "iu" or (cells.size and not 0 <= cells.min() <= cells.max() <= 255):
            raise ValueError(f"state: expected cells 0..255, got {cells.dtype} {cells.tolist()[0]}")
        start = cells.astype(np.uint8)
        fits = start.shape == tuple(self.size)
        puzzle = self.puzzle if fits else registry.puzzle(self.task).of_states((start.shape[0], start.shape[1]))
        how: dict[str, Any] = {"view": self.view, "cell": self.cell, "moves": self.moves}
        return Game(puzzle, start, self.budget, prices=Prices(self.price_action, self.price_observation), **how)


@lru_cache(maxsize=64)
def _starts(spec: DataSpec, split: str, count: int) -> Starts:
    return held_out.starts(spec, split, count, ())
