"""Which split an instance belongs to: decided by its start state alone, the same for all its mirror images.

A spec may ask for more (``disjoint: layouts``): then walls and goals alone decide, so that no room is in two splits.

A start is reduced to a 64-bit key that all its symmetric images share. The key's top four bits are its bucket: bucket 0
is for testing, bucket 1 for validation, the others for training, in every data set that anybody builds. So no data
set's training instances can leak into any other's test instances, whatever their seeds, and shards need not know each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.puzzles.registry import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import States

    Keys = NDArray[np.uint64]

#: States per piece: the working set of one piece stays in the cache.
_PIECE = 4096
_BUCKETS = {"test": (0, 1), "fresh": (0, 1), "validation": (1, 2), "train": (2, 16)}


def buckets(keys: Keys) -> NDArray[np.uint8]:
    """0..15 for each key."""
    return (keys >> np.uint64(60)).astype(np.uint8)


def belongs(keys: Keys, split: str) -> NDArray[np.bool_]:
    """Which keys are of that split."""
    low, high = _BUCKETS[split]
    bucket = buckets(keys)
    result: NDArray[np.bool_] = (bucket >= low) & (bucket < high)
    return result


def keys(task: str, states: States, threads: int | None = 1) -> Keys:
    """A 64-bit key per state; symmetric states have the same key, others (but for one in 2**64 pairs) do not.

    What is symmetric to what, the puzzle knows: ``Puzzle.images``.
    """
    kind = TASKS[task]
    digests = kind.digests(states, threads)
    if digests is not None:
        return digests
    result = np.empty(len(states), np.uint64)
    for begin in range(0, len(states), _PIECE):
        piece = states[begin : begin + _PIECE]
        result[begin : begin + _PIECE] = np.min([_hash(image) for image in kind.images(piece)], axis=0)
    return rng.mix(result)  # the smaller of two hashes is small: buckets need an even key


def split_keys(spec: DataSpec, states: States, threads: int | None = 1) -> Keys:
    """The keys that decide the splits of a spec: of starts, or of their layouts."""
    if spec.disjoint == "starts":
        return keys(spec.task, states, threads)
    kind = TASKS[spec.task]
    images = kind.images(kind.layouts(states))
    return rng.mix(np.min([_hash(_aligned(image)) for image in images], axis=0))


def _aligned(grids: States) -> States:
    """Each moved as far up and left as its outer wall allows: a room may lie anywhere in its grid."""
    count, height, width = grids.shape
    top = (grids != 1).any(axis=2).argmax(axis=1)[:, None] - 1
    remaining = (grids != 1).any(axis=1).argmax(axis=1)[:, None] - 1
    row, col = (np.arange(height) + top) % height, (np.arange(width) + remaining) % width
    return np.ascontiguousarray(grids[np.arange(count)[:, None, None], row[:, :, None], col[:, None, :]])


def _hash(states: States) -> Keys:
    """Hash the shape and the cells, 8 cells to a word."""
    count, rows, columns = states.shape
    words = -(-rows * columns // 8)
    padded = np.zeros((count, words * 8), np.uint8)
    padded[:, : rows * columns] = states.reshape(count, -1)
    state = rng.streams(rows, columns, np.zeros(count, np.uint64))
    for word in padded.view("<u8").astype(np.uint64).T:
        state = rng.draw(state ^ word, 0)
    return state
