"""Commitments that are executed to their end, against the twins; they part from the usual ones at the goal alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.ice import IceTwin
from tests.reference.simulate import SlidingTwin, SokobanTwin
from tests.unit.puzzles.lockstep import stack

import recommit

CASES = {
    "sliding": (recommit.Sliding(2, 3), SlidingTwin(2, 3), (1, 3)),
    "sokoban": (recommit.Sokoban(6, 1), SokobanTwin(6, 6), (1, 4)),
    "ice": (recommit.Ice(8), IceTwin(8, 8), (3, 4)),
}


@pytest.fixture(params=CASES)
def case(request):
    task, twin, length = CASES[request.param]
    starts = task.generate(400, seed=4, length=length).states
    rng = np.random.default_rng(1)
    actions = rng.integers(0, 4, (len(starts), 8)).astype(np.uint8)
    plans = task.solve(starts)
    for i in range(0, len(starts), 2):  # every other one begins with a plan that solves
        actions[i, : plans.length[i]] = plans[i]
    return task, twin, starts, actions, rng.integers(0, 9, len(starts)).astype(np.int32)


def test_whole_commitments_are_those_of_the_twin(case):
    task, twin, starts, actions, depths = case
    states, before = [bytearray(state.tobytes()) for state in starts], starts.copy()
    moved = [
        sum(twin.step(state, action) for action in row[:depth].tolist())
        for state, row, depth in zip(states, actions, depths, strict=True)
    ]
    outcome = task.to_the_end().execute(starts, actions, depths)
    assert np.array_equal(outcome.states, stack(states, starts.shape[1:]))
    assert outcome.moved.tolist() == moved
    assert outcome.executed.tolist() == depths.tolist()
    assert outcome.solved.tolist() == [twin.is_solved(state) for state in states]
    assert np.array_equal(starts, before)


def test_they_part_at_the_goal_alone(case):
    task, _, starts, actions, depths = case
    usual, whole = task.execute(starts, actions, depths), task.to_the_end().execute(starts, actions, depths)
    stopped = usual.executed < depths
    passed = usual.solved & ~whole.solved
    assert stopped.any()
    assert passed.any()
    assert stopped[passed].all()
    assert np.array_equal(usual.states[~stopped], whole.states[~stopped])
    assert np.array_equal(usual.solved[~stopped], whole.solved[~stopped])
