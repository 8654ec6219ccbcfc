"""Instance i is a function of (task, seed, i): any slice, any thread count, the same bytes; other seeds, others."""

from __future__ import annotations

import numpy as np
import pytest

import recommit

TASKS = [recommit.Sliding(2), recommit.Sliding(3), recommit.Sliding(4), recommit.Sliding(2, 5), recommit.Sliding(5)]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_slices_and_threads_change_nothing(task):
    whole = task.generate(500, seed=7)
    for threads in (1, 2, 3, 8, 32):
        assert np.array_equal(task.generate(500, seed=7, threads=threads).states, whole.states)
    part = task.generate(100, seed=7, start=250, threads=3)
    assert np.array_equal(part.states, whole.states[250:350])
    assert part.ids == whole[250:350].ids
    assert part.ids[0] == whole[250].id


@pytest.mark.parametrize("task", TASKS[1:], ids=repr)
def test_other_seeds_give_other_instances(task):
    one, two = task.generate(200, seed=1).states, task.generate(200, seed=2).states
    assert (one != two).any(axis=(1, 2)).mean() > 0.99
    assert len(np.unique(one.reshape(200, -1), axis=0)) > 195


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_boards_are_solvable_and_not_solved(task):
    states = task.generate(2000, seed=3).states
    assert not task.is_solved(states).any()
    assert solvable(states).all()


def test_the_solvability_check_sees_a_swapped_pair():
    states = recommit.Sliding(4).generate(100, seed=0).states
    swapped = states.copy()
    swapped[states == 1], swapped[states == 2] = 2, 1
    assert not solvable(swapped).any()


def solvable(states):
    """Sign of the permutation (blank included) = parity of the blank's taxicab distance from its goal cell."""
    n, rows, cols = states.shape
    flat = states.reshape(n, -1).astype(int)
    flat[flat == 0] = rows * cols
    inversions = sum((flat[:, [i]] > flat[:, i + 1 :]).sum(axis=1) for i in range(rows * cols - 1))
    blank = flat.argmax(axis=1)
    return (inversions - (rows - 1 - blank // cols) - (cols - 1 - blank % cols)) % 2 == 0
