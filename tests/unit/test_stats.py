"""Intervals and tests against scipy, closed forms and simulation."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace
from math import comb, factorial

import numpy as np
import pytest
from tests.reference import metrics as slow

from recommit import stats

#: Both, one alone, the other alone, none.
ONE, OTHER = (np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool))


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
        wanted = sum(comb(pairs, k) for k in extreme) / 2**pairs
        assert stats.mcnemar(one, other) == pytest.approx(min(wanted, 1.0))
    # 36 against 28 of 64, the paper's headline, at its best: nothing flips the other way.
    one, other = np.arange(64) < 36, np.arange(64) < 28
    assert stats.mcnemar(one, other) == pytest.approx(0.0078125)


def test_mcnemar_with_many_pairs_is_close_to_exact():
    one = np.arange(4000) % 2 == 0
    other = (np.arange(4000) % 2 == 1) & (np.arange(4000) % 16 != 15)
    exact = min(1.0, 2 * sum(comb(3750, i) for i in range(1751)) // 2**3700 / 2**50)
    assert stats.mcnemar(one, other) == pytest.approx(exact, rel=0.1)
    assert stats.mcnemar(one, ~one) == 1.0, "as many on either side say nothing"


def test_intervals_of_paired_shares_cover_and_stay_wide():
    """Exact coverage over all tables of 20 pairs, near and at the ends, independent and alike."""
    tables = [c for c in itertools.product(range(21), repeat=4) if sum(c) == 20]
    found = [stats.paired_shares(*(np.repeat(x, c) for x in (ONE, OTHER))) for c in tables]
    lows, highs = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    ways = np.array([factorial(20) / np.prod([float(factorial(k)) for k in c]) for c in tables])
    counts = np.array(tables)
    for chances in ((0.25,) * 4, (0.5, 0.2, 0.1, 0.2), (0.9, 0.05, 0.0, 0.05), (0.98, 0.01, 0.01, 0.0)):
        law = ways * np.prod(np.array(chances) ** counts, axis=1)
        difference = chances[1] - chances[2]
        covered = law[(lows <= difference + 1e-12) & (difference - 1e-12 <= highs)].sum()
        assert law.sum() == pytest.approx(1.0)
        assert covered > 0.93
    one, other = (np.repeat(x, [20, 12, 2, 16]) for x in (ONE, OTHER))
    first, turned = stats.paired_shares(one, other), stats.paired_shares(other, one)
    assert (first.mean, first.low, first.high) == pytest.approx((0.2, -turned.high, -turned.low))
    same = stats.paired_shares(np.ones(50, bool), np.ones(50, bool))
    assert (same.mean, same.low, same.high) == pytest.approx((0.0, -0.0714, 0.0714), abs=1e-4)


def test_a_bootstrap_of_many_different_numbers_takes_little_memory(monkeypatch):
    """A file of a few megabytes may have a million of them."""
    values = np.random.default_rng(0).normal(size=2000)
    whole = stats.bootstrap(values)
    monkeypatch.setattr(stats, "MOST_DRAWN", 1 << 16)
    tracemalloc.start()
    pieces = stats.bootstrap(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert vars(pieces) == pytest.approx(vars(whole))
    assert peak < 1 << 22


def test_bootstrap_covers_and_is_reproducible():
    draw = np.random.default_rng(0)
    covered = 0
    for trial in range(100):
        found = stats.bootstrap(draw.normal(0.3, 1.0, 150), seed=trial, rounds=500)
        covered += found.low <= 0.3 <= found.high
    assert 88 <= covered <= 100, "95 of 100, give or take"
    values = draw.integers(-1, 2, 1000)
    assert stats.bootstrap(values) == stats.bootstrap(values)
    assert stats.bootstrap(values).mean == pytest.approx(values.mean())
    assert stats.bootstrap(np.zeros(10)) == stats.Interval(0.0, 0.0, 0.0)
    assert stats.bootstrap(np.ones(10)) == stats.Interval(1.0, 1.0, 1.0)


def in_rooms(draw, rooms=40, alike=0.3):
    """Differences of instances in rooms of 1 to 12, those of a room alike; the true mean is 0.1."""
    sizes = draw.integers(1, 13, rooms)
    which = np.repeat(np.arange(rooms), sizes)
    return which, 0.1 + draw.normal(0, alike, rooms)[which] + draw.normal(0, 0.3, len(which))


def test_rooms_are_drawn_again_as_wholes():
    """Intervals over rooms cover as often as they say; intervals over instances, the planted defect, do not."""
    draw = np.random.default_rng(1)
    covered = np.zeros(2, int)
    for trial in range(100):
        which, values = in_rooms(draw)
        for i, rooms in enumerate((which, None)):
            found = stats.bootstrap(values, rooms, seed=trial, rounds=400)
            assert found.mean == pytest.approx(values.mean())
            covered[i] += found.low <= 0.1 <= found.high
    assert covered[0] >= 88
    assert covered[1] <= 80


def test_the_share_of_few_rooms_says_little():
    which = np.repeat(np.arange(20), 50)
    solved = np.repeat(np.arange(20) < 14, 50)
    assert stats.share(solved, which) == pytest.approx(stats.wilson(14, 20), abs=1e-9), "all of a room alike: 20 trials"
    assert stats.share(np.ones(1000, bool), which) == pytest.approx(stats.wilson(20, 20))
    assert stats.share(np.arange(8) < 6, np.full(8, 3)) == pytest.approx(stats.wilson(0.75, 1)), "one room: one trial"
    assert stats.share(np.zeros(0), np.zeros(0, int)) == (0.0, 1.0)
    draw = np.random.default_rng(3)
    low, high = stats.share(draw.random(1000) < 0.5, which)
    assert high - low == pytest.approx(0.062, abs=0.025), "nothing alike in a room: about 1,000 trials"


def test_mcnemar_over_rooms():
    draw = np.random.default_rng(4)
    which = np.repeat(np.arange(60), 20)
    below = 0
    for _ in range(300):  # both agents solve equally often, but whole rooms go to one of them
        first = draw.integers(0, 2, 60).astype(bool)[which]
        below += stats.mcnemar(first, ~first, which) < 0.05
    assert 3 <= below <= 30
    assert stats.mcnemar(first, ~first) < 1e-3 or abs(first.mean() - 0.5) < 0.05, "as instances they would decide it"
    assert stats.mcnemar(first, first, which) == 1.0
    assert stats.mcnemar(np.ones(1200, bool), which % 2 == 0, which) < 1e-6


def test_rooms_of_a_test_set():
    from recommit.data import held_out
    from recommit.data.spec import DataSpec, Difficulty

    recipe = DataSpec(
        task="sokoban", size=(6, 6), difficulties=(Difficulty((4, 12), 1),), count=1, test=200, disjoint="layouts"
    )
    drawn = held_out.starts(recipe, "test", 200, ())
    rooms = held_out.rooms(recipe, drawn.states)
    walls = [np.isin(state, (2, 4, 6)).astype(np.uint8) + 2 * (state == 1) for state in drawn.states]
    kept = {}  # what the states say: walls and goals, mirrored and turned
    for wall, room in zip(walls, rooms.tolist(), strict=True):
        kept.setdefault(room, set()).add(min(image.tobytes() for image in _images(wall)))
    assert 20 < len(kept) < 200
    assert rooms.tolist() == held_out.rooms(recipe, drawn.states[:, ::-1]).tolist(), "mirrored, a room is the same"
    shifted = sum(len(images) for images in kept.values())
    assert len(kept) <= shifted, "a room may lie elsewhere in its grid"
    assert len({image for images in kept.values() for image in images}) == shifted, "no layout in two rooms"
    assert held_out.rooms(replace(recipe, disjoint="starts"), drawn.states) is None


def _images(grid):
    for mirrored in (grid, grid[:, ::-1]):
        for turns in range(4):
            yield np.ascontiguousarray(np.rot90(mirrored, turns))
