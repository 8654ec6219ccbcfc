"""Intervals and tests against scipy, closed forms and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.reference import metrics as slow

from recommit.evaluate import stats


def test_wilson_equals_its_definition():
    for trials in (1, 7, 64, 1024):
        for successes in {0, 1, trials // 3, trials}:
            low, high = stats.wilson(successes, trials)
            wanted = slow.wilson(successes, trials)
            assert (low, high) == pytest.approx((max(wanted[0], 0), min(wanted[1], 1)), abs=1e-9)
    assert stats.wilson(0, 0) == (0.0, 1.0)
    low, high = stats.wilson(32, 64)
    assert (100 * (0.5 - low), 100 * (high - 0.5)) == pytest.approx((11.9, 11.9), abs=0.1), "64 instances: 12 points"


def test_mcnemar_is_the_exact_binomial_test():
    for first, second in itertools.product(range(8), repeat=2):
        one = np.array([True] * first + [False] * second + [True] * 5 + [False] * 3)
        other = np.array([False] * first + [True] * second + [True] * 5 + [False] * 3)
        pairs = first + second
        extreme = [k for k in range(pairs + 1) if abs(2 * k - pairs) >= abs(first - second)]
        wanted = sum(_choose(pairs, k) for k in extreme) / 2**pairs
        assert stats.mcnemar(one, other) == pytest.approx(min(wanted, 1.0))
    # 36 against 28 of 64, the paper's headline, at its best: nothing flips the other way.
    one, other = np.arange(64) < 36, np.arange(64) < 28
    assert stats.mcnemar(one, other) == pytest.approx(0.0078125)


def test_mcnemar_with_many_pairs_is_close_to_exact():
    one = np.arange(4000) % 2 == 0
    other = (np.arange(4000) % 2 == 1) & (np.arange(4000) % 16 != 15)
    exact = min(1.0, 2 * sum(_choose(3750, i) for i in range(1751)) // 2**3700 / 2**50)
    assert stats.mcnemar(one, other) == pytest.approx(exact, rel=0.1)


def _choose(n, k):
    found = 1
    for i in range(k):
        found = found * (n - i) // (i + 1)
    return found


def test_bootstrap_covers_and_is_reproducible():
    draw = np.random.default_rng(0)
    covered = 0
    for trial in range(200):
        found = stats.bootstrap(draw.normal(0.3, 1.0, 150), seed=trial, rounds=500)
        covered += found.low <= 0.3 <= found.high
    assert 178 <= covered <= 199, "95 % of 200, give or take"
    values = draw.integers(-1, 2, 1000)
    assert stats.bootstrap(values) == stats.bootstrap(values)
    assert stats.bootstrap(values).mean == pytest.approx(values.mean())
    assert stats.bootstrap(np.zeros(10)) == stats.Interval(0.0, 0.0, 0.0)
    assert stats.bootstrap(np.ones(10)).excludes_zero()
