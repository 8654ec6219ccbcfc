"""Pictures of states, including incremental ones that redraw only changed cells."""

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
#: Colour themes; the first is the default.
THEMES = ("light", "dark")


def style(cell: object, theme: str, crop: object) -> dict[str, int | str | bool]:
    """Check drawing options and return them as the core's arguments."""
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
    """A PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(png).decode()


class Frames:
    """Pictures of a batch of states in one buffer, updated incrementally.

    ``images`` shows the states of the last successful ``update``; one that raises changes nothing. Not thread-safe.
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
        """Redraw the changed cells; ``states`` must have the same shape as before."""
        states = self._puzzle.check(states)
        shape = getattr(states, "shape", self._drawn.shape)
        if shape != self._drawn.shape:
            raise ValueError(f"states: expected shape {self._drawn.shape}, got {shape}")
        self._puzzle.core.redraw(states, self._drawn, self._buffer, **self._style, threads=threads)


class Drawn:
    """Rendering of a puzzle's states: pictures, their decoding, and model inputs."""

    #: The compiled functions of this puzzle.
    core: ClassVar[ModuleType]

    def check(self, states: States, name: str = "states") -> States:
        """Check that states fit this puzzle, and return them; see ``Puzzle.check``."""
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
        """Recover the states from pictures of ``render`` with the same options."""
        return self.check(self.core.decode(images, **style(cell, theme, crop), threads=threads), "images")

    def frames(
        self, states: States, cell: int = 28, *, theme: str = "light", crop: bool = False, threads: int | None = None
    ) -> Frames:
        """Pictures of the states that can be updated by redrawing only changed cells."""
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
        """``(pixel_values, image_grid_thw)``, bit for bit the Qwen2.5-VL image processor's output for ``render``.

        Written directly from the states; cells that are a multiple of 14 pixels wide are copied. ``pixel_values`` has
        one row of 1176 values per 14x14 patch, picture by picture, as ``float32`` or, for ``bfloat16``, as ``uint16``
        bits rounded to nearest even. Pictures that the processor would resize are an error.
        """
        checks.choice("dtype", dtype, ("float32", "bfloat16"))
        draw = self.core.patches_float32 if dtype == "float32" else self.core.patches_bfloat16
        options, (batch, _) = style(cell, theme, crop), checks.grids(states)
        return draw(self.check(batch), **options, out=out, threads=threads)
