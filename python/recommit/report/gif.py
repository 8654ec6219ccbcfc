"""Boards with a line of text as a GIF, in 64 colours."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.puzzles import checks
from recommit.puzzles.frames import THEMES
from recommit.storage import errors
from recommit.storage.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

#: Milliseconds that a picture stays: of an action, of a look, of the end.
ACTION, LOOK, END = 220, 520, 2400
MARGIN, HEAD, LEAST = 12, 48, 200
#: Background, ink, pale ink and the colour of a look, by theme.
COLOURS = {
    "light": ("#ffffff", "#1f2430", "#6b7384", "#2f6fde"),
    "dark": ("#14171c", "#e7e9ee", "#8b93a3", "#6ea0ff"),
}


@dataclass(frozen=True, eq=False)
class FilmFrame:
    """One picture, and how many milliseconds it stays."""

    board: NDArray[np.uint8]
    title: str
    note: str
    time: int
    #: Is there a frame around the board, and the note in its colour?
    framed: bool = False


def write(path: Path, frames: Sequence[FilmFrame], theme: str) -> Path:
    """Draw every frame, and write the file whole."""
    if path.suffix.lower() != ".gif":
        raise ValueError(f"path: expected a name that ends in .gif, got {path}")
    checks.choice("theme", theme, THEMES)
    pictures = [_draw(frame, theme) for frame in frames]
    palette = _together(pictures).quantize(64)
    first, *rest = (each.quantize(palette=palette, dither=0) for each in pictures)
    content, times = io.BytesIO(), [frame.time for frame in frames]
    first.save(content, "GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    with replacing(path) as file:
        file.write(content.getvalue())
    return path


def _together(pictures: Sequence[Any]) -> Any:
    """The first, middle and last picture beside each other: a box has the colour of its goal at the end alone."""
    from PIL import Image

    chosen = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    width, height = pictures[0].size
    page = Image.new("RGB", (len(chosen) * width, height))
    for place, picture in enumerate(chosen):
        page.paste(picture, (place * width, 0))
    return page


def _draw(frame: FilmFrame, theme: str) -> Any:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise errors.need("pillow", "cli") from None
    back, ink, pale, blue = COLOURS[theme]
    height, width = frame.board.shape[:2]
    picture = Image.new("RGB", (max(width, LEAST) + 2 * MARGIN, height + HEAD + MARGIN), back)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN, 6), frame.title, ink, ImageFont.load_default(15))
    pen.text((MARGIN, 26), frame.note, blue if frame.framed else pale, ImageFont.load_default(13))
    picture.paste(Image.fromarray(frame.board), (MARGIN, HEAD))
    if frame.framed:
        pen.rectangle((MARGIN - 4, HEAD - 4, MARGIN + width + 3, HEAD + height + 3), outline=blue, width=3)
    return picture
