"""The page of rival heads: its tables are those of the figures beside it."""

from __future__ import annotations

import copy

import pytest

pytest.importorskip("torch")

from bench.pages import rivals


def test_the_page_equals_its_figures():
    page, figures = rivals.PAGE.read_text(encoding="utf-8"), rivals.stored()
    assert {match["task"] for match in rivals.BLOCK.finditer(page)} == set(figures)
    assert rivals.filled(page, figures) == page
    for task in figures:  # a planted defect: another figure of any head
        planted = copy.deepcopy(figures)
        planted[task]["rows"][0]["gain"] += 0.1
        assert rivals.filled(page, planted) != page


@pytest.fixture
def figures():
    def row(rule, seed, value, low):
        played = {"solved": value, "actions": 20.0, "looks": 5.0, "value": value, "gain": value / 2}
        ahead = {"mean": low + 0.1, "low": low, "high": low + 0.2}
        about = {"seed": seed, "K": 6, "ratio": 2.0, "rule": rule, "ends": [4, 0.1, 0.9]}
        return {**about, **played, "ahead": ahead}

    names = ("foresight", *rivals.EVERYWHERE, "fixed-4", "reversal")
    each = [row(name, seed, 0.9 - 0.1 * at, 0.1 * (at - 1)) for at, name in enumerate(names) for seed in (0, 1)]
    tries = [{"changes": {"lr": 0.001}, "value": 0.5}, {"changes": {"lr": 0.003}, "value": 0.6}]
    return {"rows": each, "fits": {"ppo-2-s0": {"tries": tries, "updates": 1234, "value": 0.61}}}


def test_rows_are_means_of_seeds_in_the_order_of_their_values(figures):
    lines = rivals.scores(figures).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines][:2] == ["foresight", "exact"]
    assert "0.45 (0.45 .. 0.45)" in lines[0]
    assert "+10.0 (+0.0 .. +20.0); +10.0" in lines[1]


def test_a_price_says_on_how_many_seeds_the_head_is_beyond_chance(figures):
    (line,) = rivals.prices(figures).splitlines()[2:]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == ["6", "2", "0.45", "0.40 (0 of 2)", "0.35 (2 of 2)", "0.30 (2 of 2)", "0.25 (2 of 2)", *cells[7:]]
    assert rivals.best_plain(figures) == "fixed-4"


def test_ends_and_fits(figures):
    assert "| 6 |" in rivals.ends(figures)
    assert "lr 0.001: 50.0; lr 0.003: 60.0" in rivals.fits(figures)
    assert "1,234" in rivals.fits(figures)
