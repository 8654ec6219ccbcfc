"""The table of a preset's runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("yaml")

from recommit.cli import main
from recommit.reproduce import preset, run_plan
from recommit.reproduce.run_plan import Needs
from recommit.train.family.launch import LaunchOptions

SHOW = ["reproduce", "--preset", "paper", "--show"]


def test_every_run_with_its_command(capsys):
    assert main([*SHOW, "--gpus", "8", "--gpus-per-run", "4"]) == 0
    said = capsys.readouterr().out
    assert "78 reinforcement runs, 5 warm starts; memory and hours of each: --card a100" in said
    row = next(line for line in said.splitlines() if line.startswith("| sokoban/family/fixed-8-s15 "))
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["joint/sft", "paper-sokoban grpo fixed-8", "100", "4"]
    command = next(line for line in said.splitlines() if "fixed-8-s15.yaml" in line and "sokoban" in line)
    assert command == (
        "torchrun --standalone --nproc-per-node 4 -m recommit.train.grpo "
        "--recipe OUT/sokoban/launch/fixed-8-s15.yaml --init OUT/joint/sft --out OUT/sokoban/family/fixed-8-s15 "
        "--data OUT/sokoban/data"
    )
    assert "recipe: paper-sokoban" in said


def test_as_json_without_gpus(capsys):
    assert main([*SHOW, "--json", "--set", "seeds=[1]", "sokoban.singles=[]"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["preset"]["tasks"]["sokoban"]["seeds"] == [1]
    assert len(shown["runs"]) == (1 + 7 + 4 + 8 + 10) + (7 + 4 + 10)
    assert shown["runs"][0]["command"] == (
        "recommit train sft --recipe OUT/sliding/launch/sft.yaml "
        "--data OUT/sliding/data-3x3 OUT/sliding/data-4x4 OUT/sokoban/data --out OUT/joint/sft"
    )
    assert {run["state"] for run in shown["runs"]} == {""}


def test_how_far_each_is(tmp_path, capsys):
    assert main([*SHOW, "--json", "--out", str(tmp_path)]) == 0
    assert {run["state"] for run in json.loads(capsys.readouterr().out)["runs"]} == {"missing"}


def test_what_a_run_needs_stands_beside_it(monkeypatch):
    """Runs that cost the same are counted once: the warm start, and of a puzzle four kinds of variant, two of them with
    two other budgets. That of its passes is the time of all."""
    counted = []
    monkeypatch.setattr(run_plan, "needs", lambda _plan, run, machine: _needs(counted, run, machine))
    plans = preset.entries(preset.load("paper"), Path("OUT"))
    listed = run_plan.rows(plans, LaunchOptions(gpus=8).fleet(elsewhere=True), looked=False, card="a100")
    said = run_plan.text(listed).splitlines()
    row = next(line for line in said if "adaptive-s5 " in line)
    assert [cell.strip() for cell in row.split("|")[-3:-1]] == ["17.2", "0.5"]
    assert "78 reinforcement runs, 5 warm starts; 41.5 hours of passes, one run after the other" in said
    assert len(counted) == 1 + 2 * (4 + 2 * 2)
    assert set(counted) == {8}


def _needs(counted, _run, machine):
    counted.append(machine.gpus)
    return Needs(17.2, 0.5)


@pytest.mark.nightly
def test_a_small_run_is_counted(tmp_path):
    small = ["sft.model.backbone=random:tiny", "variants=[adaptive]", "heads={}"]
    plans = preset.entries(preset.load("demo", small), tmp_path)
    listed = run_plan.rows(plans, None, looked=False, card="cpu")
    assert [row.run for row in listed] == ["sliding/sft", "sliding/family/adaptive-s0"]
    assert all(0.001 < row.gib_per_rank < 4 for row in listed)
    assert [row.hours for row in listed] == [None, None]


def test_what_does_not_fit_together(capsys):
    for words, message in [
        (["--launcher", "srun python -m"], "gpus: expected a number with --launcher srun python -m, got none"),
        (["--gpus", "8", "--gpus-per-run", "3"], "gpus-per-run: expected a divisor with --gpus 8, got 3"),
        (["--card", "b100"], "card: expected one of a100, h200, rtx4090, cpu, got b100"),
        (["--set", "sft.nothing=1"], "recipe: expected fields of model, optim"),
    ]:
        assert main([*SHOW, *words]) == 2
        assert message in capsys.readouterr().err
