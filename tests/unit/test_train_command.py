"""``recommit train sft`` from the command line."""

from __future__ import annotations

import json

import pytest

from recommit.cli import main

pytest.importorskip("tyro")
pytest.importorskip("yaml")


def test_it_shows_what_it_would_run(capsys):
    call = ["train", "sft", "--recipe", "laptop-sliding", "--data", "d", "--out", "o", "--lr", "0.0003"]
    assert main([*call, "--single-commitment", "4", "--set", "optim.batch=64", "run.seed=7", "--show"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["optim"]["lr"] == shown["optim"]["head_lr"] == 0.0003
    assert shown["optim"]["batch"] == 64
    assert shown["run"]["seed"] == 7
    assert shown["targets"]["depths"] == [4]


def test_wrong_calls_are_two(capsys, tmp_path):
    call = ["train", "sft", "--data", str(tmp_path / "no"), "--out", str(tmp_path / "out")]
    assert main([*call, "--recipe", "nothing"]) == 2
    assert "recipe: expected a file or one of laptop-sliding" in capsys.readouterr().err
    assert main([*call, "--recipe", "laptop-sliding", "--set", "optim.steps=0"]) == 2
    assert main(call) == 2
    assert not (tmp_path / "out").exists()
