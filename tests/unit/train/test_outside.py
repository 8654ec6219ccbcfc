"""The bench of time outside the model has an engine of its own, and runs whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

BENCH = Path(__file__).parents[3] / "bench" / "training"


def test_the_stand_in_has_all_that_an_engine_has():
    """The whole runs below are nightly."""
    from bench.training.stand_in import StandInEngine

    from recommit.train.engine.base import Engine

    methods = {name for name, value in vars(Engine).items() if callable(value) and not name.startswith("_")}
    assert {"backward", "step"} <= methods
    assert sorted(methods - set(dir(StandInEngine))) == []


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        pytest.param("sft", "targets", marks=pytest.mark.nightly),
        pytest.param("state credit", "reference", marks=pytest.mark.nightly),
        pytest.param("exact credit", "head moves", marks=pytest.mark.nightly),
    ],
)
def test_two_ranks_run_whole(name, stage, tmp_path):
    out = tmp_path / "found.json"
    options = ["--ranks", "2", "--steps", "1", "--preset", "tiny", "--seconds", "1.0", "2.0"]
    call = [sys.executable, str(BENCH / "outside_model.py"), *options, "--only", name, "--json", str(out)]
    said = subprocess.run(call, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    found = json.loads(out.read_text())[name]
    assert found["stages_s"][stage] > 0
    assert found["stages_s"]["messages"] > 0
    outside = sum(found["stages_s"].values())
    assert found["share"] == pytest.approx(outside / (outside + found["model_s"]))
    assert found["model_s"] == int(found["model_s"]) > 8, "looks and states that were learned from, in whole seconds"
