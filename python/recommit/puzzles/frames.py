"""Pictures that stay: only cells that change are drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from recommit.puzzles import checks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    States = NDArray[np.uint8]

#: Cell sizes in pixels that can be drawn.
MIN_CELL, MAX_CELL = 4, 112
#: Colours that every puzzle can be drawn in; the first one is the default.
THEMES = ("light", "dark")


def style(cell: object, theme: object, crop: object) -> dict[str, int | str | bool]:
    """How to draw, as the core wants it."""
    if not isinstance(theme, str):
        raise TypeError(f"theme: expected a string, got {type(theme).__name__}")
    if theme not in THEMES:
        raise ValueError(f"theme: expected one of {', '.join(THEMES)}, got {theme}")
    if not isinstance(crop, bool):
        raise TypeError(f"crop: expected a bool, got {type(crop).__name__}")
    return {"cell": checks.integer("cell", cell, MIN_CELL, MAX_CELL), "theme": theme, "crop": crop}


class Drawable(Protocol):
    """What a puzzle can be asked for here."""

    @property
    def core(self) -> Any:
        """The compiled module."""

    def check(self, states: States, name: str = "states") -> States:
        """See ``Puzzle.check``."""

    def render(
        self, states: States, cell: int = 28, *, theme: str = "light", crop: bool = False, threads: int | None = None
    ) -> States:
        """See ``Puzzle.render``."""


class Frames:
    """One picture per state, in one buffer that lives as long as this object.

    ``images`` always shows the states of the last ``update`` that returned; one that raises changes nothing. Not
    thread-safe: one caller at a time.
    """

    def __init__(
        self, puzzle: Drawable, states: States, *, cell: int, theme: str, crop: bool, threads: int | None = None
    ) -> None:
        self._puzzle = puzzle
        self._style = style(cell, theme, crop)
        self._buffer = puzzle.render(states, cell=cell, theme=theme, crop=crop, threads=threads)
        self._drawn = states.copy()

    @property
    def images(self) -> NDArray[np.uint8]:
        """The pictures, ``uint8[N, height, width, 3]``: a read-only view of the buffer, which ``update`` changes."""
        view = self._buffer.view()
        view.flags.writeable = False
        return view

    def update(self, states: States, *, threads: int | None = None) -> None:
        """Show these states, as many as before and of the same size."""
        states = self._puzzle.check(states)
        shape = getattr(states, "shape", self._drawn.shape)
        if shape != self._drawn.shape:
            raise ValueError(f"states: expected shape {self._drawn.shape}, got {shape}")
        self._puzzle.core.redraw(states, self._drawn, self._buffer, **self._style, threads=threads)
