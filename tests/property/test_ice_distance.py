"""The compiled solver of icy caves against plain breadth-first search, in every state of random small caves."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.labels import Judge
from tests.reference.simulate import ADD_SLIDER, ICE_GOAL, ROCK

import recommit

SIZES = [(1, 1), (1, 7), (4, 4), (5, 7), (7, 5), (8, 8), (9, 3)]
TASK = recommit.Ice()


def caves(seed, count):
    rng = np.random.default_rng(seed)
    for i in range(count):
        rows, cols = SIZES[i % len(SIZES)]
        # Rocks anywhere, also none along the edge; one goal, no player.
        cave = (rng.random((rows, cols)) < (0.0, 0.1, 0.2, 0.4, 0.7)[i // len(SIZES) % 5]).astype(np.uint8)
        cave[rng.integers(rows), rng.integers(cols)] = ICE_GOAL
        yield cave


def states(cave):
    """Every state of a cave: the player on each cell that is no rock."""
    made = []
    for place in np.argwhere(cave != ROCK):
        state = cave.copy()
        state[tuple(place)] = ADD_SLIDER[int(cave[tuple(place)])]
        made.append(state)
    return np.stack(made)


def compared(seed, count, defect=False):
    """Number of states, how many of them are dead, and how many differ."""
    total = dead = wrong = 0
    for cave in caves(seed, count):
        every, judge = states(cave), Judge("ice", cave.shape, defect)
        expected = [judge.distance(state) for state in every]
        total += len(every)
        dead += expected.count(recommit.UNSOLVABLE)
        wrong += int((TASK.distance(every) != np.array(expected)).sum())
    return total, dead, wrong


def test_every_state_of_random_caves():
    total, dead, wrong = compared(seed=3, count=210)
    assert wrong == 0
    assert total >= 4_000
    assert 1_000 < dead < total - 1_000
    print(f"{total} states, {dead} of them dead")


@pytest.mark.nightly
def test_every_state_of_many_caves():
    total, dead, wrong = compared(seed=4, count=7_000)
    assert wrong == 0
    print(f"{total} states, {dead} of them dead")


def test_the_comparison_notices_a_cave_that_is_solved_in_passing():
    assert compared(seed=3, count=35, defect=True)[2] > 100
