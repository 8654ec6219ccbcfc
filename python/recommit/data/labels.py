"""Exact solver labels of states on and off expert paths, and of a caller's states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit import rng
from recommit.data import rows
from recommit.data.rows import LabelledRows
from recommit.data.spec import SPLITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle, States


#: Most random actions from an expert path to a perturbed state.
DEVIATION = 4


def label(
    puzzle: Puzzle,
    states: States,
    *,
    instance: NDArray[Any] | None = None,
    ties: Literal["first", "random"] = "first",
    seed: int = 0,
) -> LabelledRows:
    """Exact labels of any states, for example those that a policy visited; dead states are marked.

    ``instance`` numbers the states; default: their index in the batch.
    """
    solutions = puzzle.solve(states, ties=ties, seed=seed, threads=1)
    actions, count = rows.prefixes(solutions.actions.astype(np.uint8, copy=False), solutions.offsets)
    many = len(states)
    return LabelledRows(
        instance=np.arange(many) if instance is None else np.asarray(instance, np.int64),
        difficulty=np.zeros(many, np.uint8),
        length=solutions.length.astype(np.int16),
        t=np.zeros(many, np.uint16),
        kind=np.full(many, rows.ON_POLICY, np.uint8),
        states=states,
        distance=solutions.length.astype(np.int16),
        optimal=_optimal(puzzle, states, solutions.length),
        count=count,
        actions=actions,
    )


def _optimal(puzzle: Puzzle, states: States, distance: NDArray[Any]) -> NDArray[np.uint8]:
    """All optimal actions as bits. None where a search beside a state hit a limit: those are not known, so refused."""
    optimal = rows.bits(puzzle.optimal_actions(states, threads=1))
    _refuse_unknown((distance == -2) | ((distance > 0) & (optimal == 0)))
    return optimal


def _refuse_unknown(unknown: NDArray[np.bool_]) -> None:
    if unknown.any():
        raise ValueError("states: expected states that can be solved within the solver's limits, got UNKNOWN")


def path_states(puzzle: Puzzle, starts: States, actions: NDArray[Any], offsets: NDArray[Any]) -> States:
    """The state before every action of every plan, without the final goal states."""
    lengths = np.diff(offsets)
    result = np.empty((int(offsets[-1]), *starts.shape[1:]), np.uint8)
    order = np.argsort(-lengths, kind="stable")  # so that unfinished plans are always a prefix
    running = np.searchsorted(-lengths[order], -np.arange(int(lengths.max(initial=0))), side="left")
    now = np.ascontiguousarray(starts[order])
    for t, alive in enumerate(running):
        places = offsets[:-1][order[:alive]] + t
        result[places] = now[:alive]
        if t + 1 < len(running):
            now = puzzle.step(now[:alive], actions[places], threads=1)
    return result


def shard_rows(spec: DataSpec, split: str, shard: int, starts: Starts) -> LabelledRows:
    """All rows of a shard, by instance: the states on the expert path, then the perturbed ones."""
    puzzle = spec.puzzle()
    seed = rng.derived_seed(rng.derived_seed(spec.seed, rng.Purpose.TIES, 0), SPLITS.index(split), shard)
    solutions = puzzle.solve(starts.states, ties=spec.ties, seed=seed, threads=1)
    plan, offsets = solutions.actions.astype(np.uint8, copy=False), solutions.offsets
    lengths = np.diff(offsets)
    _refuse_unknown(lengths != starts.length)
    states = path_states(puzzle, starts.states, plan, offsets)
    t = (np.arange(len(states)) - np.repeat(offsets[:-1], lengths)).astype(np.uint16)
    actions, count = rows.windows(plan, offsets)
    owner = np.repeat(np.arange(len(starts)), lengths)
    expert = LabelledRows(
        instance=starts.number[owner],
        difficulty=starts.difficulty[owner],
        length=starts.length[owner],
        t=t,
        kind=np.full(len(states), rows.EXPERT, np.uint8),
        states=states,
        distance=(starts.length[owner] - t).astype(np.int16),
        optimal=_optimal(puzzle, states, starts.length[owner] - t),
        count=count,
        actions=actions,
    )
    if not spec.perturbed:
        return expert
    leaving = np.repeat(np.arange(len(starts)), spec.perturbed)
    perturbed = _perturbed(spec, starts, leaving, states, offsets, seed)
    order = np.argsort(np.concatenate([owner, leaving]), kind="stable")
    return rows.concatenate([expert, perturbed])[order]


def _perturbed(
    spec: DataSpec, starts: Starts, owner: NDArray[np.intp], path: States, offsets: NDArray[Any], seed: int
) -> LabelledRows:
    """Labelled states a few random actions off the expert path of their instance."""
    puzzle, which = spec.puzzle(), np.tile(np.arange(spec.perturbed), len(starts))
    stream = rng.streams(seed, rng.Purpose.TIES, owner * 256 + which)
    leave = rng.below(rng.draw(stream, 0), starts.length[owner])
    steps = 1 + rng.below(rng.draw(stream, 1), DEVIATION)
    states = path[offsets[owner] + leave]
    for step in range(DEVIATION):
        moved = _random_step(puzzle, states, rng.draw(stream, 2 + step))
        states = np.where((step < steps)[:, None, None], moved, states)
    return replace(
        label(puzzle, states, ties=spec.ties, seed=seed + 1),
        instance=starts.number[owner],
        difficulty=starts.difficulty[owner],
        length=starts.length[owner],
        t=(leave + steps).astype(np.uint16),
        kind=np.full(len(states), rows.PERTURBED, np.uint8),
    )


def _random_step(puzzle: Puzzle, states: States, words: NDArray[np.uint64]) -> States:
    """Take a uniformly random action among those that change the state, but never step onto the goal."""
    possible = puzzle.action_masks(states, threads=1)
    number = rng.below(words, np.maximum(possible.sum(axis=1), 1))
    action = (np.cumsum(possible, axis=1) <= number[:, None]).sum(axis=1)
    moved = puzzle.step(states, np.minimum(action, 3).astype(np.uint8), threads=1)
    return np.where(puzzle.is_solved(moved, threads=1)[:, None, None], states, moved)
