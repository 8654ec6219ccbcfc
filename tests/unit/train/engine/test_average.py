"""Averages follow the weights by a formula, stand in for them while a policy is judged, and survive a checkpoint."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
from recommit.train.engine.average import Average
from safetensors.torch import load_file
from tests.unit.train import runs

from recommit.runs import ranks
from recommit.runs.directory import best_policy
from recommit.train import sft as run
from recommit.train.config import EngineConfig, OptimConfig, SftConfig, parse
from recommit.train.engine.base import Group, make_engine
from recommit.train.engine.torch import TorchEngine
from recommit.train.grpo.config import GrpoConfig


def engine_of(**changes):
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    return TorchEngine([Group("heads", 0.1, [weight])], OptimConfig(ema=0.9, **changes), ranks.alone("cpu")), weight


def moved(engine, weight, steps):
    values = []
    for _ in range(steps):
        engine.backward((weight * torch.tensor([1.0, 3.0])).sum(), last=True)
        engine.step(1.0)
        values.append(weight.detach().clone())
    return values


def test_averages_are_what_the_formula_says_in_plain_python():
    engine, weight = engine_of()
    expected = weight.tolist()
    for step, values in enumerate(moved(engine, weight, 120), start=1):
        keep = min(0.9, (1 + step) / (10 + step))
        expected = [keep * old + (1 - keep) * new for old, new in zip(expected, values.tolist(), strict=True)]
    assert torch.allclose(engine.average.values[0], torch.tensor(expected), atol=1e-5)
    assert not torch.allclose(engine.average.values[0], weight, atol=1e-2)


def test_the_policy_has_them_while_it_is_judged_and_its_own_weights_after():
    engine, weight = engine_of()
    moved(engine, weight, 5)
    own, average = weight.detach().clone(), engine.average.values[0].clone()
    with engine.judged():
        assert torch.equal(weight, average)
    assert torch.equal(weight, own)
    assert torch.equal(engine.average.values[0], average)


def test_a_loaded_engine_goes_on_in_the_same_bits(tmp_path):
    engine, weight = engine_of()
    moved(engine, weight, 3)
    engine.save(tmp_path)
    other, again = engine_of()
    other.load(tmp_path)
    moved(engine, weight, 4)
    moved(other, again, 4)
    assert torch.equal(again, weight)
    assert torch.equal(other.average.values[0], engine.average.values[0])


def test_a_step_that_is_not_finite_moves_no_average():
    engine, weight = engine_of()
    before = engine.average.values[0].clone()
    engine.backward((weight * torch.inf).sum(), last=True)
    engine.step(1.0)
    assert torch.equal(engine.average.values[0], before)


def test_a_run_saves_and_validates_its_averages(levels, tmp_path):
    plan = parse(SftConfig, {**runs.TINY, "optim": {**runs.TINY["optim"], "ema": 0.9}})
    assert run.train(plan, levels, tmp_path / "averaged", quiet=True) == 0
    without = replace(plan, optim=replace(plan.optim, ema=0.0))
    assert run.train(without, levels, tmp_path / "own", quiet=True) == 0
    first, second = ([*runs.lines(tmp_path / name)] for name in ("averaged", "own"))
    assert [line["loss"] for line in first] == [line["loss"] for line in second]  # it learns as before
    states = [load_file(best_policy(tmp_path / name) / "heads.safetensors") for name in ("averaged", "own")]
    assert any(not torch.equal(states[0][name], states[1][name]) for name in states[0])
    newest = max((tmp_path / "averaged" / "checkpoints").iterdir())
    held = load_file(newest / "engine-00000.safetensors")
    saved = load_file(newest / "policy" / "heads.safetensors")
    averages = [tensor for name, tensor in held.items() if name.endswith(".average")]
    assert any(torch.equal(tensor, each) for tensor in saved.values() for each in averages if tensor.ndim == 2)
    assert json.loads((tmp_path / "averaged" / "config.json").read_text())["optim"]["ema"] == 0.9


def test_an_interrupted_run_ends_in_the_same_bits(levels, tmp_path, monkeypatch):
    plan = parse(SftConfig, {**runs.TINY, "optim": {**runs.TINY["optim"], "steps": 4, "ema": 0.9}})
    assert run.train(plan, levels, tmp_path / "straight", quiet=True) == 0
    step = run.SftTrainer._step

    def interrupted(self):
        sums = step(self)
        if self.state.step == 3:
            signal.raise_signal(signal.SIGINT)
        return sums

    monkeypatch.setattr(run.SftTrainer, "_step", interrupted)
    assert run.train(plan, levels, tmp_path / "interrupted", quiet=True) == 130
    monkeypatch.setattr(run.SftTrainer, "_step", step)
    assert run.train(plan, levels, tmp_path / "interrupted", quiet=True) == 0
    runs.same(tmp_path / "straight", tmp_path / "interrupted")


@pytest.mark.parametrize("decay", [-0.1, 1.0])
def test_what_is_no_share_is_refused(decay):
    with pytest.raises(ValueError, match=r"optim\.ema: expected 0 to less than 1, got"):
        OptimConfig(ema=decay)


def test_deepspeed_and_reinforcement_have_none():
    with pytest.raises(ValueError, match=r"optim\.ema: expected 0, since heads move alone in reinforcement, got 0\.9"):
        parse(GrpoConfig, {"optim": {"ema": 0.9}})
    policy = torch.nn.Module()
    policy.backbone, policy.decoder, policy.depth_head = torch.nn.Module(), torch.nn.Module(), torch.nn.Module()
    policy.backbone.model, policy.backbone.vision_parameters = torch.nn.Module(), lambda: iter(())
    with pytest.raises(ValueError, match=r"optim\.ema: expected 0 with engine\.kind deepspeed, got 0\.9"):
        make_engine(policy, OptimConfig(ema=0.9), EngineConfig(kind="deepspeed"), ranks.alone("cpu"), 1)


def test_an_average_keeps_less_in_its_first_steps():
    weight = torch.nn.Parameter(torch.zeros(1))
    average = Average([weight], 0.999)
    with torch.no_grad():
        weight.fill_(1.0)
    average.follow()
    assert average.values[0].item() == pytest.approx(1 - 2 / 11)
