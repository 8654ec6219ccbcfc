"""Level files: packs of levels as text (the grammar is docs/guides/level-files.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from recommit import _core
from recommit.storage import safe_open
from recommit.storage.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Grid = NDArray[np.uint8]

#: Size limit of level files, checked before reading.
MAX_FILE_BYTES: int = _core.MAX_TEXT_BYTES
#: Size limit of ``Levels.states`` after padding.
MAX_STATES_BYTES = 2**30
_WALL = 1


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of one task, in the order of their file.

    A sequence of grids: ``levels[i]`` is one level as ``uint8[rows, columns]`` without padding, a slice is ``Levels``
    again. All arrays are read-only views, so it may be shared between threads.
    """

    #: ``"sokoban"``, ``"sliding"`` or another task.
    task: str
    #: Rows and columns of each level.
    shapes: tuple[tuple[int, int], ...]
    #: One per level; ``""`` if the file has none.
    titles: tuple[str, ...]
    #: The cells of all levels back to back.
    cells: Grid

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", self.cells.view())  # leave the caller's array writeable
        self.cells.flags.writeable = False

    def __reduce__(self) -> tuple[type[Levels], tuple[object, ...]]:
        return type(self), (self.task, self.shapes, self.titles, self.cells)  # so that copies are read-only, too

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *accumulate(rows * cols for rows, cols in self.shapes)]

    @cached_property
    def states(self) -> Grid:
        """All levels as ``uint8[N, H, W]``, smaller ones padded with walls at the right and at the bottom."""
        height = max((rows for rows, _ in self.shapes), default=0)
        width = max((cols for _, cols in self.shapes), default=0)
        if all(shape == (height, width) for shape in self.shapes):
            return self.cells.reshape(len(self), height, width)
        total = len(self) * height * width
        if total > MAX_STATES_BYTES:
            raise ValueError(
                f"states: expected at most {MAX_STATES_BYTES} bytes, got {total} for {len(self)} levels padded to "
                f"{height} by {width}; take slices, or levels[i]"
            )
        states = np.full((len(self), height, width), _WALL, np.uint8)
        for state, grid in zip(states, self, strict=True):
            state[: grid.shape[0], : grid.shape[1]] = grid
        states.flags.writeable = False
        return states

    def __len__(self) -> int:
        return len(self.shapes)

    def __iter__(self) -> Iterator[Grid]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Grid: ...
    @overload
    def __getitem__(self, key: slice) -> Levels: ...
    def __getitem__(self, key: int | slice) -> Grid | Levels:
        if isinstance(key, slice):
            chosen = range(len(self))[key]
            cells = np.concatenate([self[i].ravel() for i in chosen]) if chosen else np.empty(0, np.uint8)
            shapes, titles = tuple(self.shapes[i] for i in chosen), tuple(self.titles[i] for i in chosen)
            return Levels(self.task, shapes, titles, cells)
        index = range(len(self))[key]
        return self.cells[self._ends[index] : self._ends[index + 1]].reshape(self.shapes[index])

    def __repr__(self) -> str:
        return f"<{len(self)} {self.task} levels>"


def level_error(message: str, line: int = 0, column: int = 0) -> _core.LevelError:
    """Error for a malformed text, with its position if known."""
    error = _core.LevelError(message)
    error.line, error.column = line, column
    return error


def _check_size(size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise level_error(f"expected at most {MAX_FILE_BYTES} bytes of text, got {size}")


def parse_levels(text: str | bytes) -> Levels:
    """Parse the levels of a text; malformed text raises ``LevelError`` with line and column."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"text: expected str or bytes, got {type(text).__name__}")
    _check_size(len(text))
    # A lone surrogate becomes invalid UTF-8, which the parser refuses with its position.
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    task, cells, shapes, titles = _core.parse_levels(data)
    return Levels(task, tuple((rows, cols) for rows, cols in shapes.tolist()), tuple(titles), cells)


def read_levels(path: str | os.PathLike[str]) -> Levels:
    """Read a level file, after checking its size."""
    file_path = Path(path)
    try:
        with safe_open.reading(file_path) as file:
            _check_size(os.fstat(file.fileno()).st_size)
            return parse_levels(file.read(MAX_FILE_BYTES + 1))
    except _core.LevelError as error:
        raise level_error(f"{file_path}: {error}", error.line, error.column) from None


def format_levels(
    states: Levels | Grid | Sequence[Grid],
    titles: Sequence[str] | None = None,
    format: str = "xsb",
    *,
    task: str | None = None,
) -> str:
    """Format levels as text: ``Levels``, a batch ``uint8[N, H, W]``, or grids of different sizes.

    ``format`` places the titles: ``"xsb"`` (a ``Title:`` line below a level), ``"boxoban"`` (``; N`` above it) or
    ``"plain"`` (none). Without ``titles``, ``Levels`` keep their own, as far as the format can represent them.
    ``parse_levels`` recovers exactly these levels; states that cannot round-trip raise a ``ValueError``. Without
    ``task`` it is inferred from the first level's cells: permutations of 0..n-1 are sliding boards, and grids that no
    puzzle recognises are Sokoban.
    """
    levels = states if isinstance(states, Levels) else as_levels(states, task)
    if not len(levels):
        raise ValueError("states: expected at least one level, got none")
    chosen = _titles_for(levels, format) if titles is None else _checked_titles(titles)
    shapes = np.array(levels.shapes, np.int32).reshape(-1, 2)
    return _core.format_levels(levels.task, levels.cells, shapes, chosen, format)


def write_levels(
    path: str | os.PathLike[str],
    states: Levels | Grid | Sequence[Grid],
    titles: Sequence[str] | None = None,
    format: str = "xsb",
    *,
    task: str | None = None,
) -> None:
    """Write ``format_levels(...)`` to a file atomically."""
    data = format_levels(states, titles, format, task=task).encode("utf-8")
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(
            f"states: expected at most {MAX_FILE_BYTES} bytes of text, got {len(data)}; write several files"
        )
    with replacing(path) as file:
        file.write(data)


def as_levels(states: Any, task: str | None) -> Levels:
    """``Levels`` from arrays; only their types are checked here, their content by the core."""
    grids = list(states)
    for i, grid in enumerate(grids):
        if not isinstance(grid, np.ndarray) or grid.dtype != np.uint8:
            got = f"dtype {grid.dtype}" if isinstance(grid, np.ndarray) else type(grid).__name__
            raise TypeError(f"states[{i}]: expected an array of dtype uint8, got {got}")
        if grid.ndim != 2:
            raise ValueError(f"states[{i}]: expected 2 dimensions [rows, columns], got shape {grid.shape}")
    shapes = tuple((int(grid.shape[0]), int(grid.shape[1])) for grid in grids)
    cells = np.concatenate([grid.ravel() for grid in grids]) if grids else np.empty(0, np.uint8)
    # Valid levels belong to exactly one puzzle.
    known = task or (_core.recognise(grids[0]) if grids else None) or "sokoban"
    return Levels(known, shapes, ("",) * len(grids), cells)


def _titles_for(levels: Levels, format: str) -> list[str]:
    if format == "boxoban":
        return [title if title.isascii() and title.isdigit() else "" for title in levels.titles]
    return [""] * len(levels) if format == "plain" else list(levels.titles)


def _checked_titles(titles: Sequence[str]) -> list[str]:
    for i, title in enumerate(titles):
        if not isinstance(title, str):
            raise TypeError(f"titles[{i}]: expected str, got {type(title).__name__}")
        if any("\ud800" <= char <= "\udfff" for char in title):
            raise ValueError(f"titles[{i}]: expected text, got a lone surrogate")
    return list(titles)
