"""Frozen splits stay what they are, their lengths are exact, and nobody trains on their levels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refused

pytest.importorskip("torch", reason="presets check the recipes of their runs")

from recommit.data import held_out, leaderboard_splits
from recommit.reproduce import preset
from recommit.storage.errors import Damaged

#: Published: records of the leaderboard name them.
PUBLISHED = {
    "sliding-3x3": "7da9b6a2e44d687028131ded1360cda00e72018cc8159b2ffe6976781eb99bc3",
    "sliding-4x4": "8cf667b1c13a05dfbbdf10844207185fd6b0a10e553257b6858a1f2af343f680",
    "sokoban-7x7": "0324d6313dfa32b9eadfcce53c50d8402807ba2740e802750bcb48bdc1f556a6",
}


def test_they_are_those_that_were_published():
    assert {name: leaderboard_splits.read(name).sha256 for name in leaderboard_splits.names()} == PUBLISHED


@pytest.mark.parametrize("name", PUBLISHED)
def test_lengths_are_exact(name):
    split = leaderboard_splits.read(name)
    some = np.arange(0, len(split.starts), 16)
    assert (split.task.distance(split.starts[some]) == split.length[some]).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_they_are_the_test_split_of_their_recipe(name):
    """So a data set, an evaluation and a zero-shot run can be had of the same levels."""
    split = leaderboard_splits.read(name)
    drawn = held_out.starts(split.recipe, "test", len(split.starts), ())
    assert np.array_equal(drawn.states, split.starts)
    assert split.recipe.ids(drawn.difficulty.tolist(), drawn.number.tolist()) == list(split.ids)


def _presets():
    for name in preset.names():
        lines = [line for line in preset.load(name, Path("out")) if line.verb == "data build"]
        yield from (line.options.spec() for line in lines)


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_preset_that_keeps_splits_apart_trains_on_them(name):
    split = leaderboard_splits.read(name)
    nobody = np.zeros(0, np.uint64)
    same = [
        spec
        for spec in _presets()
        if (spec.task, spec.size, spec.disjoint) == (split.recipe.task, split.recipe.size, split.recipe.disjoint)
    ]
    assert same
    for spec in same:
        held_out.refuse_shared(spec, split.starts, nobody)


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    values = json.loads((leaderboard_splits.FOLDER / "sliding-3x3.json").read_text())
    changed = {"length": [2] * 1024, "budgets": [16, 10], "prices": {"action": 0.0, "observation": 0.01}}
    changed |= {"levels": values["levels"][::-1], "ids": values["ids"][::-1]}
    monkeypatch.setattr(leaderboard_splits, "FOLDER", tmp_path)
    for field, value in changed.items():
        (tmp_path / "sliding-3x3.json").write_text(json.dumps({**values, field: value}))
        refused([(lambda: leaderboard_splits.read("sliding-3x3"), "expected what was written there")], Damaged)
