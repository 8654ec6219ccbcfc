"""What every run of a preset needs, counted for real."""

from __future__ import annotations

import json

import pytest

from recommit.cli import main


@pytest.mark.nightly
def test_every_run_has_its_bytes_and_its_time(capsys):
    assert main(["reproduce", "--preset", "demo", "--show", "--card", "h200", "--json"]) == 0
    runs = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
    head = runs.pop("sliding/family/world-model-s0")  # a small net on one core, which no plan counts
    assert (head["gib_per_rank"], head["hours"]) == (None, None)
    assert all(row["gib_per_rank"] > 0.9 and row["hours"] > 0 for row in runs.values())  # an allowance, at least
    fixed = [(row["gib_per_rank"], row["hours"]) for name, row in runs.items() if "fixed-" in name]
    assert fixed[0] == fixed[1]
    assert runs["sliding/family/adaptive-s0"]["hours"] != fixed[0][1]
