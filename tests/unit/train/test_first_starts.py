"""A start that fails leaves a folder that the corrected command can use, and never touches somebody's."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
import torch
from tests.refusals import refused

from recommit.policy.backbones.backbone import GIVEN
from recommit.runs.directory import BEGUN, recipe_of
from recommit.storage import verified
from recommit.storage.files import Files
from recommit.train.grpo import trainer as grpo
from recommit.train.grpo.config import GrpoConfig
from recommit.train.sft import trainer as sft


def of_steps(plan, steps):
    return replace(plan, optim=replace(plan.optim, steps=steps, warmup=1))


def with_backbone(plan, name):
    return replace(plan, model=replace(plan.model, backbone=name))


def test_a_start_that_failed_does_not_bind_the_next_one(plan, data, tmp_path, capsys):
    short, out = of_steps(plan, 2), tmp_path / "run"
    with pytest.raises(ValueError, match="backbone: expected a folder, or OWNER/NAME on a hub, got nosuch"):
        sft.train(with_backbone(short, GIVEN), data, out, backbone="nosuch", quiet=True)
    with pytest.raises(ValueError, match=r"backbone: expected one of tiny, .*, got nosuch"):
        sft.train(with_backbone(short, "random:nosuch"), data, out, quiet=True)
    assert json.loads((out / "config.json").read_text())["model"]["backbone"] == "random:nosuch"
    assert sft.train(short, data, out, quiet=True) == 0
    assert "nothing was trained here yet" in capsys.readouterr().err
    assert json.loads((out / "config.json").read_text())["model"]["backbone"] == short.model.backbone


def broken_engine(*_):
    raise ValueError("planted")


def test_nothing_of_a_failed_start_is_trained(plan, data, init, tmp_path, monkeypatch):
    """Neither its backbone nor the policy that it began as."""
    short, out = of_steps(plan, 2), tmp_path / "run"
    narrow = replace(short, model=replace(short.model, shape={**short.model.shape, "ffn": 32}))
    with monkeypatch.context() as broken:
        broken.setattr(sft, "make_engine", broken_engine)
        for begin in (init, None):
            with pytest.raises(ValueError, match="planted"):
                sft.train(narrow, data, out, init=begin, quiet=True)
    assert (out / "backbone").is_dir()
    assert (out / "init").is_dir()
    assert sft.train(short, data, out, quiet=True) == 0
    clean = tmp_path / "clean"
    assert sft.train(short, data, clean, quiet=True) == 0
    for name in ("backbone/config.json", "metrics.jsonl"):
        assert (out / name).read_bytes() == (clean / name).read_bytes()


def test_a_corrected_start_plays_the_puzzle_of_its_own_policy(plan, init, levels, tmp_path, monkeypatch):
    other = tmp_path / "other"
    assert sft.train(of_steps(plan, 2), levels, other, quiet=True) == 0
    monkeypatch.setattr(grpo, "make_engine", broken_engine)
    for source, task in ((init, "sliding"), (other, "sokoban")):
        with pytest.raises(ValueError, match="planted"):
            grpo.train(GrpoConfig(), source, tmp_path / "rl", quiet=True)
        assert recipe_of(tmp_path / "rl").task == task


def test_what_is_missing_is_noticed_before_anything_is_written(plan, data, init, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "trackio", None)
    wrong, out = replace(plan, run=replace(plan.run, device="cuda")), tmp_path / "run"
    curves = {"trackers": {"trackio": "mine"}, "quiet": True}
    refused(
        [
            (lambda: sft.train(wrong, data, out, quiet=True), "device: expected cpu or auto, since torch sees no GPU"),
            (lambda: sft.train(plan, data, out, **curves), "trackio: expected the package trackio"),
            (lambda: grpo.train(GrpoConfig(), init, out, **curves), "trackio: expected the package trackio"),
        ]
    )
    assert not out.exists()


def test_another_warm_start_takes_the_place_of_one_that_trained_nothing(init, data, plan, tmp_path, capsys):
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.runs.directory import RunDirectory
    from recommit.runs.distributed import Team
    from recommit.train import initial_policy

    other = tmp_path / "other"
    assert sft.train(of_steps(plan, 2), data, other, quiet=True) == 0
    with RunDirectory(tmp_path / "rl") as folder:
        for source in (init, other, "sliding-3x3", other):
            own = initial_policy.warm_start(source, folder, Team())
            assert weights_of(own) == weights_of(local_folder(source))
        assert "has not ended" not in capsys.readouterr().err
        verified.seal(Files(), other, BEGUN)
        for source in (init, other):
            initial_policy.warm_start(source, folder, Team())
        assert "other: its training has not ended" in capsys.readouterr().err
        gone = tmp_path / "gone"
        assert weights_of(initial_policy.warm_start(gone, folder, Team())) == weights_of(local_folder(other))
