"""Instance i is a function of (task, seed, i): any slice, any thread count, the same bytes; other seeds, others."""

from __future__ import annotations

import numpy as np
import pytest

import recommit

TASKS = [recommit.Sliding(2), recommit.Sliding(3), recommit.Sliding(4), recommit.Sliding(2, 5), recommit.Sliding(5)]
LEVELS = [recommit.Sokoban(6, 1), recommit.Sokoban(8, 2), recommit.Sokoban(10, 4), recommit.Sokoban((7, 12), 3)]


@pytest.mark.parametrize("task", [*TASKS, *LEVELS, recommit.Ice((8, 11))], ids=repr)
def test_slices_and_threads_change_nothing(task):
    whole = task.generate(100, seed=7)
    for threads in (1, 3, 32):
        assert np.array_equal(task.generate(100, seed=7, threads=threads).states, whole.states)
    part = task.generate(25, seed=7, start=50, threads=3)
    assert np.array_equal(part.states, whole.states[50:75])
    assert part.ids == whole[50:75].ids
    assert part.ids[0] == whole[50].id
    if task.shape != (2, 2):
        assert len(np.unique(whole.states, axis=0)) > 97
        assert (task.generate(100, seed=2).states != whole.states).any(axis=(1, 2)).mean() > 0.98


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_boards_are_solvable_and_not_solved(task):
    states = task.generate(500, seed=3).states
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


@pytest.mark.parametrize("task", LEVELS, ids=repr)
def test_levels_hold_what_was_asked(task):
    states = task.generate(200, seed=3).states
    assert states.shape[1:] == task.shape
    assert not task.is_solved(states).any()
    assert (np.isin(states, [3, 4]).sum(axis=(1, 2)) == task.boxes).all()
    assert (np.isin(states, [2, 4, 6]).sum(axis=(1, 2)) == task.boxes).all()
    for ring in (states[:, 0], states[:, -1], states[:, :, 0], states[:, :, -1]):
        assert (ring == 1).all()


WINDOWS = {
    "sliding 3x3": (recommit.Sliding(3), (8, 24), {}),
    "sliding 4x4": (recommit.Sliding(4), (10, 24), {}),
    "rooms": (recommit.Sokoban(8, 2), (8, 32), {}),
    "boxoban": (recommit.Sokoban(10, 4), (16, 48), {"generator": "boxoban"}),
    "reverse": (recommit.Sokoban(7, 2), (5, 20), {"generator": "reverse"}),
    "ice": (recommit.Ice((8, 11)), (2, 30), {}),
}


# A window of 4x4 boards is searched board by board: fewer of them.
@pytest.mark.parametrize(
    ("name", "count"), [(name, 40 if name == "sliding 4x4" else 200) for name in WINDOWS], ids=list(WINDOWS)
)
def test_lengths_are_exact_and_in_the_window(name, count):
    task, (low, high), options = WINDOWS[name]
    whole = task.generate(count, seed=5, length=(low, high), **options)
    assert whole.length.min() >= low
    assert whole.length.max() <= high
    assert len(np.unique(whole.length)) > 8
    solutions = task.solve(whole.states)
    assert np.array_equal(solutions.length, whole.length)
    for i in range(0, count, 7):
        actions = solutions[i]
        outcome = task.execute(whole.states[i : i + 1], actions[None], np.array([len(actions)]))
        assert outcome.solved[0]
        assert outcome.executed[0] == whole.length[i]
    for threads in (1, 3):
        part = task.generate(count // 8, seed=5, length=(low, high), start=count // 2, threads=threads, **options)
        assert np.array_equal(part.states, whole.states[count // 2 : count // 2 + count // 8])
    other = task.generate(count, seed=6, length=(low, high), **options)
    assert (other.states != whole.states).any(axis=(1, 2)).mean() > 0.9
