"""Sliding boards from random walks: the paper's generator, without its rejected samples.

A walk of L moves from the goal is accepted if there is no shorter path to its end. Only walks that never undo a move
can be accepted, so only those are drawn, with their conditional probability: accepted walks have the distribution of
plain rejection sampling, which takes half a million walks for a 3x3 board of length 24.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle, States

#: Most walks per board, with distances from a table, and from a search.
TRIES, TRIES_SEARCHED = 1 << 21, 1 << 12
#: Batch sizes in boards, and in walks.
BLOCK, AT_ONCE = 1 << 14, 1 << 16
#: Last action at the start of a walk: none.
NONE = 4


@lru_cache(maxsize=8)
def neighbours(rows: int, cols: int) -> NDArray[np.int64]:
    """[cells, 4]: the blank's cell after each action, -1 beyond the edge."""
    cell = np.arange(rows * cols)
    row, col = cell // cols, cell % cols
    inside = np.stack([row > 0, row < rows - 1, col > 0, col < cols - 1], axis=1)
    return np.where(inside, cell[:, None] + np.array([-cols, cols, -1, 1]), -1)


@lru_cache(maxsize=64)
def thresholds(rows: int, cols: int, length: int, *, plain: bool) -> NDArray[np.float64]:
    """Cumulative action probabilities [moves left - 1, cell, last action, 4], for inverse transform sampling.

    ``plain``: uniform random walks over all moves, conditioned on never undoing one; else walks that choose uniformly
    among the moves that undo nothing.
    """
    to = neighbours(rows, cols)
    inside = to >= 0
    undoes = np.arange(5)[:, None] == (np.arange(4) ^ 1)
    allowed = inside[:, None, :] & ~undoes
    ahead = np.ones((rows * cols, 5))  # probability that the rest of the walk undoes nothing
    result = np.empty((length, rows * cols, 5, 4))
    for remaining in range(length):
        after = ahead[to, np.arange(4)] if plain else np.ones(to.shape)
        weight = np.where(allowed, (after / inside.sum(axis=1)[:, None])[:, None, :], 0.0)
        ahead = weight.sum(axis=2)
        result[remaining] = np.cumsum(weight / ahead[..., None], axis=2)
    last = 3 - allowed[..., ::-1].argmax(axis=2)
    result[:, np.arange(4) >= last[..., None]] = 1.0  # despite rounding of the sums
    return result


def boards(
    task: Puzzle,
    window: tuple[int, int],
    count: int,
    seed: int,
    start: int,
    *,
    plain: bool,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[States, NDArray[np.int32]]:
    """Boards and lengths; board i is the end of the first accepted walk of stream ``start + i``, with a length drawn
    uniformly from the window."""
    states, lengths = np.empty((count, *task.shape), np.uint8), np.empty(count, np.int32)
    for first in range(0, count, BLOCK):
        number = np.uint64(start) + np.arange(first, min(first + BLOCK, count), dtype=np.uint64)
        block = slice(first, first + len(number))
        stream = rng.streams(seed, rng.Purpose.WALK, number)
        lengths[block] = window[0] + rng.below(rng.draw(stream, 0), window[1] - window[0] + 1)
        for length in np.unique(lengths[block]).tolist():
            place = np.flatnonzero(lengths[block] == length)
            bounds = thresholds(*task.shape, length, plain=plain)
            states[first + place] = _accepted(task, length, bounds, stream[place], number[place], threads)
        if progress is not None:
            progress(first + len(number))
    return states, lengths


def _accepted(
    task: Puzzle,
    length: int,
    bounds: NDArray[np.float64],
    stream: NDArray[np.uint64],
    number: NDArray[np.uint64],
    threads: int | None,
) -> States:
    """The end of every stream's first accepted walk, independent of the batch size."""
    result, most = np.empty((len(stream), *task.shape), np.uint8), TRIES if task.counts_by_length else TRIES_SEARCHED
    open_, tried = np.arange(len(stream)), 0
    while len(open_) and tried < most:
        many = max(1, min(AT_ONCE // len(open_), tried or 1))
        attempt = np.tile(np.arange(tried, tried + many), len(open_))
        walks = _ends(task.shape, length, bounds, np.repeat(stream[open_], many), attempt)
        accepted = (task.distance(walks, threads=threads) == length).reshape(len(open_), many)
        hit = accepted.any(axis=1)
        result[open_[hit]] = walks.reshape(-1, many, *task.shape)[hit, accepted[hit].argmax(axis=1)]
        open_, tried = open_[~hit], tried + many
    if len(open_):
        raise ValueError(
            f"length: expected one that walks on {task.size_name} boards reach, got {length} "
            f"(instance {number[open_[0]]} met none in {most:,} walks)"
        )
    return result


def _ends(
    shape: tuple[int, int],
    length: int,
    bounds: NDArray[np.float64],
    stream: NDArray[np.uint64],
    attempt: NDArray[np.int64],
) -> States:
    """The end of each walk. Move m of attempt a is draw 1 + a * length + m; draw 0 chose the length."""
    count, cells, to = len(stream), shape[0] * shape[1], neighbours(*shape)
    flat = np.tile((np.arange(1, cells + 1) % cells).astype(np.uint8), count)
    base = np.arange(count) * cells
    blank, last = np.full(count, cells - 1), np.full(count, NONE)
    for move in range(length):
        uniform = rng.uniform(stream, 1 + attempt * length + move)
        bound = bounds[length - 1 - move, blank, last]
        last = (uniform[:, None] >= bound[:, :3]).sum(axis=1)
        target = to[blank, last]
        flat[base + blank] = flat[base + target]
        blank = target
        flat[base + blank] = 0
    return flat.reshape(count, *shape)
