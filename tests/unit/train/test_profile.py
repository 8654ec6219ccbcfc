"""A profiled run: a trace that holds the steps, and the bits of one that nobody watched."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import plan_of, same

from recommit.runs.process import SKIPPED, profiled
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft

#: A trace has every operation.
SMALL = {"rollout": {"instances": 2, "budget": 1}, "validation": {"instances": 2}}


def annotations(run):
    """What a trace calls its parts."""
    with gzip.open(run / "profile" / "trace.json.gz") as trace:
        events = json.load(trace)["traceEvents"]
    assert any(event["name"] in ("aten::mm", "aten::addmm") for event in events)
    return [event["name"] for event in events if event.get("cat") == "user_annotation"]


def test_imitation(plan, data, tmp_path, capfd):
    plan = replace(plan, optim=replace(plan.optim, steps=6, batch=4))
    assert sft.train(plan, data, tmp_path / "plain", quiet=True) == 0
    watched = replace(plan, run=replace(plan.run, profile=2))
    (tmp_path / "watched" / "profile").mkdir(parents=True)
    (tmp_path / "bashrc").write_text("mine")
    for name in ("trace.json.gz", ".trace.json.gz"):
        (tmp_path / "watched" / "profile" / name).symlink_to(tmp_path / "bashrc")
    assert sft.train(watched, data, tmp_path / "watched") == 0
    same(tmp_path / "plain", tmp_path / "watched", steps=6)
    assert not (tmp_path / "plain" / "profile").exists()
    found = annotations(tmp_path / "watched")
    assert sorted(name for name in found if name.startswith("ProfilerStep")) == [
        f"ProfilerStep#{SKIPPED}",
        f"ProfilerStep#{SKIPPED + 1}",
    ]
    assert "validation" in found  # after step 4
    assert (tmp_path / "bashrc").read_text() == "mine"
    said = capfd.readouterr().err
    assert (tmp_path / "watched" / "profile" / "operators.txt").read_text() in said
    assert "Self CPU time total" in said


def test_a_run_that_ends_before_all_steps_are_watched(init, tmp_path):
    assert grpo.train(plan_of(**SMALL, run={"profile": 10}), init, tmp_path / "watched", quiet=True) == 0
    found = annotations(tmp_path / "watched")
    assert f"ProfilerStep#{SKIPPED}" in found
    assert {"rollout", "update", "validation"} <= set(found)
    assert grpo.train(plan_of(**SMALL), init, tmp_path / "watched", quiet=True) == 0, "whether it is watched may change"
    with profiled(2, tmp_path / "profile", pytest.fail) as ended:
        ended()
    assert not (tmp_path / "profile").exists()
