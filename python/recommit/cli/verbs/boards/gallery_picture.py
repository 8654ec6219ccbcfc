"""One picture that shows sliding puzzles and Sokoban, both themes and several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.puzzles.frames import THEMES
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.storage.files import replacing

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    Picture = NDArray[np.uint8]

#: The page behind each theme's pictures, and the space around them.
PAGES = {"light": (250, 248, 244), "dark": (11, 12, 15)}
GAP = 24

#: Rows of pictures that are equally high: a puzzle and its cell size each.
ROWS: tuple[tuple[tuple[Puzzle, int], ...], ...] = (
    ((Sliding(3), 112), (Sokoban(8, boxes=2), 42)),
    ((Sliding(4), 56), (Sokoban(8, boxes=3), 28), (Sokoban((8, 10), boxes=4), 28)),
    ((Sliding(2, 3), 56), (Sliding(5), 22), (Sliding(4), 28), (Sokoban(7, boxes=2), 16), (Sokoban(8, boxes=2), 14)),
    (
        (Sliding(5), 12),
        (Sliding(5), 8),
        (Sokoban(10, boxes=3), 6),
        (Sokoban(9, boxes=3), 5),
        (Sokoban((6, 12), boxes=2), 10),
    ),
)


def gallery(path: str | PathLike[str], *, seed: int = 0) -> None:
    """Write the picture, a PNG, to ``path``; needs pillow. The same seed shows the same boards."""
    from PIL import Image

    halves = [page(theme, seed) for theme in THEMES]
    with replacing(path) as file:
        Image.fromarray(np.concatenate(halves, axis=1)).save(file, format="PNG")


def page(theme: str, seed: int = 0) -> Picture:
    """All rows of pictures in one theme."""
    background = np.array(PAGES[theme], np.uint8)
    rows = [
        side_by_side([picture(task, cell, theme, seed + i) for i, (task, cell) in enumerate(row)], background)
        for row in ROWS
    ]
    width = max(row.shape[1] for row in rows)
    parts = [part for row in rows for part in (blank(GAP, width, background), centred(row, width, background))]
    inner = np.concatenate([*parts, blank(GAP, width, background)])
    side = blank(len(inner), GAP, background)
    return np.concatenate([side, inner, side], axis=1)


def picture(task: Puzzle, cell: int, theme: str, seed: int) -> Picture:
    """One generated board, drawn."""
    image: Picture = task.render(task.generate(1, seed=seed).states, cell, theme=theme)[0]
    return image


def blank(height: int, width: int, background: NDArray[np.uint8]) -> Picture:
    """Nothing but page."""
    return np.broadcast_to(background, (height, width, 3))


def side_by_side(pictures: list[Picture], background: NDArray[np.uint8]) -> Picture:
    """Pictures in a row, their middles level."""
    height = max(image.shape[0] for image in pictures)
    parts: list[Picture] = []
    for image in pictures:
        above = (height - image.shape[0]) // 2
        below = height - image.shape[0] - above
        column = [blank(above, image.shape[1], background), image, blank(below, image.shape[1], background)]
        parts += [np.concatenate(column), blank(height, GAP, background)]
    return np.concatenate(parts[:-1], axis=1)


def centred(row: Picture, width: int, background: NDArray[np.uint8]) -> Picture:
    """The row with page to its left and right."""
    left = (width - row.shape[1]) // 2
    right = width - row.shape[1] - left
    return np.concatenate([blank(row.shape[0], left, background), row, blank(row.shape[0], right, background)], axis=1)
