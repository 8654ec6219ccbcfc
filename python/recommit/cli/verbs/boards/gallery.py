"""Generate boards of all puzzles, play them at random, time the core, draw a gallery."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from recommit.cli.verbs import bench
from recommit.puzzles.frames import THEMES
from recommit.puzzles.sliding import Sliding
from recommit.puzzles.sokoban import Sokoban
from recommit.storage import errors
from recommit.storage.files import replacing
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from recommit.puzzles.puzzle import Puzzle

#: The page behind each theme's boards, and the space around them.
PAGES = {"light": (250, 248, 244), "dark": (11, 12, 15)}
GAP = 24
#: Rows of boards: a puzzle and its cell size each.
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


def main(folder: Path) -> None:
    """Play every task, print what happened, and leave ``gallery.png`` in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)  # where that fails, nothing was timed in vain
    tell("2,048 boards of each puzzle, up to 256 random actions on each, one thread:\n")
    tell(bench.table(bench.play(task) for task in bench.TASKS))
    path = folder / "gallery.png"
    draw(path)
    tell(f"\nA picture of the puzzles: {path}")


def draw(path: str | PathLike[str], *, seed: int = 0) -> None:
    """Write sliding puzzles and Sokoban in both themes and several sizes as a PNG; the same seed shows the same
    boards."""
    try:
        from PIL import Image
    except ImportError:
        raise errors.need("pillow", "cli") from None
    halves = [page(theme, seed) for theme in THEMES]
    whole = Image.new("RGB", (sum(half.width for half in halves), halves[0].height))
    whole.paste(halves[0], (0, 0))
    whole.paste(halves[1], (halves[0].width, 0))
    content = io.BytesIO()
    whole.save(content, format="PNG")
    with replacing(path) as file:
        file.write(content.getvalue())


def page(theme: str, seed: int = 0) -> Any:
    """All rows in one theme, each in the middle of the page, and the boards of a row level in their middles."""
    from PIL import Image

    rows = [
        [
            Image.fromarray(task.render(task.generate(1, seed=seed + i).states, cell, theme=theme)[0])
            for i, (task, cell) in enumerate(row)
        ]
        for row in ROWS
    ]
    widths = [sum(board.width for board in row) + GAP * (len(row) - 1) for row in rows]
    heights = [max(board.height for board in row) for row in rows]
    whole = Image.new("RGB", (max(widths) + 2 * GAP, sum(heights) + GAP * (len(rows) + 1)), PAGES[theme])
    top = GAP
    for row, width, height in zip(rows, widths, heights, strict=True):
        left = GAP + (max(widths) - width) // 2
        for board in row:
            whole.paste(board, (left, top + (height - board.height) // 2))
            left += board.width + GAP
        top += height + GAP
    return whole
