"""Pictures of states, and pictures that stay: only their cells that change are drawn again."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from recommit import checks
from recommit.storage import errors

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from recommit.checks import Grids

    States = NDArray[np.uint8]

#: Cell sizes in pixels that can be drawn.
MIN_CELL, MAX_CELL = 4, 112
#: Colours that every puzzle can be drawn in; the first one is the default.
THEMES = ("light", "dark")


def style(cell: object, theme: str, crop: object) -> dict[str, int | str | bool]:
    """How to draw, as the core wants it."""
    checks.choice("theme", theme, THEMES)
    if not isinstance(crop, bool):
        raise TypeError(f"crop: expected a bool, got {type(crop).__name__}")
    return {"cell": checks.integer("cell", cell, MIN_CELL, MAX_CELL), "theme": theme, "crop": crop}


def encode_png(picture: NDArray[np.uint8]) -> bytes:
    """The PNG file of one picture ``uint8[height, width, 3]``; needs Pillow."""
    try:
        from PIL import Image
    except ImportError:
        raise errors.need("pillow", "cli") from None
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def data_url(png: bytes) -> str:
    """A PNG file as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png).decode()


class Frames:
    """One picture per state, in one buffer that lives as long as this object.

    ``images`` always shows the states of the last ``update`` that returned; one that raises changes nothing. Not
    thread-safe: one caller at a time.
    """

    def __init__(
        self, puzzle: Drawn, states: States, *, cell: int, theme: str, crop: bool, threads: int | None = None
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


class Drawn:
    """How states of a puzzle look: pictures, what they show, and what a model reads of them."""

    #: The compiled functions of this puzzle.
    core: ClassVar[ModuleType]

    def check(self, states: States, name: str = "states") -> States:
        """The states themselves, once they fit this task; see ``Puzzle.check``."""
        raise NotImplementedError

    def render(
        self,
        states: Grids,
        cell: int = 28,
        *,
        theme: str = "light",
        crop: bool = False,
        out: NDArray[np.uint8] | None = None,
        threads: int | None = None,
    ) -> NDArray[np.uint8]:
        """Pictures of the states, ``uint8[N, rows * cell, columns * cell, 3]``; the same bytes on every platform.

        ``cell`` is 4..112 pixels, ``theme`` light or dark. ``crop`` leaves out the outer ring of cells, which must be
        wall. The result is ``out``, if given.
        """
        options, (batch, one) = style(cell, theme, crop), checks.grids(states)
        result: NDArray[np.uint8] = self.core.render(self.check(batch), **options, out=out, threads=threads)
        return result[0] if one else result

    def decode(
        self,
        images: NDArray[np.uint8],
        cell: int = 28,
        *,
        theme: str = "light",
        crop: bool = False,
        threads: int | None = None,
    ) -> States:
        """The states that pictures from ``render`` with the same options show."""
        return self.check(self.core.decode(images, **style(cell, theme, crop), threads=threads), "images")

    def frames(
        self, states: States, cell: int = 28, *, theme: str = "light", crop: bool = False, threads: int | None = None
    ) -> Frames:
        """Pictures of the states that can be brought up to date by drawing changed cells only."""
        return Frames(self, states, cell=cell, theme=theme, crop=crop, threads=threads)

    def patches(
        self,
        states: Grids,
        cell: int = 28,
        *,
        theme: str = "light",
        crop: bool = False,
        dtype: Literal["float32", "bfloat16"] = "float32",
        out: NDArray[Any] | None = None,
        threads: int | None = None,
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """``(pixel_values, image_grid_thw)``, bit for bit what the Qwen2.5-VL image processor makes of ``render``.

        The core writes them straight from the state: where a cell is a multiple of 14 pixels wide, it is copied.
        ``pixel_values`` has one row of 1176 values per 14x14 patch, of all pictures in turn, as ``float32`` or, for
        ``bfloat16``, as ``uint16`` bits rounded to nearest even. Pictures that the processor would resize are an error.
        """
        checks.choice("dtype", dtype, ("float32", "bfloat16"))
        draw = self.core.patches_float32 if dtype == "float32" else self.core.patches_bfloat16
        options, (batch, _) = style(cell, theme, crop), checks.grids(states)
        return draw(self.check(batch), **options, out=out, threads=threads)
