"""The plans of the paper's recipes that are kept, the page that shows them, and who reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recommit.estimate import paper
from recommit.estimate.paper import MACHINES, STAGES, counted_before, fitting

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def page():
    from bench.pages import plans

    return plans


def test_every_stage_of_every_machine_is_kept():
    figures, runs = counted_before()
    assert [(f.recipe, f.stage, f.card, f.gpus) for f in figures] == [
        (recipe, stage, card, gpus) for card, gpus in MACHINES for recipe, stage in STAGES
    ]
    assert sum(run.count for run in runs if run.kind != "warm start") >= 42
    assert all(f.peak > f.activations_recomputed > 0 for f in figures if f.stage != "evaluate")


def test_the_page_shows_what_is_kept(page):
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.written(text) == text


def test_a_page_that_shows_something_else_is_seen(page, monkeypatch):
    figures, runs = counted_before()
    changed = [replace(figures[0], peak=figures[0].peak * 2), *figures[1:]]
    monkeypatch.setattr(page, "counted_before", lambda: (changed, runs))
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.written(text) != text


@pytest.mark.nightly
@pytest.mark.parametrize(("card", "gpus"), MACHINES)
@pytest.mark.parametrize(("recipe", "stage"), STAGES)
def test_all_stages_are_what_is_kept(recipe, stage, card, gpus, page):
    was = next(f for f in counted_before()[0] if (f.recipe, f.stage, f.card, f.gpus) == (recipe, stage, card, gpus))
    assert page.count(recipe, stage, card, gpus) == was


def test_what_fits_a_card_is_read_from_there():
    whole, smaller, least = fitting(80 << 30)
    assert (len(whole), smaller) == (len(STAGES), [])
    assert fitting(least - 1)[:2] == ([], [])
    assert fitting(least)[0] or fitting(least)[1]


def test_the_file_is_what_the_command_says(capsys):
    from recommit.cli import main

    assert main(["estimate", "paper-sliding", "--stage", "evaluate", "--gpus", "8", "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    was = next(f for f in counted_before()[0] if (f.recipe, f.stage, f.gpus) == ("paper-sliding", "evaluate", 8))
    assert (said["peak"], said["fits"], said["seconds"]) == (was.peak, was.fits, was.seconds)
    assert paper.COUNTED_FILE
