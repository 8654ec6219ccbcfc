"""Whole runs on a GPU: what is frozen stays frozen, resumed runs go on as they would have, bfloat16 learns as float32
does.
"""

from __future__ import annotations

import hashlib

import pytest

torch = pytest.importorskip("torch")

from tests.gpu.plans import reinforcement, warm_start
from tests.unit.train.runs import interrupt_and_go_on, lines

import recommit
from recommit.data import labels
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy
from recommit.runs.distributed import Team
from recommit.train.config import OptimConfig, TargetConfig
from recommit.train.engine.base import Engine
from recommit.train.grpo import trainer as run
from recommit.train.optim import parameter_groups
from recommit.train.sft import loss, targets
from recommit.train.sft import trainer as sft

#: Sums on a GPU may come in another order every time: between two runs, by loss.
SAME_RUN = 1e-3
#: By loss, between bfloat16 and float32, over six steps.
SAME_LEARNING = 0.03


def learned_losses(folder):
    return [line["loss"] for line in lines(folder)]


def apart(one, other):
    """The largest relative difference."""
    return max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(one, other, strict=True))


def weights_of(parameters):
    """One hash of every byte."""
    digest = hashlib.sha256()
    for parameter in parameters:
        digest.update(parameter.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def frozen_weights(policy):
    return weights_of(p for name, p in policy.backbone.base.named_parameters() if "lora_" not in name)


def check_frozen(tiny, device):
    """Three steps of the adapters; the weights under them keep their bits, and so do their features."""
    task = recommit.Sokoban(6)
    policy = CommitPolicy.from_backbone(tiny).train().to(device)
    policy.train_only(task, depth_head=False)
    states = task.generate(8, seed=1, length=(4, 16)).states
    rows = targets.make(task, labels.label(task, states), TargetConfig(), seed=0, first=0)
    engine = Engine(parameter_groups(policy, OptimConfig()), OptimConfig(), Team(device=device))
    before, seen = frozen_weights(policy), policy.vision._encode(task, states).detach().clone()
    adapters = weights_of(p for name, p in policy.named_parameters() if "lora_" in name)
    for _ in range(3):
        engine.backward(loss.sft_loss(policy, task, rows, TargetConfig(), 1.0)[0])
        engine.step(1.0)
    assert weights_of(p for name, p in policy.named_parameters() if "lora_" in name) != adapters, "nothing was learned"
    assert frozen_weights(policy) == before, "frozen weights moved"
    assert torch.equal(policy.vision._encode(task, states), seen)


def test_what_is_frozen_stays_frozen(tiny, device):
    check_frozen(tiny, device)


def test_a_picture_encoder_that_learns_is_noticed(tiny, monkeypatch):
    def unfrozen(self, _task, **_options):
        for parameter in self.backbone.vision_parameters():
            parameter.requires_grad_(True)

    monkeypatch.setattr(CommitPolicy, "train_only", unfrozen)
    with pytest.raises(AssertionError, match="frozen weights moved"):
        check_frozen(tiny, torch.device("cpu"))


def check_resume(tmp_path, owner, train):
    """``train(folder)`` in one go, and interrupted and called again."""
    assert train(tmp_path / "straight") == 0
    interrupt_and_go_on(owner, lambda: train(tmp_path / "stopped"), 2)
    straight, stopped = (learned_losses(tmp_path / name) for name in ("straight", "stopped"))
    assert len(stopped) == len(straight)
    assert apart(stopped, straight) <= SAME_RUN, f"{stopped}, expected {straight}"


def check_warm_start(device, data, tmp_path):
    plan = warm_start(device, steps=5)
    check_resume(tmp_path, sft.SftTrainer, lambda out: sft.train(plan, data, out, quiet=True))


@pytest.mark.gpu
def test_a_warm_start_is_resumed(data, tmp_path):
    """On a CPU to the bit: tests/unit/train."""
    check_warm_start(torch.device("cuda"), data, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("group", ["state", "exact"])
def test_reinforcement_is_resumed(data, tmp_path, group):
    begin, plan = tmp_path / "begin", reinforcement(torch.device("cuda"), group=group)
    assert sft.train(warm_start(torch.device("cuda")), data, begin, quiet=True) == 0
    check_resume(tmp_path, run.GrpoTrainer, lambda out: run.train(plan, begin, out, quiet=True))


def test_a_resumption_without_moments_is_noticed(monkeypatch, data, tmp_path):
    load = Engine.load

    def forgetful(self, folder):
        load(self, folder)
        self.optimizer.state.clear()

    monkeypatch.setattr(Engine, "load", forgetful)
    with pytest.raises(AssertionError, match="expected"):
        check_warm_start(torch.device("cpu"), data, tmp_path)


def check_bfloat16(device, data, tmp_path, **differently):
    """Six steps of each; the second ``differently``."""
    found = []
    for dtype, changes in (("float32", {}), ("bfloat16", differently)):
        assert sft.train(warm_start(device, dtype=dtype, **changes), data, tmp_path / dtype, quiet=True) == 0
        found.append(learned_losses(tmp_path / dtype))
    assert found[0] != found[1]
    assert apart(*found) <= SAME_LEARNING, found


def test_bfloat16_that_learns_less_is_noticed(data, tmp_path):
    with pytest.raises(AssertionError):
        check_bfloat16(torch.device("cpu"), data, tmp_path, lr=1e-5, decoder_lr=1e-5)


def test_bfloat16_learns_as_float32_does(device, data, tmp_path):
    check_bfloat16(device, data, tmp_path)
    loaded = CommitPolicy.from_pretrained(best_policy(tmp_path / "bfloat16"), dtype=torch.bfloat16)
    assert {p.dtype for p in loaded.backbone.vision_parameters()} == {torch.bfloat16}
