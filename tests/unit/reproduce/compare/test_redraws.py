"""Intervals of many columns at once, against plain Python with the same rooms drawn."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import compare as slow

from recommit import rng, stats
from recommit.reproduce.compare.redraws import Redraws

ROOMS = np.array([7, 7, 3, 3, 3, 9, 1, 1, 5, 5])


def drawn(rounds, rooms=5):
    generator = np.random.Generator(np.random.Philox(key=rng.derived_seed(0, rng.Purpose.BOOTSTRAP, 0)))
    return generator.multinomial(rooms, [1 / rooms] * rooms, size=rounds).tolist()


@pytest.fixture(scope="module")
def columns():
    return np.random.default_rng(0).normal(size=(3, len(ROOMS)))


def test_means_and_shares_are_those_of_plain_python(columns):
    redraws, numbers = Redraws(ROOMS, rounds=60), [3, 3, 1, 1, 1, 4, 0, 0, 2, 2]
    there = 0.5 + np.random.default_rng(1).random((3, len(ROOMS)))
    means, shares = redraws.means(columns), redraws.shares(columns, there)
    for i in range(3):
        one = slow.interval(columns[i].tolist(), numbers, drawn(60))
        assert (means[i].mean, means[i].low, means[i].high) == pytest.approx(one, abs=1e-12)
        share = shares[i]
        assert share is not None
        two = slow.interval(columns[i].tolist(), numbers, drawn(60), there[i].tolist())
        assert (share.mean, share.low, share.high) == pytest.approx(two, abs=1e-12)


def test_starts_of_a_room_that_are_drawn_apart_are_noticed(columns):
    """The planted defect: every start its own room."""
    apart, together = (Redraws(rooms, rounds=60).means(columns)[0] for rooms in (np.arange(len(ROOMS)), ROOMS))
    assert apart.mean == together.mean
    assert (apart.low, apart.high) != pytest.approx((together.low, together.high))


def test_intervals_are_as_wide_as_those_of_single_columns(columns):
    wide = np.tile(columns, (1, 40))
    rooms = np.tile(ROOMS, 40) + 10 * np.repeat(np.arange(40), len(ROOMS))
    for one, column in zip(Redraws(rooms).means(wide), wide, strict=True):
        single = stats.bootstrap(column, rooms)
        assert one.mean == pytest.approx(single.mean)
        assert one.high - one.low == pytest.approx(single.high - single.low, rel=0.15)


def test_a_share_of_nothing_is_none(columns):
    assert Redraws(ROOMS).shares(columns[:1], np.zeros((1, len(ROOMS)))) == [None]
