"""Baselines of the leaderboard: functions for ``recommit score``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.policy import CommitPolicy
from recommit.puzzles.solver import puzzle_of

if TYPE_CHECKING:
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


def sliding_fixed_8(boards: Boards, remaining: int) -> Commitments:  # noqa: ARG001
    """The plans of the policy sliding-3x3, always eight actions of them."""
    return _fixed("sliding-3x3", boards, 8)


def sliding_fixed_4(boards: Boards, remaining: int) -> Commitments:  # noqa: ARG001
    """The plans of the policy sliding-3x3, always four actions of them."""
    return _fixed("sliding-3x3", boards, 4)


def sokoban_fixed_8(boards: Boards, remaining: int) -> Commitments:  # noqa: ARG001
    """The plans of the policy sokoban-7x7, always eight actions of them."""
    return _fixed("sokoban-7x7", boards, 8)


@cache
def _policy(name: str) -> CommitPolicy:
    return CommitPolicy.from_pretrained(name).eval()


def _fixed(name: str, boards: Boards, depth: int) -> Commitments:
    depths, actions = _policy(name).act(puzzle_of(boards[0]), boards, depth=depth)
    return depths.astype(np.int64), actions
