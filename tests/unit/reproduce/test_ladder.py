"""From the paper's recipe to ours in the preset ladder: what each row changes against the row before."""

from __future__ import annotations

from dataclasses import asdict

import pytest

pytest.importorskip("torch")

from recommit.reproduce import preset
from recommit.train.family.runs import family_configs

ROWS = ("paper", "ladder-inputs", "ladder-looks", "ladder-objective", "ladder-episode", "ladder-exact", "adaptive")
#: Fields that may differ from the row before, and the one that must.
CHANGES = {
    "ladder-inputs": ({"head"}, "head"),
    "ladder-looks": ({"rollout", "optim"}, "rollout"),
    "ladder-objective": ({"objective"}, "objective"),
    "ladder-episode": ({"advantage", "prices", "rollout"}, "advantage"),
    "ladder-exact": ({"advantage", "prices", "optim", "validation"}, "advantage"),
    "adaptive": ({"phases"}, "phases"),
}


@pytest.fixture(scope="module")
def configs():
    return {name: asdict(config) for name, config in family_configs("laptop-sliding", ROWS, [], {}).items()}


@pytest.mark.parametrize("row", ROWS[1:])
def test_a_row_changes_one_thing(configs, row):
    before, now = configs[ROWS[ROWS.index(row) - 1]], configs[row]
    allowed, must = CHANGES[row]
    differ = {name for name in now if now[name] != before[name]}
    assert must in differ
    assert differ <= allowed


def test_the_preset_runs_every_row():
    values = preset.load("ladder")["tasks"]["sliding"]
    assert {*values["variants"], *values["ablations"]} == set(ROWS)
