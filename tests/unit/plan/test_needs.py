"""What every run of a preset needs, in the list that ``reproduce --show`` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recommit import preset, reproduce_table
from recommit.cli import main


@pytest.fixture
def task():
    """The demonstration's puzzle."""
    (plan,) = preset.plans(preset.load("demo"), Path("OUT"))
    return plan


def test_nothing_is_counted_unless_a_card_is_named(task):
    assert reproduce_table.needs(task, task.runs[0], 1, None) == (None, None)


def test_every_run_has_its_bytes_and_its_time(capsys):
    assert main(["reproduce", "--preset", "demo", "--show", "--card", "h200", "--json"]) == 0
    runs = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
    assert all(row["gib_per_rank"] > 0.9 and row["hours"] > 0 for row in runs.values())  # an allowance, at least
    fixed = [(row["gib_per_rank"], row["hours"]) for name, row in runs.items() if "fixed-" in name]
    assert fixed[0] == fixed[1]
    assert runs["sliding/family/adaptive-s0"]["hours"] != fixed[0][1]


def test_runs_that_cost_the_same_are_counted_once(task):
    said = [json.dumps(reproduce_table.alike(run)) for run in task.runs]
    assert len(said) == 4
    assert len(set(said)) == 3  # two fixed depths


def test_a_card_that_is_none_is_refused(capsys):
    assert main(["reproduce", "--preset", "demo", "--show", "--card", "abacus"]) == 2
    assert "card: expected one of a100" in capsys.readouterr().err
