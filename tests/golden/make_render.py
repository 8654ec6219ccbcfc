"""Golden pictures: ``python -m tests.golden.make_render`` rewrites render.json, the sha256 of pixels and patches."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import recommit
from recommit.puzzles.frames import MAX_CELL, MIN_CELL, THEMES

FILE = Path(__file__).parent / "render.json"

#: Every code of a puzzle, in one state.
ALL = {
    "sliding": np.arange(25, dtype=np.uint8).reshape(1, 5, 5),
    "sokoban": np.array([[[0, 1, 2, 3, 4, 5]]], np.uint8),
}
ROOM = np.array(
    [
        [
            [1, 1, 1, 1, 1, 1, 1],
            [1, 0, 0, 2, 1, 1, 1],
            [1, 0, 3, 0, 0, 0, 1],
            [1, 6, 0, 4, 0, 0, 1],
            [1, 2, 0, 3, 1, 0, 1],
            [1, 1, 1, 1, 1, 1, 1],
        ]
    ],
    np.uint8,
)


def task_of(name: str) -> recommit.Puzzle:
    return recommit.Sliding(5) if name == "sliding" else recommit.Sokoban()


def sprites(name: str, cell: int, theme: str) -> dict[int, NDArray[np.uint8]]:
    """Code -> its picture, cut out of a picture of all codes."""
    states = [ALL[name]] if name == "sliding" else [ALL[name], np.array([[[6]]], np.uint8)]
    found = {}
    for state in states:
        image = task_of(name).render(state, cell, theme=theme)[0]
        for row, col in np.ndindex(state.shape[1:]):
            found[int(state[0, row, col])] = image[row * cell : (row + 1) * cell, col * cell : (col + 1) * cell]
    return found


def sha256(array: NDArray[np.generic]) -> str:
    """Of the values in little-endian order."""
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def figures() -> dict[str, str]:
    """Name -> sha256."""
    found = {}
    for theme in THEMES:
        for name in ALL:
            every = hashlib.sha256()
            for cell in range(MIN_CELL, MAX_CELL + 1):
                for _, sprite in sorted(sprites(name, cell, theme).items()):
                    every.update(sprite.tobytes())
            found[f"{name} {theme} all sprites of all sizes"] = every.hexdigest()
        for cell in (4, 7, 10, 12, 16, 24, 28, 56, 112):
            found[f"sliding {theme} 5x5 cell {cell}"] = sha256(
                task_of("sliding").render(ALL["sliding"], cell, theme=theme)
            )
            found[f"sokoban {theme} room cell {cell}"] = sha256(task_of("sokoban").render(ROOM, cell, theme=theme))
        cropped = recommit.Sokoban().render(ROOM, 28, theme=theme, crop=True)
        found[f"sokoban {theme} room cropped"] = sha256(cropped)
        values, _ = recommit.Sokoban().patches(ROOM, 28, theme=theme)
        found[f"sokoban {theme} room patches float32"] = sha256(values)
        values, _ = recommit.Sokoban().patches(ROOM, 28, theme=theme, dtype="bfloat16")
        found[f"sokoban {theme} room patches bfloat16"] = sha256(values)
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(figures(), indent=1) + "\n", encoding="utf-8")
