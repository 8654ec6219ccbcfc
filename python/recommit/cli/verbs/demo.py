"""A first look: generate boards of all puzzles, play them at random, time the core, draw a gallery.

Run it with ``python -m recommit.cli.verbs.demo [FOLDER]``; it takes a few seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recommit.cli.gallery import gallery
from recommit.cli.verbs import bench
from recommit.storage.foreign_text import tell


def main(folder: Path) -> None:
    """Play every task, print what happened, and leave ``gallery.png`` in ``folder``."""
    tell("2,048 boards of each puzzle, up to 256 random actions on each, one thread:\n")
    tell(bench.table(bench.play(task) for task in bench.TASKS))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "gallery.png"
    gallery(path)
    tell(f"\nA picture of the puzzles: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out"))
