"""Baselines of the leaderboard: functions for ``recommit score``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.policy import CommitPolicy
from recommit.puzzles.solver import puzzle_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Boards = NDArray[np.uint8]
    Commitments = tuple[NDArray[np.int64], NDArray[np.uint8]]


def optimal(boards: Boards, remaining: int) -> Commitments:  # noqa: ARG001
    """The first eight actions of an optimal plan: the value that nobody exceeds."""
    plans = puzzle_of(boards[0]).solve(boards)
    actions = np.zeros((len(boards), 8), np.uint8)
    for number in range(len(boards)):
        plan = plans[number][:8]
        actions[number, : len(plan)] = plan
    return np.minimum(np.maximum(plans.length, 1), 8).astype(np.int64), actions


@cache
def _policy(name: str) -> CommitPolicy:
    return CommitPolicy.from_pretrained(name).eval()


def _fixed(name: str, depth: int) -> Callable[[Boards, int], Commitments]:
    """The plans of a policy of the package, always so many actions of them."""

    def play(boards: Boards, remaining: int) -> Commitments:  # noqa: ARG001
        depths, actions = _policy(name).act(puzzle_of(boards[0]), boards, depth=depth)
        return depths.astype(np.int64), actions

    return play


# Of all depths 1 to 8, those that are best in value or in solved levels under some budget.
sliding_fixed_4, sliding_fixed_7, sliding_fixed_8 = (_fixed("sliding-3x3", depth) for depth in (4, 7, 8))
sokoban_fixed_6, sokoban_fixed_8 = (_fixed("sokoban-7x7", depth) for depth in (6, 8))
