"""Sokoban tables under a small budget of memory: made once per call however levels take turns, and never wrong."""

from __future__ import annotations

import numpy as np
import pytest

import recommit
from recommit import _core

TASK = recommit.Sokoban(8, 2)
LEVELS, ROUNDS = 40, 12
CALLS = ("distance", "optimal_actions", "optimal_actions_everywhere", "solve")


@pytest.fixture
def builds():
    """How many tables a call makes that begins with none; the cache is as before afterwards."""
    cache = _core.sokoban.table_cache
    budget = cache()["budget"]

    def count(held, call):
        cache(clear=True, budget=held)
        before = cache()["builds"]
        return call(), cache()["builds"] - before

    yield count
    cache(clear=True, budget=budget)


@pytest.fixture(scope="module")
def in_turn():
    """Levels of different layouts, every state another level's than the one before."""
    states, rng, rounds = TASK.generate(LEVELS, seed=5).states, np.random.default_rng(0), []
    assert len(np.unique(TASK.layouts(states), axis=0)) == LEVELS
    for _ in range(ROUNDS):
        rounds.append(states)
        states = TASK.step(states, rng.integers(0, 4, LEVELS, dtype=np.uint8))
    return np.concatenate(rounds)


def plain(call, result):
    return [result.length, result.actions, result.offsets] if call == "solve" else [result]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("call", CALLS)
def test_levels_that_take_turns_are_built_once(builds, in_turn, call, threads):
    ask = lambda states: lambda: plain(call, getattr(TASK, call)(states, threads=threads))
    builds(1 << 30, ask(in_turn))
    warm = ask(in_turn)()  # every table at hand: states in the order of the batch
    size = _core.sokoban.table_cache()["bytes"] // LEVELS
    tight, made = builds(4 * size, ask(in_turn))
    assert made == LEVELS
    assert all((one == other).all() for one, other in zip(warm, tight, strict=True))
    assert _core.sokoban.table_cache()["bytes"] <= 4 * size


def test_what_is_at_hand_is_answered_before_anything_is_dropped_for_the_rest(builds, in_turn):
    """A second pass makes those tables alone that did not fit; in the order of the batch it would make them all."""
    builds(1 << 30, lambda: TASK.distance(in_turn))
    held = _core.sokoban.table_cache()["bytes"] * 9 // 10
    builds(held, lambda: TASK.distance(in_turn))
    before = _core.sokoban.table_cache()
    TASK.distance(in_turn, threads=1)
    assert _core.sokoban.table_cache()["builds"] - before["builds"] == LEVELS - before["levels"] < LEVELS // 2


def test_a_table_larger_than_the_cache_is_made_once_for_its_states(builds, in_turn):
    own = np.ascontiguousarray(in_turn[::LEVELS])
    states = np.repeat(own, 50, axis=0)
    expected = TASK.distance(states)
    got, made = builds(0, lambda: TASK.distance(states, threads=1))
    assert made == 1
    assert (got == expected).all()
