"""``recommit train sft`` from the command line."""

from __future__ import annotations

import json

import pytest

from recommit.cli import main

pytest.importorskip("tyro")
pytest.importorskip("yaml")


def test_it_shows_what_it_would_run(capsys):
    call = ["train", "sft", "--recipe", "laptop-sliding", "--data", "d", "--out", "o"]
    assert main([*call, "--seed", "3", "--set", "optim.batch=64", "run.seed=7", "--show"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["optim"]["batch"] == 64
    assert shown["run"]["seed"] == 7, "--set is above a flag"


@pytest.mark.parametrize("verb", ["sft", "grpo"])
def test_flags_change_the_recipe_and_set_changes_both(verb, capsys):
    call = ["train", verb, "--recipe", "laptop-sliding", "--data", "d", "--out", "o", "--show"]
    call += ["--init", "i"] if verb == "grpo" else []
    assert main([*call, "--zero", "3", "--set", "engine.offload=true", "engine.stage=1"]) == 0
    engine = json.loads(capsys.readouterr().out)["engine"]
    assert (engine["kind"], engine["stage"], engine["offload"]) == ("deepspeed", 1, True)
