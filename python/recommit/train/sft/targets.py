"""Imitation targets of labelled states: paths, and all optimal actions along them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.policy.config import PLAN_LENGTH
from recommit.puzzles.sokoban import Sokoban
from recommit.train import symmetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.data.rows import LabelledRows
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import TargetConfig


@dataclass(frozen=True)
class Targets:
    """Imitation targets of N states. Where the weight is 0, action and mask are undefined."""

    states: NDArray[np.uint8]
    actions: NDArray[np.int64]  #: [N, plan length], 0 behind the goal
    optimal: NDArray[np.bool_]  #: [N, 8, 4]: all optimal actions after the path's prefix
    distance: NDArray[np.int32]
    #: Remaining decisions, which expert paths lack: drawn at random, for policies that read them.
    remaining: NDArray[np.int64]
    #: Targets with the player of each state on D other cells.
    elsewhere: Elsewhere | None = None

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, key: slice | NDArray[np.intp]) -> Targets:
        values: list[Any] = [getattr(self, f.name) for f in fields(self)]
        picked: list[Any] = [None if value is None else value[key] for value in values]
        return Targets(*picked)


@dataclass(frozen=True)
class Elsewhere:
    """Targets with the player on other cells of N states. No pictures are drawn for them: the backbone reads a state's
    own picture at these cells."""

    cells: NDArray[np.int64]  #: [N, D]: row * columns + column
    actions: NDArray[np.int64]  #: [N, D, 8]
    optimal: NDArray[np.bool_]  #: [N, D, 8, 4]
    distance: NDArray[np.int32]  #: [N, D]; 0: padding, the state has fewer cells

    def __getitem__(self, key: slice | NDArray[np.intp]) -> Elsewhere:
        return Elsewhere(*(getattr(self, f.name)[key] for f in fields(self)))


#: Sokoban's player code, and maps of cell codes to those with the player removed or added.
PLAYER = 5
_WITHOUT_PLAYER = np.array([0, 1, 2, 3, 4, 0, 2], np.uint8)
_WITH_PLAYER = np.array([5, 1, 6, 3, 4, 5, 6], np.uint8)


def make(
    task: Puzzle,
    content: LabelledRows,
    config: TargetConfig,
    *,
    seed: int,
    first: int,
    length: int = PLAN_LENGTH,
    among: Callable[..., tuple[NDArray[np.uint8], NDArray[np.int32]]] | None = None,
    threads: int = 1,
) -> Targets:
    """The targets of data rows, with paths of ``length`` actions. Row i has number ``first + i`` in the run, which
    seeds its random choices. ``among`` replaces some states by on-policy ones: (states, distances) -> (states,
    distances). Tables of new levels are computed by ``threads``, with the same result."""
    number = first + np.arange(len(content), dtype=np.uint64)
    states, distance = content.states, content.distance.astype(np.int32)
    if config.augment and task.turns:
        states = symmetry.turned(states, symmetry.symmetries(seed, number))
    if among is not None:
        states, distance = among(states, distance)
    path = content.actions if config.paths == "dataset" else None
    actions, optimal = paths(task, states, rng.streams(seed, rng.Purpose.PATH, number), path, length, threads)
    remaining = 1 + rng.below(rng.draw(rng.streams(seed, rng.Purpose.REMAINING, number), 0), config.budget)
    others = None
    if config.dense and dense(task):
        others = _elsewhere(task, states, config.dense, seed, number, length, threads)
    return Targets(states, actions, optimal, distance, remaining, others)


def paths(
    task: Puzzle,
    states: NDArray[np.uint8],
    stream: NDArray[np.uint64],
    path: NDArray[np.uint8] | None = None,
    length: int = PLAN_LENGTH,
    threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """``length`` actions along each state's ``path``, or along an optimal one drawn from its stream, and all optimal
    actions at every step."""
    optimal = np.zeros((len(states), length, 4), bool)
    actions = np.zeros((len(states), length), np.int64)
    here = states
    for i in range(length):
        optimal[:, i] = task.optimal_actions(here, threads=threads)
        live = optimal[:, i].any(axis=1)
        if path is None:
            chosen = pick(optimal[:, i], rng.draw(stream, i))
        else:
            chosen = np.where(live, path[:, i], 0).astype(np.int64)
        actions[:, i] = np.where(live, chosen, 0)
        if i + 1 < length:
            # A solved state has no optimal action; its mask stays unused.
            after = task.step(here, actions[:, i].astype(np.uint8), threads=threads)
            here = np.where(live.reshape(-1, 1, 1), after, here)
    return actions, optimal


def dense(task: Puzzle) -> bool:
    """True if the puzzle supports dense targets (``targets.dense``)."""
    return isinstance(task, Sokoban)


def _elsewhere(
    task: Puzzle,
    states: NDArray[np.uint8],
    many: int,
    seed: int,
    number: NDArray[np.uint64],
    length: int,
    threads: int,
) -> Elsewhere:
    """Targets for ``many`` cells of each state, drawn from those where the player would have an optimal action."""
    assert isinstance(task, Sokoban)
    count, (rows, cols) = len(states), states.shape[1:]
    stream = rng.streams(seed, rng.Purpose.ELSEWHERE, number)
    may = task.optimal_actions_everywhere(states, threads=threads).any(axis=-1).reshape(count, -1)
    may &= states.reshape(count, -1) < PLAYER
    words = np.stack([rng.draw(stream, cell) >> np.uint64(1) for cell in range(rows * cols)], axis=1)
    cells = np.argsort(np.where(may, words, np.uint64(1 << 63)), axis=1, kind="stable")[:, :many]
    there = np.take_along_axis(may, cells, axis=1)
    cells = np.where(there, cells, (states.reshape(count, -1) >= PLAYER).argmax(axis=1)[:, None])
    still = np.where(states >= PLAYER, _WITHOUT_PLAYER[states], states).reshape(count, 1, -1)
    moved = np.repeat(still, many, axis=1)
    np.put_along_axis(moved, cells[..., None], _WITH_PLAYER[np.take_along_axis(moved, cells[..., None], 2)], axis=2)
    asked = moved.reshape(-1, rows, cols)
    each = (number[:, None] * np.uint64(rows * cols) + cells.astype(np.uint64)).ravel()
    stream = rng.streams(seed + 1, rng.Purpose.ELSEWHERE, each)
    actions, optimal = paths(task, asked, stream, length=length, threads=threads)
    distance = np.where(there, task.distance(asked, threads=threads).reshape(count, many), 0).astype(np.int32)
    return Elsewhere(cells, actions.reshape(count, many, -1), optimal.reshape(count, many, length, 4), distance)


def nothing(batch: Targets) -> Targets:
    """One state of a batch with weight 0, for a pass without training."""
    return replace(batch[:1], distance=np.zeros(1, np.int32), elsewhere=None)


def pick(optimal: NDArray[np.bool_], words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A uniformly drawn true column per row; 0 where there is none."""
    count = optimal.sum(axis=1)
    which = rng.below(words, np.maximum(count, 1))
    result: NDArray[np.int64] = (np.cumsum(optimal, axis=1) > which[:, None]).argmax(axis=1)
    return result
