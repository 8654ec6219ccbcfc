"""A commitment executes as its actions do one by one: any prefix, any puzzle, to the goal and past it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recommit

TASKS = [recommit.Sliding(2, 3), recommit.Sliding(4), recommit.Sokoban(6, 1), recommit.Sokoban(8, 3), recommit.Ice(7)]
PLANS = st.lists(st.lists(st.integers(0, 3), min_size=8, max_size=8), min_size=1, max_size=6)


@pytest.mark.parametrize("task", TASKS, ids=repr)
@settings(max_examples=25)
@given(plans=PLANS, seed=st.integers(0, 2**40), solved=st.booleans(), depth=st.integers(0, 8))
def test_a_prefix_is_its_steps(task, plans, seed, solved, depth):
    actions = np.array(plans, np.uint8)
    starts = task.generate(len(actions), seed=seed).states
    if solved:  # a plan that reaches the goal on the way, where it is short enough
        best = task.solve(starts, recommit.Limits(nodes=10_000))
        for row, plan in zip(actions, (best[i][:8] for i in range(len(best))), strict=True):
            row[: len(plan)] = plan
    states, executed, moved = starts, np.zeros(len(starts), int), np.zeros(len(starts), int)
    for action in np.ascontiguousarray(actions[:, :depth].T):
        on = ~task.is_solved(states)
        after = np.where(on[:, None, None], task.step(states, action), states)
        executed, moved = executed + on, moved + (after != states).any(axis=(1, 2))
        states = after
    out = task.execute(starts, actions, np.full(len(starts), depth))
    assert np.array_equal(out.states, states)
    assert np.array_equal(out.solved, task.is_solved(states))
    assert (out.executed.tolist(), out.moved.tolist()) == (executed.tolist(), moved.tolist())


@pytest.mark.parametrize("task", TASKS, ids=repr)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**40), cut=st.integers(0, 8), plan=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_two_commitments_in_a_row_are_one(task, seed, cut, plan):
    start, actions = task.generate(1, seed=seed).states[0], np.array(plan, np.uint8)
    whole = task.execute(start, actions, 8)
    first = task.execute(start, actions[:cut], cut)
    second = task.execute(first.states, actions[cut:], 8 - cut)
    assert np.array_equal(second.states, whole.states)
    assert first.executed + second.executed == whole.executed
