"""States to labelled rows: expert paths, states off the path, and any states that a caller brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recommit import rng
from recommit.data import rows
from recommit.data.rows import LabelledRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.data.starts.sampling import Starts
    from recommit.puzzles.puzzle import Puzzle, States

_SPLIT_CODE = {"train": 0, "validation": 1, "test": 2}


def label(
    puzzle: Puzzle,
    states: States,
    *,
    instance: NDArray[Any] | None = None,
    t: NDArray[Any] | None = None,
    length: NDArray[Any] | None = None,
    difficulty: NDArray[Any] | None = None,
    kind: int = rows.ON_POLICY,
    ties: Literal["first", "random"] = "first",
    seed: int = 0,
    threads: int | None = 1,
) -> LabelledRows:
    """Exact labels of any states, for example of those that a policy visited; dead states are marked as such.

    ``instance`` (default: the row number), ``t`` and ``length`` say where the states come from, and are only copied.
    """
    solutions = puzzle.solve(states, ties=ties, seed=seed, threads=threads)
    if (solutions.length == -2).any():
        raise ValueError("states: expected states that can be solved within the solver's limits, got UNKNOWN")
    actions, count = rows.heads(solutions.actions.astype(np.uint8, copy=False), solutions.offsets)
    n = len(states)
    return LabelledRows(
        instance=_column(instance, np.int64, np.arange(n)),
        difficulty=_column(difficulty, np.uint8, np.zeros(n)),
        length=_column(length, np.int16, solutions.length),
        t=_column(t, np.uint16, np.zeros(n)),
        kind=np.full(n, kind, np.uint8),
        states=states,
        distance=solutions.length.astype(np.int16),
        optimal=rows.bits(puzzle.optimal_actions(states, threads=threads)),
        count=count,
        actions=actions,
    )


def _column(values: NDArray[Any] | None, dtype: type[np.generic], default: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(default if values is None else values).astype(dtype)


def path_states(
    puzzle: Puzzle, starts: States, actions: NDArray[Any], offsets: NDArray[Any], threads: int | None = 1
) -> States:
    """The state before every action of every plan (so the goal at the end is not among them)."""
    lengths = np.diff(offsets)
    result = np.empty((int(offsets[-1]), *starts.shape[1:]), np.uint8)
    order = np.argsort(-lengths, kind="stable")  # the plans still running are always a prefix
    running = np.searchsorted(-lengths[order], -np.arange(int(lengths.max(initial=0))), side="left")
    now = np.ascontiguousarray(starts[order])
    for t, alive in enumerate(running):
        places = offsets[:-1][order[:alive]] + t
        result[places] = now[:alive]
        if t + 1 < len(running):
            now = puzzle.step(now[:alive], actions[places], threads=threads)
    return result


def shard_rows(spec: DataSpec, split: str, shard: int, starts: Starts, threads: int | None = 1) -> LabelledRows:
    """Everything a shard holds, instance by instance: the expert path, then the perturbed states."""
    puzzle = spec.puzzle()
    ties = rng.derived_seed(rng.derived_seed(spec.seed, rng.Purpose.TIES, spec.epoch), _SPLIT_CODE[split], shard)
    solutions = puzzle.solve(starts.states, ties=spec.ties, seed=ties, threads=threads)
    plan, offsets = solutions.actions.astype(np.uint8, copy=False), solutions.offsets
    lengths = np.diff(offsets)
    states = path_states(puzzle, starts.states, plan, offsets, threads)
    t = (np.arange(len(states)) - np.repeat(offsets[:-1], lengths)).astype(np.uint16)
    actions, count = rows.windows(plan, offsets)
    owner = np.repeat(np.arange(len(starts)), lengths)
    expert = LabelledRows(
        instance=starts.number[owner],
        difficulty=starts.difficulty[owner],
        length=starts.length[owner],
        t=t,
        kind=np.zeros(len(states), np.uint8),
        states=states,
        distance=(starts.length[owner] - t).astype(np.int16),
        optimal=rows.bits(puzzle.optimal_actions(states, threads=threads)),
        count=count,
        actions=actions,
    )
    if not spec.perturbed:
        return expert
    beside, beside_owner = _perturbed(spec, puzzle, starts, states, offsets, ties, threads)
    order = np.argsort(np.concatenate([owner, beside_owner]), kind="stable")
    return rows.concatenate([expert, beside])[order]


def _perturbed(
    spec: DataSpec,
    puzzle: Puzzle,
    starts: Starts,
    path: States,
    offsets: NDArray[Any],
    seed: int,
    threads: int | None,
) -> tuple[LabelledRows, NDArray[np.intp]]:
    """States a few random actions off the expert path; and which instance each comes from."""
    owner = np.repeat(np.arange(len(starts)), spec.perturbed)
    which = np.tile(np.arange(spec.perturbed), len(starts))
    stream = rng.streams(seed, rng.Purpose.TIES, owner * 256 + which)
    leave = rng.below(rng.draw(stream, 0), starts.length[owner])
    steps = 1 + rng.below(rng.draw(stream, 1), spec.deviation)
    states = path[offsets[owner] + leave]
    for step in range(spec.deviation):
        moved = _random_step(puzzle, states, rng.draw(stream, 2 + step), threads)
        states = np.where((step < steps)[:, None, None], moved, states)
    labelled = label(
        puzzle,
        states,
        instance=starts.number[owner],
        t=leave + steps,
        length=starts.length[owner],
        difficulty=starts.difficulty[owner],
        kind=rows.PERTURBED,
        ties=spec.ties,
        seed=seed + 1,
        threads=threads,
    )
    return labelled, owner


def _random_step(puzzle: Puzzle, states: States, words: NDArray[np.uint64], threads: int | None) -> States:
    """One of the actions that change the state, evenly; a state stays as it is rather than reach the goal."""
    possible = puzzle.action_masks(states, threads=threads)
    number = rng.below(words, np.maximum(possible.sum(axis=1), 1))
    action = (np.cumsum(possible, axis=1) <= number[:, None]).sum(axis=1)
    moved = puzzle.step(states, np.minimum(action, 3).astype(np.uint8), threads=threads)
    result: States = np.where(puzzle.is_solved(moved, threads=threads)[:, None, None], states, moved)
    return result
