"""Sokoban."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from recommit import _core, checks
from recommit.puzzles.puzzle import Instances, Puzzle, Usual
from recommit.puzzles.solutions import UNKNOWN, Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import NDArray

    from recommit.checks import Grids
    from recommit.puzzles.puzzle import States

#: Longest optimal length of generated levels.
LONGEST = 254
#: Levels tried per instance by generators without control over the length.
TRIES = 8192
#: Stride of instance numbers between attempts at one instance, whose numbers are distinct up to ``spec.MOST_REVERSE``
#: files of a split.
ATTEMPT = 1 << 47


class Sokoban(Puzzle):
    """Sokoban on any grid up to 64x64; ``size`` (rows, or (rows, columns), outer wall included) and ``boxes`` only
    affect ``generate``."""

    task = "sokoban"
    core: ClassVar[ModuleType] = _core.sokoban
    sides = (4, 64)
    most_boxes = 1024
    highest = 6
    splits = ("starts", "layouts")
    generators = ("rooms", "reverse", "boxoban")
    level_sets = ("unfiltered", "medium", "hard")
    usual = Usual(size=(8, 8), length=(8, 32), budgets={"loose": 6, "tight": 4})
    codes = "0 floor, 1 wall, 2 goal, 3 box, 4 box on goal, 5 player, 6 player on goal."
    rules = (
        "This is a Sokoban level. An action moves the player up, down, left or right and pushes a box in front of it. "
        "Bring every box onto a goal."
    )

    def __init__(self, size: int | tuple[int, int] = 8, boxes: int = 2) -> None:
        rows, cols = checks.pair("size", size)
        self.rows = checks.integer("size", rows, *self.sides)
        self.cols = checks.integer("size", cols, *self.sides)
        self.boxes = checks.integer("boxes", boxes, 1, self.most_boxes)

    @classmethod
    def of(cls, size: tuple[int, int], boxes: int) -> Puzzle:
        """The puzzle for levels of this size with ``boxes`` boxes."""
        return cls(size, boxes)

    @classmethod
    def budgets(cls, shape: tuple[int, ...]) -> dict[str, int]:
        """See ``Puzzle.budgets``: levels as large as Boxoban's have a median length of 30, those of the paper of 17."""
        return {"loose": 11, "tight": 7} if min(shape) >= 10 else cls.usual.budgets

    @property
    def size_name(self) -> str:
        """For example ``8x8-2``."""
        return f"{self.rows}x{self.cols}-{self.boxes}"

    def legend(self) -> tuple[States, NDArray[np.intp]]:
        """Two small levels, one with the player on floor and one with the player on a goal."""
        rows = [[1] * 7, [1, 0, 5, 3, 2, 4, 1], [1] * 7], [[1] * 7, [1, 6, 3, 0, 0, 0, 1], [1] * 7]
        states = np.array(rows, np.uint8)
        return states, np.unique(states, return_index=True)[1]

    @classmethod
    def digests(cls, states: States, threads: int | None = None) -> NDArray[np.uint64]:
        """See ``Puzzle``; all eight symmetries share it, and walls away from the player's region do not count."""
        return np.ascontiguousarray(_core.sokoban.canonical_digests(states, threads=threads)[:, 0])

    @classmethod
    def layouts(cls, states: States) -> States:
        """Walls and goals, without player and boxes; cells that the player can never reach become walls."""
        open_cells = states != 1
        inside = (states == 5) | (states == 6)
        while True:
            grown = inside.copy()
            grown[:, 1:] |= inside[:, :-1]
            grown[:, :-1] |= inside[:, 1:]
            grown[:, :, 1:] |= inside[:, :, :-1]
            grown[:, :, :-1] |= inside[:, :, 1:]
            grown &= open_cells
            if (grown == inside).all():
                break
            inside = grown
        goals = (states == 2) | (states == 4) | (states == 6)
        return np.where(inside, np.where(goals, 2, 0), 1).astype(np.uint8)

    def optimal_actions_everywhere(
        self,
        states: Grids,
        limit: Limits | None = None,
        *,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.bool_]:
        """``optimal_actions`` with the player placed on every cell: ``bool[N, rows, columns, 4]``, all False on walls,
        boxes, and cells that are unreachable even without boxes. A level's table has all of them; searches beyond it
        share the state's limit, and further cells are all False once it is spent."""
        limits, (batch, one) = Limits.of(limit), checks.grids(states)
        result: NDArray[np.bool_] = self.core.optimal_actions_everywhere(
            self.check(batch), **limits, threads=threads, progress=progress
        )
        return result[0] if one else result

    def pushes(self, states: States) -> list[bool]:
        """For each pair of consecutive states, True if a box moved."""
        boxes = np.isin(states, (3, 4))
        return (boxes[1:] != boxes[:-1]).any(axis=(1, 2)).tolist()

    def generate(
        self,
        count: int,
        *,
        seed: int = 0,
        length: int | tuple[int, int] | None = None,
        start: int = 0,
        threads: int | None = None,
        generator: Literal["rooms", "reverse", "boxoban"] = "rooms",
        progress: Callable[[int], None] | None = None,
    ) -> Instances:
        """``count`` solvable levels; level i depends on (size, boxes, seed, length, start + i) alone.

        ``rooms`` draws layouts from several families and the start from the layout's complete distance table, so that
        every length is exact and lies in the window ``length``. ``boxoban`` does the same on layouts like Boxoban's: a
        random walk with a broad brush, goals anywhere. ``reverse`` plays pulls backwards from a solved room and adds
        walls, on any size; its lengths are computed (and in the window) only if ``length`` is given.
        """
        count, seed, start = checks.batch(count, seed, start, self.rows * self.cols)
        checks.choice("generator", generator, self.generators)
        window = (1, LONGEST) if length is None else checks.window(length, 1, LONGEST)
        size = (self.rows, self.cols, self.boxes)
        how: dict[str, Any] = {"seed": seed, "start": start, "threads": threads, "progress": progress}
        if generator != "reverse":
            states, lengths = self.core.generate_rooms(
                *size, count, shortest=window[0], longest=window[1], walked=generator == "boxoban", **how
            )
        elif length is None:
            states = self.core.generate_reverse(*size, count, **how)
            lengths = np.full(count, UNKNOWN, np.int32)
        else:
            states, lengths = self._reverse_in_window(count, window, **how)
        return Instances(self.task, self.named(generator), seed, start, states, lengths)

    def _reverse_in_window(
        self,
        count: int,
        window: tuple[int, int],
        seed: int,
        start: int,
        threads: int | None,
        progress: Callable[[int], None] | None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Accept the first attempt within the window; attempt a of instance i has number a * ATTEMPT + i."""
        states = np.empty((count, *self.shape), np.uint8)
        lengths = np.full(count, UNKNOWN, np.int32)
        open_ = np.arange(count)
        for attempt in range(TRIES):
            if not len(open_):
                return states, lengths
            tried = np.concatenate(
                [
                    self.core.generate_reverse(
                        self.rows,
                        self.cols,
                        self.boxes,
                        int(run[-1] - run[0]) + 1,
                        seed=seed,
                        start=start + int(run[0]) + attempt * ATTEMPT,
                        threads=threads,
                    )
                    for run in np.split(open_, np.flatnonzero(np.diff(open_) > 1) + 1)
                ]
            )
            exact = self.distance(tried, threads=threads)
            fits = (exact >= window[0]) & (exact <= window[1])
            states[open_[fits]], lengths[open_[fits]] = tried[fits], exact[fits]
            open_ = open_[~fits]
            if progress is not None:
                progress(count - len(open_))
        raise ValueError(
            f"length: expected a window that {self.size_name} levels of this generator reach, got {window} "
            f"(instance {start + int(open_[0])} found none in {TRIES} tries)"
        )
