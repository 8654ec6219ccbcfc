"""States to draw, for the tests of pictures and patches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import recommit

States = NDArray[np.uint8]


def boards(rows: int, cols: int, count: int, seed: int = 0) -> States:
    """Permutations, solvable or not."""
    rng = np.random.default_rng([seed, rows, cols])
    tiles = np.arange(rows * cols, dtype=np.uint8)
    return np.stack([rng.permutation(tiles) for _ in range(count)]).reshape(count, rows, cols)


def levels(rows: int, cols: int, count: int, seed: int = 0, walled: bool = True) -> States:
    """Grids of random cells with one player; solvable or not."""
    rng = np.random.default_rng([seed, rows, cols, walled])
    states = rng.integers(0, 5, (count, rows, cols), np.uint8)
    if walled:
        states[:, [0, -1], :] = states[:, :, [0, -1]] = 1
    ring = 1 if walled else 0
    index = np.arange(count)
    states[index, rng.integers(ring, rows - ring, count), rng.integers(ring, cols - ring, count)] = rng.integers(
        5, 7, count
    )
    return states


def task_and_states(name: str, rows: int, cols: int, count: int, seed: int = 0) -> tuple[recommit.Puzzle, States]:
    """Either puzzle with random states of this size."""
    if name == "sliding":
        return recommit.Sliding(rows, cols), boards(rows, cols, count, seed)
    return recommit.Sokoban(), levels(rows, cols, count, seed)
