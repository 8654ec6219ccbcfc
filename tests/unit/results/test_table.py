"""Queries over long rows, against plain Python."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refused

from recommit.results import intervals
from recommit.results.intervals import Interval
from recommit.results.pareto import pareto
from recommit.results.table import Results, best, deepest_within

POINTS = st.dictionaries(st.integers(0, 30), st.tuples(st.integers(0, 5), st.integers(0, 5)))


def long_rows(seed=0, agents=("a", "b"), seeds=(0, 1), count=6, repeats=2):
    draw = np.random.default_rng(seed)
    keys = [(a, 5, s, i, i // 2) for a in agents for s in seeds for i in range(count) for _ in range(repeats)]
    agent, budget, own, instance, group = zip(*keys, strict=True)
    figures = [draw.integers(0, 2, len(keys)).astype(float), *draw.normal(size=(3, len(keys)))]
    ints = [np.array(each, np.int64) for each in (own, instance, group)]
    measured = dict(zip(("solved", "actions", "observations", "returns"), figures, strict=True))
    return Results(np.array(agent, object), np.array(budget, object), *ints, measured)


def chosen(rows, which):
    """Some rows, in this order."""
    keys = (getattr(rows, each.name)[which] for each in fields(rows)[:-1])
    return Results(*keys, {name: values[which] for name, values in rows.measured.items()})


@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_queries_do_not_depend_on_the_order_of_rows(seed, random):
    rows = long_rows(seed)
    order = np.array(random.sample(range(len(rows)), len(rows)))
    mixed = chosen(rows, order)
    for column in ("solved", "actions"):
        for number, own in enumerate((0, 1)):
            for place in range(6):
                mine = (rows.agent == "a") & (rows.seed == own) & (rows.instance == place)
                value = mixed.values("a", 5, column)[number, place]
                assert value == pytest.approx(rows.measured[column][mine].mean())
        found, again = (each.difference("a", "b", 5, column) for each in (rows, mixed))
        assert vars(again) == pytest.approx(vars(found))
        one, two = (rows.values(name, 5, column) for name in "ab")
        assert found == intervals.difference(one, two, rows.groups("a", 5))
    assert len(Results.joined([rows, mixed])) == 2 * len(rows)


def test_an_instance_that_a_seed_lacks_is_an_error():
    rows = long_rows(repeats=1)
    part = chosen(rows, slice(1, None))
    shorter = Results.joined([long_rows(agents=("a",)), long_rows(agents=("b",), count=5)])
    refused(
        [
            (lambda: part.values("a", 5, "solved"), "all 6 instances for every seed"),
            (lambda: shorter.difference("a", "b", 5, "solved"), "b: expected the seeds and instances of a, got others"),
        ]
    )


@given(POINTS)
def test_the_pareto_front_is_that_of_all_pairs(points):
    beats = lambda p, q: p[0] >= q[0] and p[1] <= q[1] and p != q
    front = pareto(points)
    assert sorted(front) == sorted(k for k in points if not any(beats(q, points[k]) for q in points.values()))
    assert [points[k][1] for k in front] == sorted(points[k][1] for k in front)


@given(POINTS, st.randoms(use_true_random=False))
def test_the_best_does_not_depend_on_the_order_of_rows(merits, random):
    mixed = dict(random.sample(list(merits.items()), len(merits)))
    found = best(mixed)
    assert found == best(merits)
    if merits:
        assert found == min(key for key in merits if merits[key] == max(merits.values()))
    assert best({}) is None


def test_the_deepest_depth_needs_an_interval_above_the_margin():
    few = {7: Interval(0.0, 0.0, 0.0), 8: Interval(-0.2, -0.35, -0.05, 0.01), 9: Interval(-0.25, -0.6, 0.1, 0.2)}
    assert deepest_within(few) == 7, "9 is not significantly worse than 7, and may be as bad as you like"
    assert deepest_within({**few, 12: Interval(-0.01, -0.04, 0.02, 0.5)}) == 12
    assert deepest_within({9: few[9]}) is None
