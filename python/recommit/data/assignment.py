"""Assignment of instances to splits, by the start state alone and invariant under symmetry.

Stricter: with ``disjoint: layouts`` the split depends on walls and goals alone, so that no room is in two splits. With
``disjoint: regions`` it depends on the boards on shortest paths ``GATE`` actions before the goal: a state belongs to a
split if all its shortest paths pass boards of that split, and to none if they pass several splits. The later states on
a shortest path then belong to the same split, so that paths of two splits only meet in their last actions.

A start is reduced to a 64-bit key that all its symmetric images share. The key's top four bits are its bucket: bucket 0
is for testing, bucket 1 for validation, the others for training, in every data set. So among data sets of one
``disjoint`` (and with ``layouts`` of one grid size) no training instances can leak into any other's test instances,
whatever their seeds, and shards are independent. There is no such guarantee across values of ``disjoint``, or between a
room and the same room in a larger grid, whose hashes differ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.data.spec import GATE
from recommit.puzzles.registry import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle, States

    Keys = NDArray[np.uint64]

#: States per chunk: the working set of one chunk stays in the CPU cache.
_PIECE = 4096
#: Number of board classes, at least, whose regions are precomputed from the goal outward, if there are so many.
_FEW = 1 << 16
_BUCKETS = {"test": (0, 1), "fresh": (0, 1), "validation": (1, 2), "train": (2, 16)}


def buckets(keys: Keys) -> NDArray[np.uint8]:
    """The bucket, 0..15, of each key."""
    return (keys >> np.uint64(60)).astype(np.uint8)


def belongs(keys: Keys, split: str) -> NDArray[np.bool_]:
    """True for keys in the buckets of ``split``."""
    low, high = _BUCKETS[split]
    bucket = buckets(keys)
    return (bucket >= low) & (bucket < high)


def keys(task: str, states: States) -> Keys:
    """A 64-bit key per state; symmetric states have the same key, others (but for one in 2**64 pairs) do not.

    The symmetries are those of ``Puzzle.images``.
    """
    kind = TASKS[task]
    digests = kind.digests(states, 1)
    if digests is not None:
        return digests
    result = np.empty(len(states), np.uint64)
    for begin in range(0, len(states), _PIECE):
        piece = states[begin : begin + _PIECE]
        result[begin : begin + _PIECE] = np.min([_hash(image) for image in kind.images(piece)], axis=0)
    return rng.mix(result)  # the smaller of two hashes is small: buckets need an even key


def members(spec: DataSpec, states: States, keys: Keys, split: str) -> NDArray[np.bool_]:
    """True for states, with these ``split_keys``, that belong to ``split``; always True for published levels."""
    if spec.published:
        return np.ones(len(states), bool)
    if spec.disjoint != "regions":
        return belongs(keys, split)
    passed = regions(spec.puzzle(), states)
    return (passed > 0) & (passed & ~_inside(split) == 0)


def learnable(spec: DataSpec, states: States) -> NDArray[np.bool_]:
    """True for states that may be trained on, among those a policy reaches from training starts.

    With ``regions``: states whose shortest paths all pass boards of the training split, and those nearer to the goal,
    which all splits share; none more than ``GATE`` actions beyond the longest instance, whose many paths take long to
    enumerate. With ``layouts`` an episode cannot leave its layout, and ``starts`` only separates starts: all states.
    """
    if spec.disjoint != "regions":
        return np.ones(len(states), bool)
    most = max(difficulty.length[1] for difficulty in spec.difficulties) + GATE
    return regions(spec.puzzle(), states, most) & ~_inside("train") == 0


def _inside(split: str) -> np.uint16:
    """Bit mask of a split's buckets."""
    low, high = _BUCKETS[split]
    return np.uint16(2**high - 2**low)


def regions(puzzle: Puzzle, states: States, most: int = 255) -> NDArray[np.uint16]:
    """Bit mask per state: the buckets of the boards that its shortest paths pass ``GATE`` actions before the goal.

    Requires a single goal state and reversible moves. No bits for states nearer than ``GATE``, all bits for states of
    unknown distance or beyond ``most``.
    """
    top, nearer, bits = _table(puzzle.task, puzzle.shape)
    distance, names = puzzle.distance(states, threads=1), keys(puzzle.task, states)
    distance[distance > most] = -1
    result = np.where(distance < 0, 2**16 - 1, 0).astype(np.uint16)
    near = (distance >= 0) & (distance <= top)
    result[near] = bits[np.searchsorted(nearer, names[near])]
    # Walk down from the farthest states: the distinct boards on shortest paths at each distance, and their successors.
    levels: list[tuple[Keys, NDArray[np.intp], Keys]] = []
    here, own = states[:0], names[:0]
    for far in range(int(distance.max(initial=0)), top, -1):
        same = distance == far
        own, first = np.unique(np.concatenate([own, names[same]]), return_index=True)
        here = np.ascontiguousarray(np.concatenate([here, states[same]])[first])
        row, action = np.nonzero(puzzle.optimal_actions(here, threads=1))
        here = puzzle.step(np.ascontiguousarray(here[row]), action.astype(np.uint8), threads=1)
        after = keys(puzzle.task, here)
        levels.append((own, row, after))
        own = after
    for far, (own, row, after) in enumerate(reversed(levels), top + 1):
        passed = np.zeros(len(own), np.uint16)
        np.bitwise_or.at(passed, row, bits[np.searchsorted(nearer, after)])
        nearer, bits = own, passed
        result[distance == far] = bits[np.searchsorted(nearer, names[distance == far])]
    return result


@lru_cache(maxsize=8)
def _table(task: str, shape: tuple[int, int]) -> tuple[int, Keys, NDArray[np.uint16]]:
    """A distance, the sorted keys of all boards up to it, and the ``regions`` of each: for 3x3 boards up to 24 actions
    from the goal, for 4x4 up to 16. Cached; takes 0.2 s.

    There are so few boards ``GATE`` actions before the goal that hashing might leave a bucket empty, so buckets are
    dealt round-robin in the order of the keys.
    """
    puzzle, far = TASKS[task].of(shape, 0), 0
    layer, before, bits = puzzle.legend()[0], np.zeros(0, np.uint64), np.zeros(1, np.uint16)
    names = keys(task, layer)
    layers = [(names, bits)]
    while len(layer) and sum(len(each) for each, _ in layers) < _FEW:
        beside = puzzle.step(np.repeat(layer, 4, axis=0), np.tile(np.arange(4, dtype=np.uint8), len(layer)), threads=1)
        found = keys(task, beside)
        farther = np.flatnonzero(~np.isin(found, np.concatenate([before, names])))  # nor after a blocked move
        before, far = names, far + 1
        names, first, place = np.unique(found[farther], return_index=True, return_inverse=True)
        passed = np.zeros(len(names), np.uint16)
        np.bitwise_or.at(passed, place, bits[farther // 4])
        bits = np.left_shift(1, np.arange(len(names)) % 16).astype(np.uint16) if far == GATE else passed
        layer = np.ascontiguousarray(beside[farther[first]])
        layers.append((names, bits))
    every, bits = (np.concatenate(parts) for parts in zip(*layers, strict=True))
    order = np.argsort(every)
    return far, every[order], bits[order]


def split_keys(spec: DataSpec, states: States) -> Keys:
    """Keys that no two splits share: of starts, or of their layouts."""
    if spec.disjoint != "layouts":
        return keys(spec.task, states)
    kind = TASKS[spec.task]
    rooms = kind.layouts(states)
    side = max(rooms.shape[1:])  # a room that is narrower than its grid may lie in it transposed, too
    rooms = np.pad(rooms, ((0, 0), *((0, side - length) for length in rooms.shape[1:])), constant_values=1)
    images = kind.images(rooms)
    return rng.mix(np.min([_hash(_aligned(image)) for image in images], axis=0))


def _aligned(grids: States) -> States:
    """Shift each room to the top left corner of its grid: a room may lie anywhere in it."""
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
