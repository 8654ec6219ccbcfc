"""Episodes in which plans come late and actions may slip, action by action: a queue per episode, as an agent has it.

Commitment graphs say what these episodes come to in expectation (``recommit.graph.delays``); here one way of the slips
is played, by the uniform numbers of whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recommit.graph.graph import PLAN
from recommit.horizon.checks import whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle, States
    from recommit.puzzles.slip import Slip

    #: Who plans: takes states, what is queued at each (nothing at the first) and the observations left [n],
    #: this one too, and gives plans [n, 8] and depths [n].
    Planner: TypeAlias = "Callable[[States, list[list[int]], NDArray[np.int64]], tuple[NDArray[Any], NDArray[Any]]]"
    #: Uniform numbers [n] of [0, 1) for these episodes at an action of this number.
    Luck: TypeAlias = "Callable[[NDArray[np.int64], int], NDArray[np.float64]]"


@dataclass(frozen=True)
class DelayedEpisodes:
    """How episodes ended, by start."""

    solved: NDArray[np.bool_]
    actions: NDArray[np.int64]
    observations: NDArray[np.int64]


def play(
    puzzle: Puzzle, starts: States, budget: int, planner: Planner, *, delay: int = 0, slip: Slip | None = None,
    luck: Luck | None = None,
) -> DelayedEpisodes:  # fmt: skip
    """Play one episode from every start. An observation is taken where ``delay`` actions are queued, as long as there
    is one left; the first plan is waited for. An episode ends at the goal, or where its queue has run out."""
    whole("delay", delay, 0)
    if slip is not None and luck is None:
        raise ValueError("luck: expected uniform numbers for the slips, got None")
    here, lengths, none = starts.copy(), np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64)
    queues: list[list[int]] = [[] for _ in starts]
    result = DelayedEpisodes(puzzle.is_solved(here), none.copy(), none.copy())
    for number in count():
        open_ = np.flatnonzero(~result.solved)
        due = open_[(result.observations[open_] < budget) & (lengths[open_] <= delay)]
        if len(due):
            remaining = budget - result.observations[due]
            lengths[due] = _observe(here[due], remaining, [queues[i] for i in due], planner, delay)
            result.observations[due] += 1
        who = open_[lengths[open_] > 0]
        if not len(who):
            break
        actions = np.array([queues[i].pop(0) for i in who], np.uint8)
        if slip is None or luck is None:
            here[who] = puzzle.step(here[who], actions)
        else:
            here[who] = slip.step(puzzle, here[who], actions, luck(who, number))
        result.actions[who] += 1
        lengths[who] -= 1
        result.solved[who] = puzzle.is_solved(here[who])
    return result


def _observe(
    states: States, remaining: NDArray[np.int64], queues: list[list[int]], planner: Planner, delay: int
) -> NDArray[np.integer]:
    """Put the beginnings of new plans behind what is queued, without the actions whose time is over by then; how much
    is queued now."""
    plans, depths = planner(states, queues, remaining)
    if wrong := [depth for depth in depths.tolist() if not delay < depth <= PLAN]:
        raise ValueError(f"planner: expected depths {delay + 1}..{PLAN}, got {wrong[0]}")
    for queue, plan, depth in zip(queues, plans, depths.tolist(), strict=True):
        queue += plan[len(queue) : depth].tolist()
    return depths
