"""One table in four forms: each escapes for itself."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recommit.results.grid import Grid, csv_text, ends, figure, number, spread
from recommit.results.intervals import Interval

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
