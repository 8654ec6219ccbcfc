"""Intervals against closed forms, exact enumeration and simulation, and what holds of all of them."""

from __future__ import annotations

import itertools
from math import factorial, inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.reference import metrics as slow

from recommit.results import intervals
from recommit.results.intervals import Interval

#: Both, one alone, the other alone, none.
ONE, OTHER = (np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0]))
NUMBERS = st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 6))


@st.composite
def pairs(draw):
    """Two agents on the same instances, perhaps shares, perhaps of several seeds, perhaps in groups."""
    count, seeds = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    shape = (count,) if seeds == 1 else (seeds, count)
    elements = draw(st.sampled_from([st.sampled_from([0.0, 1.0]), NUMBERS]))
    one, other = (draw(hnp.arrays(np.float64, shape, elements=elements)) for _ in range(2))
    groups = draw(st.none() | hnp.arrays(np.int64, count, elements=st.integers(0, 8)))
    return one, other, groups


@given(pairs())
def test_properties_of_paired_differences(pair):
    one, other, groups = pair
    found, turned = intervals.difference(one, other, groups), intervals.difference(other, one, groups)
    assert found.mean == pytest.approx(one.mean() - other.mean(), abs=1e-9)
    assert found.low <= found.mean <= found.high
    assert (turned.mean, turned.low, turned.high, turned.p) == pytest.approx(
        (-found.mean, -found.high, -found.low, found.p), abs=1e-9
    )
    assert 0 <= found.p <= 1
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0) == bool(found.sign)
    assert Interval.of(found.values()) == found


@given(pairs())
def test_properties_of_means_and_shares(pair):
    values, _, groups = pair
    found = intervals.mean(values, groups)
    assert found.low <= found.mean <= found.high
    assert (found.p < 0.05) == bool(found.sign)
    shifted = intervals.mean(values + 3.0, groups)
    assert (shifted.mean, shifted.low, shifted.high) == pytest.approx(
        (found.mean + 3, found.low + 3, found.high + 3), abs=1e-6
    )
    solved = np.atleast_2d(values)[0] > 0
    part = intervals.share(solved, groups)
    assert 0 <= part.low <= part.mean <= part.high <= 1


@given(pairs(), st.randoms(use_true_random=False))
def test_the_order_of_instances_does_not_matter(pair, random):
    one, other, groups = pair
    order = np.array(random.sample(range(one.shape[-1]), one.shape[-1]))
    again = intervals.difference(one[..., order], other[..., order], None if groups is None else groups[order])
    found = intervals.difference(one, other, groups)
    assert vars(again) == pytest.approx(vars(found), abs=1e-7)


def test_student_equals_its_tables():
    for freedom, wanted in ((1, 12.7062), (2, 4.30265), (3, 3.18245), (10, 2.22814), (49, 2.00958), (1023, 1.96229)):
        assert intervals._quantile(freedom) == pytest.approx(wanted, rel=1e-5)
    assert intervals._within(2.0, 5) == pytest.approx(1 - 0.1019395, abs=1e-6)
    values = np.array([1.0, 2.0, 4.0, 9.0])
    found, half = intervals.mean(values), 3.182446 * values.std(ddof=1) / 2
    assert (found.low, found.high) == pytest.approx((4 - half, 4 + half), rel=1e-6)
    assert intervals.mean(np.array([3.0])) == Interval(3.0, -inf, inf), "one instance has no spread"
    assert intervals.mean(np.array([2.0, 3.0]), np.array([7, 7])).high == inf, "nor has one room"
    assert intervals.mean(np.full(5, 0.1)) == Interval(0.1, 0.1, 0.1, 0.0)


def test_training_seeds_are_the_units_where_they_lie_further_apart():
    seeds = np.array([0.01, 0.02, 0.06])
    alike = np.repeat(seeds[:, None], 500, axis=1)
    half = 4.30265 * seeds.std(ddof=1) / sqrt(3)
    found = intervals.mean(alike)
    assert (found.low, found.high) == pytest.approx((0.03 - half, 0.03 + half), rel=1e-5)
    draw = np.random.default_rng(0)
    noise = np.repeat(draw.normal(size=(1, 50)), 3, axis=0)
    assert vars(intervals.mean(noise)) == pytest.approx(vars(intervals.mean(noise[0]))), "seeds that agree by chance"


def test_wilson_equals_its_definition():
    for trials in (1, 7, 64, 1024):
        for successes in {0, 1, trials // 3, trials}:
            low, high = intervals.wilson(successes / trials, trials)
            wanted = slow.wilson(successes, trials)
            assert (low, high) == pytest.approx((max(wanted[0], 0), min(wanted[1], 1)), abs=1e-9)
    assert intervals.wilson(0, 0) == (0.0, 1.0)


def test_intervals_of_paired_shares_cover_and_stay_wide():
    """Exact coverage over all tables of 20 pairs, near and at the ends, independent and alike."""
    tables = [c for c in itertools.product(range(21), repeat=4) if sum(c) == 20]
    found = [intervals.difference(*(np.repeat(x, c) for x in (ONE, OTHER))) for c in tables]
    lows, highs = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    ways = np.array([factorial(20) / np.prod([float(factorial(k)) for k in c]) for c in tables])
    counts = np.array(tables)
    for chances in ((0.25,) * 4, (0.5, 0.2, 0.1, 0.2), (0.9, 0.05, 0.0, 0.05), (0.98, 0.01, 0.01, 0.0)):
        law = ways * np.prod(np.array(chances) ** counts, axis=1)
        between = chances[1] - chances[2]
        assert law[(lows <= between + 1e-12) & (between - 1e-12 <= highs)].sum() > 0.93
    same = intervals.difference(np.ones(50), np.ones(50))
    assert (same.mean, same.low, same.high) == pytest.approx((0.0, -0.0714, 0.0714), abs=1e-4)


def in_rooms(draw, rooms=40, alike=0.3):
    """Differences of instances in rooms of 1 to 12, those of a room alike; the true mean is 0.1."""
    sizes = draw.integers(1, 13, rooms)
    which = np.repeat(np.arange(rooms), sizes)
    return which, 0.1 + draw.normal(0, alike, rooms)[which] + draw.normal(0, 0.3, len(which))


def test_rooms_are_the_units():
    """Intervals over rooms cover as often as they say; intervals over instances, the planted defect, do not."""
    draw, covered = np.random.default_rng(1), np.zeros(2, int)
    for _ in range(300):
        which, values = in_rooms(draw)
        for i, rooms in enumerate((which, None)):
            found = intervals.mean(values, rooms)
            covered[i] += found.low <= 0.1 <= found.high
    assert covered[0] >= 270
    assert covered[1] <= 240
    below = np.zeros(2, int)
    for _ in range(300):  # both agents solve equally often, but whole rooms go to one of them
        first = draw.integers(0, 2, 60).repeat(20).astype(float)
        for i, rooms in enumerate((np.repeat(np.arange(60), 20), None)):
            below[i] += intervals.difference(first, 1 - first, rooms).p < 0.05
    assert below[0] <= 30
    assert below[1] >= 150


def test_the_share_of_few_rooms_says_little():
    which, solved = np.repeat(np.arange(20), 50), np.repeat(np.arange(20) < 14, 50)
    ends = lambda found: (found.low, found.high)
    assert ends(intervals.share(solved, which)) == pytest.approx(intervals.wilson(0.7, 20), abs=1e-9)
    assert ends(intervals.share(np.ones(1000), which)) == pytest.approx(intervals.wilson(1.0, 20))
    assert ends(intervals.share(np.arange(8) < 6, np.full(8, 3))) == pytest.approx(intervals.wilson(0.75, 1))
    assert ends(intervals.share(np.zeros(0), np.zeros(0, int))) == (0.0, 1.0)
    low, high = ends(intervals.share(np.random.default_rng(3).random(1000) < 0.5, which))
    assert high - low == pytest.approx(0.062, abs=0.025), "nothing alike in a room: about 1,000 trials"


def test_gain_shares_lie_between_both_ends_and_cover():
    draw, covered = np.random.default_rng(5), 0
    for _ in range(300):
        fixed = draw.normal(0, 1, 200)
        oracle, rule = fixed + draw.normal(0.4, 0.5, 200), fixed + draw.normal(0.1, 0.5, 200)
        found = intervals.gain(rule, fixed, oracle)
        assert found is not None
        covered += found.low <= 0.25 <= found.high
    assert covered >= 275
    assert intervals.gain(fixed, fixed, fixed) is None, "there is nothing to gain"
    assert vars(intervals.gain(oracle, fixed, oracle)) == {"mean": 1.0, "low": 1.0, "high": 1.0, "p": 0.0}
    by_price, shares = intervals.mean_gain(*(np.stack([x, x], 1) for x in (rule, fixed, oracle)), None)
    assert by_price.mean == pytest.approx(intervals.gain(rule, fixed, oracle).mean)
    taken, little = draw.normal(0.1, 1.0, (2, 50))
    assert intervals.gain(taken, np.zeros(50), little) is None, "the oracle is not significantly better"
    assert shares == pytest.approx([by_price.mean] * 2)
