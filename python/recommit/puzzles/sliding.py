"""The sliding puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from recommit import _core, checks
from recommit.puzzles import walks
from recommit.puzzles.puzzle import Instances, Puzzle, Usual
from recommit.puzzles.solutions import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import States

#: Most cells of boards with a complete distance table.
TABLE_CELLS = 10
#: Upper limit of ``length``, above any known optimal length.
LONGEST = 255


class Sliding(Puzzle):
    """``rows`` by ``cols`` tiles (2..5 each); cells hold tile numbers, 0 is the blank, ``up`` moves the blank up."""

    task = "sliding"
    core: ClassVar[ModuleType] = _core.sliding
    sides = (2, 5)
    ringed = False
    turns = False
    splits = ("starts", "regions")
    generators = ("uniform", "walk", "walk_nobacktrack")
    usual = Usual(size=(3, 3), length=(16, 24), budgets={"loose": 15, "tight": 10})
    codes = "Tile numbers, 0 is the blank, and `up` moves the blank up."
    rules = (
        "This is a sliding puzzle. An action moves the blank up, down, left or right. Bring the tiles into "
        "reading order with the blank last."
    )

    def __init__(self, rows: int, cols: int | None = None) -> None:
        self.rows = checks.integer("rows", rows, *self.sides)
        self.cols = checks.integer("cols", rows if cols is None else cols, *self.sides)

    @classmethod
    def of(cls, size: tuple[int, int], boxes: int) -> Puzzle:  # noqa: ARG003
        """The puzzle for boards of this size."""
        return cls(*size)

    @classmethod
    def of_states(cls, shape: tuple[int, int]) -> Puzzle:
        """The puzzle for boards of exactly this shape."""
        return cls(*shape)

    @property
    def highest(self) -> int:
        """The last tile."""
        return self.rows * self.cols - 1

    @property
    def counts_by_length(self) -> list[int] | None:
        """See ``Puzzle``; from complete tables, up to ten cells."""
        return list(self.core.layer_sizes(*self.shape)) if self.rows * self.cols <= TABLE_CELLS else None

    def legend(self) -> tuple[States, NDArray[np.intp]]:
        """The solved board shows every tile, and the blank last."""
        cells = self.rows * self.cols
        solved = (np.arange(1, cells + 1) % cells).astype(np.uint8)
        return solved.reshape(1, *self.shape), np.argsort(solved)

    @classmethod
    def images(cls, states: States) -> Iterator[States]:
        """A square board and its transpose, tiles renamed so that the goal stays the goal."""
        yield states
        _, rows, columns = states.shape
        if rows == columns:
            goal = np.roll(np.arange(rows * columns, dtype=np.uint8), -1).reshape(rows, columns)
            rename = np.zeros(rows * columns, np.uint8)
            rename[goal.ravel()] = goal.T.ravel()
            yield rename[states.transpose(0, 2, 1)]

    def check(self, states: States, name: str = "states") -> States:
        """Check the shape of the boards and return them; the core checks the rest."""
        shape: tuple[int, ...] = getattr(states, "shape", ())
        if len(shape) == 3 and shape[1:] != self.shape:
            raise ValueError(f"{name}: expected boards of {self.size_name}, got {shape[1]}x{shape[2]}")
        return states

    def generate(
        self,
        count: int,
        *,
        seed: int = 0,
        length: int | tuple[int, int] | None = None,
        start: int = 0,
        threads: int | None = None,
        generator: Literal["uniform", "walk", "walk_nobacktrack"] = "uniform",
        progress: Callable[[int], None] | None = None,
    ) -> Instances:
        """``count`` solvable boards; board i depends on (shape, seed, length, generator, start + i) alone.

        With ``length``, a length is drawn uniformly from the window and then a board of exactly that length: uniformly
        from all of them on up to ten cells, by walks without reversal and an exact check on larger boards. Without it,
        boards come from long walks without reversal; their length is given where a complete table makes it free (up to
        ten cells), else it is ``UNKNOWN``.

        ``walk`` needs a ``length``: it accepts random walks from the goal of exactly that length whose end has that
        distance, as in the paper; ``walk_nobacktrack`` uses walks that never undo a move. Both are not uniform.
        """
        count, seed, start = checks.batch(count, seed, start, self.rows * self.cols)
        checks.choice("generator", generator, self.generators)
        how: dict[str, Any] = {"seed": seed, "start": start, "threads": threads, "progress": progress}
        if generator != "uniform":
            states, lengths = walks.boards(self, self._walked(length), count, plain=generator == "walk", **how)
        elif length is not None:
            window = checks.window(length, 1, LONGEST)
            states, lengths = self.core.generate_exact(*self.shape, count, shortest=window[0], longest=window[1], **how)
        else:
            states = self.core.generate_walks(*self.shape, count, **how)
            free = self.rows * self.cols <= TABLE_CELLS
            lengths = self.distance(states, threads=threads) if free else np.full(count, UNKNOWN, np.int32)
        return Instances(self.task, self.named(generator), seed, start, states, lengths)

    def _walked(self, length: int | tuple[int, int] | None) -> tuple[int, int]:
        """The window of lengths that walks of this shape can reach."""
        if length is None:
            raise ValueError("length: expected one for a generator that walks, got None")
        low, high = checks.window(length, 1, LONGEST)
        farthest = LONGEST if (counts := self.counts_by_length) is None else len(counts) - 1
        if low > farthest:
            raise ValueError(f"length: expected 1..{farthest} for {self.size_name} boards, got {low}..{high}")
        return low, min(high, farthest)

    def population(self) -> tuple[States, NDArray[np.int32]]:
        """All boards but the solved one, nearest first, and their lengths; up to ten cells."""
        if (counts := self.counts_by_length) is None:
            raise ValueError(f"population: expected boards of up to {TABLE_CELLS} cells, got {self.size_name}")
        layers, actions = [self.legend()[0]], np.arange(4, dtype=np.uint8)
        for length in range(1, len(counts)):
            beside = self.step(np.repeat(layers[-1], 4, axis=0), np.tile(actions, len(layers[-1])))
            layers.append(np.unique(beside[self.distance(beside) == length], axis=0))
        lengths = np.repeat(np.arange(len(layers)), [len(layer) for layer in layers])
        return np.concatenate(layers)[1:], lengths[1:].astype(np.int32)

    def prepare(
        self,
        database: Literal["small", "large"] = "small",
        *,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Load or compute this shape's tables: ``small`` takes seconds, ``large`` (4x4: 144 MB) minutes, once.

        Tables are cached on disk and shared by all processes; once loaded, this process uses the large ones.
        ``progress`` is called with (done, total). Returns size and origin of the tables.
        """
        total = self.core.placements(self.rows, self.cols, database=database)
        tell = None if progress is None else lambda done: progress(done, total)
        return self.core.prepare(self.rows, self.cols, database=database, threads=threads, progress=tell)
