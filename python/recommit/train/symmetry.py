"""Symmetry augmentation of training states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit import rng

if TYPE_CHECKING:
    from numpy.typing import NDArray


def symmetries(seed: int, number: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Draw one of the eight symmetries for each number."""
    return rng.below(rng.draw(rng.streams(seed, rng.Purpose.AUGMENT, number), 0), 8)


def turned(states: NDArray[np.uint8], symmetry: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Apply the symmetry bits in this order: flip columns (1), rotate by 180 degrees (2), transpose (4, square grids
    only)."""
    bits = [(symmetry >> i & 1).astype(bool)[:, None, None] for i in range(3)]
    states = np.where(bits[0], states[:, :, ::-1], states)
    states = np.where(bits[1], states[:, ::-1, ::-1], states)
    if states.shape[1] == states.shape[2]:
        states = np.where(bits[2], states.transpose(0, 2, 1), states)
    return np.ascontiguousarray(states)
