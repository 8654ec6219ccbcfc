"""Runs whose frozen backbone is compiled: they learn what others learn, and meet no new shape after the first step."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file
from tests.refusals import refused
from tests.unit.train.runs import lines, plan_of

from recommit.runs.directory import best_policy
from recommit.train.config import EngineConfig, SftConfig, parse
from recommit.train.grpo import trainer as grpo
from recommit.train.sft import trainer as sft

STEPS = 5
#: Text of two lengths before pictures of two sizes.
HEADS = {"lora": {"rank": 2, "dropout": 0.0}, "decoder": {"width": 32, "layers": 1, "heads": 2, "ffn": 64}}
RUN = {"save_every": STEPS, "log_every": 1, "threads": 1, "tensorboard": False}
SHORT = {"validation": {"instances": 0}, "run": RUN}
SFT = {"model": {"backbone": "random:tiny", "policy": HEADS}, "optim": {"steps": STEPS, "batch": 12}, **SHORT}
WARM = parse(SftConfig, SFT)
RL = plan_of(tasks=["sliding", "sokoban"], rollout={"instances": 2}, optim={"steps": STEPS, "batch": 8}, **SHORT)


def compiled(config):
    return replace(config, engine=EngineConfig(compile="eager"))


def graphs_of(monkeypatch, kind, train):
    """How many graphs there are after each step of a run."""
    step, found, counters = kind._step, [], torch._dynamo.utils.counters

    def counted(self):
        line = step(self)
        found.append(counters["stats"]["unique_graphs"])
        return line

    monkeypatch.setattr(kind, "_step", counted)
    counters.clear()
    assert train() == 0
    return found


def alike(one, other):
    """Two runs learned the same, but for rounding."""
    a, b = ([line["loss"] for line in lines(out)] for out in (one, other))
    assert a == pytest.approx(b, rel=1e-3, abs=1e-5)
    a, b = (load_file(best_policy(out) / "heads.safetensors") for out in (one, other))
    assert all(torch.allclose(a[name], b[name], atol=1e-4) for name in a)


@pytest.fixture(scope="module")
def warm(data, levels, tmp_path_factory):
    """A warm start of both puzzles, as it is."""
    out = tmp_path_factory.mktemp("warm") / "run"
    assert sft.train(WARM, [data, levels], out, quiet=True) == 0
    return out


def test_a_warm_start_meets_no_shape_after_its_first_step(warm, data, levels, tmp_path, monkeypatch):
    train = lambda: sft.train(compiled(WARM), [data, levels], tmp_path / "run", quiet=True)
    # Of each puzzle one graph of the picture encoder, and one of the language model.
    assert graphs_of(monkeypatch, sft.SftTrainer, train) == [4] * STEPS
    alike(warm, tmp_path / "run")


def test_nor_does_reinforcement(warm, tmp_path, monkeypatch):
    train = lambda config, name: grpo.train(config, warm, tmp_path / name, quiet=True)
    assert train(RL, "plain") == 0
    # Of the language model also one without gradients, for two states of a rollout and four of the reference.
    assert graphs_of(monkeypatch, grpo.GrpoTrainer, lambda: train(compiled(RL), "run")) == [6] * STEPS
    alike(tmp_path / "plain", tmp_path / "run")


def test_what_is_not_frozen_or_whole_is_refused(data, tmp_path):
    whole = parse(SftConfig, {**SFT, "model": {"policy": {**HEADS, "lora": None}}, "engine": {"compile": "eager"}})
    split = {"kind": "deepspeed", "stage": 3, "compile": "eager"}
    refused(
        [
            (lambda: EngineConfig(**split), "engine.compile: expected none with engine.stage=3 or"),
            (
                lambda: EngineConfig(checkpointing=True, compile="eager"),
                "engine.compile: expected none with engine.stag",
            ),
            (
                lambda: sft.train(whole, data, tmp_path / "whole"),
                "engine.compile: expected none for a backbone that is",
            ),
        ]
    )
