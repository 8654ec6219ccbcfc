"""Queries over long rows, against plain Python; and a table in four forms, of which each escapes for itself."""

from __future__ import annotations

import csv
import io
from dataclasses import fields
from html.parser import HTMLParser
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refused

from recommit.results import intervals
from recommit.results.intervals import Interval
from recommit.results.table import (
    Grid,
    Results,
    best,
    csv_text,
    deepest_within,
    ends,
    figure,
    number,
    pareto,
    spread,
    undominated,
)

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
        for place_of_seed, own in enumerate((0, 1)):
            for place in range(6):
                mine = (rows.agent == "a") & (rows.seed == own) & (rows.instance == place)
                value = mixed.values("a", 5, column)[place_of_seed, place]
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


def test_depths_that_nothing_dominates_by_hand():
    assert undominated(15, 37, tuple(range(1, 9))) == [1, 2], "the paper's sliding, loose"
    assert undominated(6, 30, (1, 2, 4, 8)) == [1, 2, 4], "the paper's Sokoban, loose"


WORDS = st.text(max_size=12)
GRIDS = st.integers(1, 4).flatmap(
    lambda n: st.tuples(st.lists(WORDS, min_size=n, max_size=n), st.lists(st.lists(WORDS, min_size=n, max_size=n)))
)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.cells = [], 0

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)


@given(GRIDS)
def test_any_words_stay_in_their_cells(grid):
    head, rows = grid
    made = Grid.of(head, rows)
    lines = made.markdown().split("\n")
    assert len(lines) == 2 + len(rows)
    assert len({len(line) for line in lines}) == 1
    reader = Reader()
    reader.feed(made.html("label"))
    cells = [tag for tag in reader.tags if tag in ("th", "td")]
    assert len(cells) == len(head) * (1 + len(rows))
    assert {*reader.tags} <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    read = list(csv.reader(io.StringIO(made.csv(), newline="")))
    assert len(read) == 1 + len(rows)
    assert not any(
        c.startswith(("=", "@", "\t")) or (c[:1] in ("+", "-") and c[1:2].isalpha()) for r in read for c in r
    )


def test_figures():
    found = Interval(-0.0001, -0.02, 0.03, 0.5)
    assert spread(found, 1, 100, sign=True) == "+0.0 (-2.0 .. +3.0)"
    assert spread(Interval(2.0, -inf, inf)) == "2.0", "one instance has no interval"
    assert [spread(None), number(None), ends(None, None)] == ["-", "-", ""]
    row = {"gain": 0.5, "gain_low": 0.4, "gain_high": 0.61, "value": None}
    assert [figure(row, "gain", 2), figure(row, "value"), figure(row, "x")] == ["0.50 (0.40 .. 0.61)", "-", "-"]


@pytest.mark.parametrize(
    ("given", "wanted"), [("=1+1", "'=1+1"), ("-2.5", "-2.5"), ("+1 =cmd", "'+1 =cmd"), (0.1, "0.1")]
)
def test_a_spreadsheet_computes_nothing(given, wanted):
    assert csv_text(["a"], [[given]]) == f"a\n{wanted}\n"


def test_pages_have_a_minus_and_a_dash():
    text = Grid.of("a | b", [["x-1", "-1.5 (-2.0 .. -1.0)"], ["<b>", "-"]]).html("l")
    assert "x-1" in text
    assert "\u22121.5 (\u22122.0 .. \u22121.0)" in text
    assert "&lt;b&gt;" in text
    assert "\u2013" in text
