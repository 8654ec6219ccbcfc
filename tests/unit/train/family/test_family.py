"""Families of runs: what is missing is trained, each from its own warm start."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("torch")
from tests.unit.train.runs import plan_of

from recommit.policy.checkpoint import local_folder, weights_of
from recommit.train import grpo


def test_a_family_trains_what_is_missing(init, tmp_path, monkeypatch):
    from recommit.train.family import runs

    plans = {
        "adaptive": plan_of(optim={"steps": 1}),
        "fixed-2": plan_of(variant="fixed-2", optim={"steps": 1}, rollout={"instances": 8}),
    }
    began = []
    whole = grpo.train
    monkeypatch.setattr(grpo, "train", lambda c, *a, **k: (began.append((c.variant, c.run.seed)), whole(c, *a, **k))[1])
    assert runs.train(runs.members(plans, init, tmp_path, (0, 1)), quiet=True) == 0
    assert began == [("adaptive", 0), ("fixed-2", 0), ("adaptive", 1), ("fixed-2", 1)]
    began.clear()
    fewer = {"fixed-2": plans["fixed-2"], "adaptive": plans["adaptive"]}
    assert runs.train(runs.members(fewer, init, tmp_path / "once", (3, 4), ("fixed-2",)), quiet=True) == 0
    assert began == [("adaptive", 3), ("adaptive", 4), ("fixed-2", 3)]
    newest = runs.member(tmp_path, "fixed-2", 1) / "checkpoints" / "step-00000001"
    (newest / "engine-00000.safetensors").write_bytes(b"torn")
    began.clear()
    assert runs.train(runs.members(plans, init, tmp_path, (0, 1)), quiet=True) == 0
    assert began == [("fixed-2", 1)]
    other = {"adaptive": plan_of(optim={"steps": 1}, objective={"kl": 0.5})}
    with pytest.raises(
        ValueError, match=r"adaptive-s0: the folder belongs to another run: objective\.kl was 0\.05, is 0\.5"
    ):
        runs.train(runs.members(other, init, tmp_path, (0,)), quiet=True)


def test_a_family_with_a_warm_start_per_seed(init, tmp_path):
    """Another one is refused, not mixed in; one that is gone by now is not asked for."""
    from recommit.train.family import runs

    plans, other = {"adaptive": plan_of(optim={"steps": 1})}, tmp_path / "other"
    shutil.copytree(init, other)
    (local_folder(other) / "note.txt").write_text("another warm start")
    assert runs.train(runs.members(plans, {0: init, 1: other}, tmp_path / "runs", (0, 1)), quiet=True) == 0
    begun = [
        json.loads((runs.member(tmp_path / "runs", "adaptive", seed) / "config.json").read_text())["init"]
        for seed in (0, 1)
    ]
    assert begun == [weights_of(local_folder(folder)) for folder in (init, other)]
    assert begun[0] != begun[1]
    with pytest.raises(ValueError, match=r"adaptive-s0: the folder belongs to another run: init was '\w+.*, is '\w+"):
        runs.train(runs.members(plans, other, tmp_path / "runs", (0, 1)), quiet=True)
    shutil.rmtree(other)
    assert runs.train(runs.members(plans, {0: init, 1: other}, tmp_path / "runs", (0, 1)), quiet=True) == 0
