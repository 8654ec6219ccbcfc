"""Generate boards of all puzzles, play them at random, time the core, draw a gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.cli.verbs import bench
from recommit.cli.verbs.boards.gallery_picture import gallery
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from pathlib import Path


def main(folder: Path) -> None:
    """Play every task, print what happened, and leave ``gallery.png`` in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)  # where that fails, nothing was timed in vain
    tell("2,048 boards of each puzzle, up to 256 random actions on each, one thread:\n")
    tell(bench.table(bench.play(task) for task in bench.TASKS))
    path = folder / "gallery.png"
    gallery(path)
    tell(f"\nA picture of the puzzles: {path}")
