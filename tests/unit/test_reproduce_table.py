"""The table of a preset's runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("yaml")

from recommit import preset, reproduce_table
from recommit.cli import main
from recommit.reproduce_table import Needs

SHOW = ["reproduce", "--preset", "paper", "--show"]


def test_every_run_with_its_command(capsys):
    assert main([*SHOW, "--gpus", "8", "--gpus-per-run", "4"]) == 0
    said = capsys.readouterr().out
    assert "78 reinforcement runs, 10 warm starts" in said
    row = next(line for line in said.splitlines() if line.startswith("| sokoban/family/fixed-8-s15 "))
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["sokoban/sft", "paper-sokoban grpo fixed-8", "100", "4"]
    command = next(line for line in said.splitlines() if "fixed-8-s15.yaml" in line and "sokoban" in line)
    assert command == (
        "deepspeed --include localhost:0,1,2,3 --master_port 29500 --no_local_rank --module recommit.train.grpo "
        "--recipe OUT/sokoban/launch/fixed-8-s15.yaml --init OUT/sokoban/sft --out OUT/sokoban/family/fixed-8-s15"
    )
    assert "recipe: paper-sokoban" in said


def test_as_json_without_gpus(capsys):
    assert main([*SHOW, "--json", "--set", "seeds=[1]", "sokoban.singles=[]"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["preset"]["tasks"]["sokoban"]["seeds"] == [1]
    assert len(told["runs"]) == (1 + 7 + 4 + 8 + 10) + (1 + 7 + 4 + 10)
    assert (
        told["runs"][0]["command"]
        == "recommit train sft --recipe OUT/sliding/launch/sft.yaml --data OUT/sliding/data --out OUT/sliding/sft"
    )
    assert {run["state"] for run in told["runs"]} == {""}


def test_how_far_each_is(tmp_path, capsys):
    assert main([*SHOW, "--json", "--out", str(tmp_path)]) == 0
    assert {run["state"] for run in json.loads(capsys.readouterr().out)["runs"]} == {"missing"}


def test_what_a_run_needs_stands_beside_it(monkeypatch):
    monkeypatch.setattr(reproduce_table, "needs", lambda run, ranks: Needs(17.25, run.config.optim.steps / ranks))
    plans = preset.plans(preset.load("paper"), Path("OUT"))
    row = next(
        line
        for line in reproduce_table.text(reproduce_table.rows(plans, None, looked=False)).splitlines()
        if "adaptive-s5" in line
    )
    assert [cell.strip() for cell in row.split("|")[-3:-1]] == ["17.2", "100.0"]


def test_what_does_not_fit_together(capsys):
    for words, message in [
        (["--gpus-per-run", "4"], "gpus: expected a number with --gpus-per-run, got none"),
        (["--hostfile", "hosts"], "gpus: expected a number with --hostfile, got none"),
        (
            ["--gpus", "8", "--gpus-per-run", "3"],
            "gpus-per-run: expected a divisor of 8 GPUs, or whole machines of 8, got 3",
        ),
        (["--set", "sft.nothing=1"], "recipe: expected fields of model, optim"),
    ]:
        assert main([*SHOW, *words]) == 2
        assert message in capsys.readouterr().err
