"""Sliding boards from random walks: the paper's generator, without its waste.

A walk of L moves from the goal is accepted if no shorter way leads to where it ends. Only walks that never undo a move
can be accepted, so only those are drawn, each with its share of the probability of all of them: what is accepted has
the distribution of plain rejection, which takes half a million walks for a 3x3 board of length 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle, States

#: Walks per board, where a table tells a distance and where a search does.
TRIES, TRIES_SEARCHED = 1 << 21, 1 << 12
#: Boards, and walks at once.
BLOCK, AT_ONCE = 1 << 14, 1 << 16
#: Where a walk begins there is no move to undo.
NONE = 4


@lru_cache(maxsize=8)
def neighbours(rows: int, cols: int) -> NDArray[np.int64]:
    """[cells, 4]: where each action takes the blank, -1 over the edge."""
    cell = np.arange(rows * cols)
    row, col = cell // cols, cell % cols
    inside = np.stack([row > 0, row < rows - 1, col > 0, col < cols - 1], axis=1)
    return np.where(inside, cell[:, None] + np.array([-cols, cols, -1, 1]), -1)


@lru_cache(maxsize=64)
def thresholds(rows: int, cols: int, length: int, *, plain: bool) -> NDArray[np.float64]:
    """[moves left - 1, cell, last action, 4]: a uniform number takes the first action whose threshold is above it.

    ``plain``: of walks that choose evenly among all moves, those without reversal; else of walks that choose evenly
    among the moves that undo nothing.
    """
    to = neighbours(rows, cols)
    inside = to >= 0
    undoes = np.arange(5)[:, None] == (np.arange(4) ^ 1)
    allowed = inside[:, None, :] & ~undoes
    ahead = np.ones((rows * cols, 5))  # how likely the rest of the walk undoes nothing
    result = np.empty((length, rows * cols, 5, 4))
    for remaining in range(length):
        after = ahead[to, np.arange(4)] if plain else np.ones(to.shape)
        weight = np.where(allowed, (after / inside.sum(axis=1)[:, None])[:, None, :], 0.0)
        ahead = weight.sum(axis=2)
        result[remaining] = np.cumsum(weight / ahead[..., None], axis=2)
    last = 3 - allowed[..., ::-1].argmax(axis=2)
    result[:, np.arange(4) >= last[..., None]] = 1.0  # whatever the sums were rounded to
    return result


@dataclass(frozen=True)
class BoardWalks:
    """Boards of one shape, with lengths drawn evenly from a window; ``tries`` walks at most are made for each."""

    task: Puzzle
    shortest: int
    longest: int
    plain: bool
    tries: int

    def generate(
        self, count: int, seed: int, start: int, threads: int | None, progress: Callable[[int], None] | None
    ) -> tuple[States, NDArray[np.int32]]:
        """Board i is the end of the first accepted walk of stream ``start + i``, and how long that is."""
        states, lengths = np.empty((count, *self.task.shape), np.uint8), np.empty(count, np.int32)
        for first in range(0, count, BLOCK):
            number = np.uint64(start) + np.arange(first, min(first + BLOCK, count), dtype=np.uint64)
            block = slice(first, first + len(number))
            stream = rng.streams(seed, rng.Purpose.WALK, number)
            lengths[block] = self.shortest + rng.below(rng.draw(stream, 0), self.longest - self.shortest + 1)
            for length in np.unique(lengths[block]).tolist():
                place = np.flatnonzero(lengths[block] == length)
                states[first + place] = _Walker(self, length, threads).boards(stream[place], number[place])
            if progress is not None:
                progress(first + len(number))
        return states, lengths


class _Walker:
    """Walks of one length on one shape."""

    def __init__(self, wanted: BoardWalks, length: int, threads: int | None) -> None:
        self.task, self.tries, self.length, self.threads = wanted.task, wanted.tries, length, threads
        self.thresholds = thresholds(*self.task.shape, length, plain=wanted.plain)
        self.neighbours = neighbours(*self.task.shape)
        cells = self.task.shape[0] * self.task.shape[1]
        self.goal = (np.arange(1, cells + 1) % cells).astype(np.uint8)

    def boards(self, stream: NDArray[np.uint64], number: NDArray[np.uint64]) -> States:
        """The first accepted walk of every stream; it does not depend on how many are tried at once."""
        result = np.empty((len(stream), *self.task.shape), np.uint8)
        open_, tried = np.arange(len(stream)), 0
        while len(open_) and tried < self.tries:
            many = max(1, min(AT_ONCE // len(open_), tried or 1))
            walks = self._walks(np.repeat(stream[open_], many), np.tile(np.arange(tried, tried + many), len(open_)))
            accepted = self._accepted(walks).reshape(len(open_), many)
            hit = accepted.any(axis=1)
            result[open_[hit]] = walks.reshape(-1, many, *self.task.shape)[hit, accepted[hit].argmax(axis=1)]
            open_, tried = open_[~hit], tried + many
        if len(open_):
            raise ValueError(
                f"length: expected one that walks on {self.task.size_name} boards reach, got {self.length} "
                f"(instance {number[open_[0]]} met none in {self.tries:,} walks)"
            )
        return result

    def _accepted(self, walks: States) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = self.task.distance(walks, threads=self.threads) == self.length
        return result

    def _walks(self, stream: NDArray[np.uint64], attempt: NDArray[np.int64]) -> States:
        """Where each walk ends. Move m of attempt a is draw 1 + a * length + m; draw 0 chose the length."""
        count, cells = len(stream), len(self.goal)
        flat = np.tile(self.goal, count)
        base = np.arange(count) * cells
        blank, last = np.full(count, cells - 1), np.full(count, NONE)
        for move in range(self.length):
            uniform = rng.uniform(stream, 1 + attempt * self.length + move)
            bound = self.thresholds[self.length - 1 - move, blank, last]
            last = (uniform[:, None] >= bound[:, :3]).sum(axis=1)
            target = self.neighbours[blank, last]
            flat[base + blank] = flat[base + target]
            blank = target
            flat[base + blank] = 0
        return flat.reshape(count, *self.task.shape)
