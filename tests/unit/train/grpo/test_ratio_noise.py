"""In bfloat16 a ratio says how far the weights moved, and nothing of which kernels and batches computed it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import lines, plan_of

from recommit.policy.backbones.random_init import BACKBONES, make_backbone
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.policy import CommitPolicy
from recommit.train.grpo import trainer


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """Adapters and heads with numbers in them on a bfloat16 backbone."""
    folder = tmp_path_factory.mktemp("bfloat16")
    backbone = make_backbone(folder / "backbone", BACKBONES["tiny"])
    config = PolicyConfig(lora=LoraConfig(), decoder=DecoderConfig(width=32, layers=1, heads=4, ffn=64))
    made = CommitPolicy.from_backbone(backbone, config, dtype=torch.bfloat16)
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.requires_grad:
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=noise))
    return made.save_pretrained(folder / "policy")


def deviation(policy, data, out, estimator):
    """The largest |ratio - 1| of a step of several batches at learning rate 0."""
    still = {"lr": 0.0, "decoder_lr": 0.0, "depth_head_lr": 0.0, "steps": 1, "batch": 4}
    plan = plan_of(optim=still, advantage={"estimator": estimator}, validation={"instances": 0})
    assert trainer.train(plan, policy, out, data=data, quiet=True) == 0
    return lines(out)[0]["max_ratio_deviation"]


@pytest.fixture
def other_kernels(monkeypatch):
    """Log probabilities of sampling as other kernels have them: at width 1,024 they differ by some 0.03, at this one by
    nothing."""
    collect = trainer.GrpoTrainer.collect

    def noisy(*arguments):
        batch, signals = collect(*arguments)
        noise = np.random.default_rng(0)
        old = {name: getattr(batch, name) for name in ("depth_old", "action_old")}
        return replace(
            batch, **{k: v + noise.normal(0, 0.03, v.shape).astype(v.dtype) for k, v in old.items()}
        ), signals

    monkeypatch.setattr(trainer.GrpoTrainer, "collect", noisy)


@pytest.mark.usefixtures("other_kernels")
@pytest.mark.parametrize("estimator", ["state", "exact"])
def test_weights_that_do_not_move_give_ratios_of_one(policy, data, tmp_path, estimator):
    assert deviation(policy, data, tmp_path / "run", estimator) <= 1e-3


@pytest.mark.usefixtures("other_kernels")
def test_the_arithmetic_of_sampling_is_noticed(policy, data, tmp_path, monkeypatch):
    """The planted defect: old log probabilities as they were sampled."""
    monkeypatch.setattr(trainer.GrpoTrainer, "_recompute_old", lambda _self, batches, _portions: batches)
    assert deviation(policy, data, tmp_path / "run", "state") > 1e-2
