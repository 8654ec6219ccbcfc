"""Level banks: the start states that episodes draw from, made once so that no reset ever waits for a generator."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.levels import Levels, read_levels
from recommit.puzzles import checks
from recommit.puzzles.sliding import Sliding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit import _core
    from recommit.puzzles.puzzle import Puzzle

    States = NDArray[np.uint8]

#: What ``levels`` may be: a file, levels that were read, or states.
Source = str | os.PathLike[str] | Levels | Any
MAX_BANK = 2**24


def sliding(
    rows: int | None, cols: int | None, size: int | None, levels: Source | None
) -> tuple[Puzzle, States | None]:
    """The task, and the start states where the caller brings some; shapes must not contradict each other."""
    if size is not None and (rows, cols) != (None, None):
        raise ValueError(f"size: expected either size or rows and cols, got size={size}, rows={rows}, cols={cols}")
    rows, cols = (size, size) if size is not None else (rows, rows if cols is None else cols)
    if levels is None:
        return Sliding(3 if rows is None else rows, cols), None
    states = _states("sliding", levels)
    shape = states.shape[1:]
    if rows is not None and (rows, cols) != shape:
        raise ValueError(f"levels: expected boards of {rows}x{cols}, got {shape[0]}x{shape[1]}")
    return Sliding(*shape), states


def grids(
    kind: type[Puzzle], size: int | tuple[int, int] | None, levels: Source | None, **others: Any
) -> tuple[Puzzle, States | None]:
    """The same for any puzzle that is made by ``kind(size, **others)``; what is None is left to the puzzle."""
    options = {name: value for name, value in {"size": size, **others}.items() if value is not None}
    if levels is None:
        return kind(**options), None
    for name in others:
        if name in options:
            raise ValueError(f"{name}: expected None where levels are given, got {options[name]}")
    states = _states(kind.task, levels)
    shape = states.shape[1:]
    if size is not None and (size if isinstance(size, tuple) else (size, size)) != shape:
        raise ValueError(f"levels: expected grids of size {size}, got {shape[0]}x{shape[1]}")
    return kind.of_states(shape), states


def bank(task: Puzzle, states: States | None, size: object, seed: object) -> _core.LevelBank:
    """The bank that ``states`` make, or the one that (task, size, seed) generate; the latter are shared."""
    if states is not None:
        own: _core.LevelBank = task.core.make_bank(states)
        return own
    return _generated(
        task, checks.integer("bank_size", size, 1, MAX_BANK), checks.integer("bank_seed", seed, 0, checks.MAX_SEED)
    )


@lru_cache(maxsize=16)
def _generated(task: Puzzle, size: int, seed: int) -> _core.LevelBank:
    bank: _core.LevelBank = task.core.make_bank(task.generate(size, seed=seed).states)
    return bank


def _states(task: str, source: Source) -> States:
    levels = read_levels(source) if isinstance(source, (str, os.PathLike)) else source
    if isinstance(levels, Levels):
        if levels.task != task:
            raise ValueError(f"levels: expected {task} levels, got {levels.task} levels")
        return np.ascontiguousarray(levels.states)
    if not isinstance(levels, np.ndarray):
        raise TypeError(f"levels: expected a path, Levels or a numpy array, got {type(levels).__name__}")
    if levels.ndim != 3:
        raise ValueError(f"levels: expected states of shape [N, rows, columns], got shape {levels.shape}")
    return levels
