"""A single state and a list are what the batch of them is."""

from __future__ import annotations

import numpy as np
import pytest

import recommit

TASKS = [recommit.Sliding(3), recommit.Sokoban(7, 1), recommit.Ice(7)]


@pytest.fixture(params=TASKS, ids=lambda task: task.task)
def task(request):
    return request.param


@pytest.fixture
def states(task):
    return task.generate(3, seed=1).states


@pytest.mark.parametrize("name", ["is_solved", "distance", "optimal_actions", "action_masks", "render"])
def test_lists_are_what_their_arrays_are(task, states, name):
    of_all = getattr(task, name)(states)
    for form in (states.tolist(), list(states), tuple(states)):
        assert np.array_equal(getattr(task, name)(form), of_all)
    assert np.array_equal(getattr(task, name)(states[1]), of_all[1])
    assert np.array_equal(getattr(task, name)(states[0].tolist()), of_all[0])


def test_step_takes_one_action_for_all(task, states):
    after = task.step(states, np.full(3, 2, np.uint8))
    assert np.array_equal(task.step(states, 2), after)
    assert np.array_equal(task.step(list(states), [2, 2, 2]), after)
    assert np.array_equal(task.step(states[0], 2), after[0])


def test_execute_takes_one_state_and_its_actions(task, states):
    actions = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 2, 2]], np.uint8)
    whole = task.execute(states, actions, np.full(3, 4, np.int32))
    one = task.execute(states[1], [3, 2, 1, 0], 4)
    assert np.array_equal(one.states, whole.states[1])
    assert (one.executed, one.solved, one.moved) == (whole.executed[1], whole.solved[1], whole.moved[1])
    played_on = task.to_the_end().execute(states[1], [3, 2, 1, 0], 4)
    assert played_on.executed == 4


def test_solve_and_patches_keep_a_batch_of_one(task, states):
    assert task.solve(states[0])[0].tolist() == task.solve(states)[0].tolist()
    values, grids = task.patches(states[0])
    assert np.array_equal(values, task.patches(states)[0][: len(values)])
    assert len(grids) == 1
