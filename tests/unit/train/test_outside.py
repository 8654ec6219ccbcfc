"""The bench of time outside the model counts each second once, and runs whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

BENCH = Path(__file__).parents[3] / "bench" / "training"


@pytest.fixture
def stages(monkeypatch):
    """With a clock that goes on only when it is told to."""
    from bench.training import stand_in

    now = [100.0]
    monkeypatch.setattr(stand_in.time, "process_time", lambda: now[0])

    def work(seconds):
        now[0] += seconds

    return stand_in.Stages(), work


def test_every_second_is_counted_once(stages):
    clock, work = stages
    work(1)
    with clock("credit"):
        work(2)
        with clock("model"):
            work(4)
            with clock("pictures"):
                work(8)
            work(16)
        work(32)
    work(64)
    assert clock.outside() == {"the rest": 65, "credit": 34, "pictures": 8}


def test_a_function_that_takes_long_is_seen_where_it_is(stages):
    clock, work = stages

    class Trainer:
        def targets(self):
            work(3)

        def step(self):
            work(1)
            self.targets()

    clock.watch(Trainer, "targets", "targets")
    clock.watch(Trainer, "step", "step")
    Trainer().step()
    assert clock.outside() == {"the rest": 0, "targets": 3, "step": 1}
    Trainer().targets()
    assert clock.outside()["targets"] == 6


def test_the_stand_in_has_all_that_an_engine_has():
    """The whole runs below are nightly."""
    from bench.training.stand_in import StandInEngine

    from recommit.train.engine.base import Engine

    methods = {name for name in vars(Engine) if not name.startswith("_")}
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
