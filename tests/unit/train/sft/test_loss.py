"""One pass per state has the gradient of one pass per sample."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F

import recommit
from recommit.data.labels import label
from recommit.data.rows import expand
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.train import targets
from recommit.train.config import TargetConfig

TASK = recommit.Sliding(2, 3)


@pytest.fixture(scope="module", params=["none", "embedding"])
def policy(request, tmp_path_factory):
    decoder = DecoderConfig(width=32, layers=1, heads=2, ffn=64, depth_conditioning=request.param)
    folder = make_backbone(tmp_path_factory.mktemp("b"), "tiny")
    made = recommit.CommitPolicy.from_backbone(folder, PolicyConfig(lora=None, decoder=decoder), seed=3)
    if made.decoder.depth_vectors is not None:
        torch.nn.init.normal_(made.decoder.depth_vectors.weight, std=0.1, generator=torch.Generator().manual_seed(0))
    return made


def gradients(policy, loss):
    policy.zero_grad(set_to_none=True)
    loss.backward()
    return torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None])


def expanded(policy, rows, batch, config):
    """The same objective, sample by sample: every (state, depth) goes through the backbone alone."""
    divisor, total = 0.0, 0.0
    made = expand(rows)
    for row, depth in zip(made.row, made.depth.astype(int), strict=True):
        if depth not in config.depths:
            continue
        z = policy.encode(TASK, batch.states[row : row + 1])
        path = torch.from_numpy(batch.actions[row : row + 1])
        told = policy.conditioning(torch.tensor([depth]))
        logs = F.log_softmax(policy.decoder(z, path[:, : depth - 1], 0, depths=told), dim=-1)[0]
        allowed = torch.from_numpy(batch.optimal[row, :depth])
        if config.kind == "hard":
            allowed = F.one_hot(path[0, :depth], 4).bool()
        each = -(logs.exp() * allowed).sum(-1).log()
        total = total + (each.mean() if config.weighting == "sample" else each.sum())
        divisor += 1 if config.weighting == "sample" else depth
    return total / divisor


@pytest.mark.parametrize(
    ("kind", "weighting", "depths"),
    [("soft", "action", (1, 2, 4, 8)), ("hard", "sample", (1, 2, 4, 8)), ("soft", "sample", (4,))],
)
def test_the_gradient_is_that_of_the_expanded_samples(policy, kind, weighting, depths):
    rows = label(TASK, TASK.generate(6, seed=2, length=(1, 12)).states, ties="random", seed=1)
    config = TargetConfig(kind=kind, weighting=weighting, depths=depths, paths="dataset")
    batch = targets.make(TASK, rows, config, seed=0, first=0)
    slow = expanded(policy, rows, batch, config)
    wanted = gradients(policy, slow)
    quick, _ = targets.sft_loss(policy, TASK, batch, config, targets.total_weight(batch, config))
    given = gradients(policy, quick)
    assert quick.item() == pytest.approx(slow.item(), rel=1e-5)
    assert wanted.norm() > 0.01
    assert (given - wanted).norm() <= 1e-5 * wanted.norm()


def test_positions_without_weight_are_not_seen():
    logits = torch.randn(1, 8, 4, requires_grad=True)
    optimal = torch.zeros(1, 8, 4, dtype=torch.bool)
    optimal[0, 0, 2] = True
    each = targets.action_losses(logits, torch.zeros(1, 8, dtype=torch.long), optimal, "soft")
    targets.weighted(each, torch.tensor([[1.0] + [0.0] * 7])).backward()
    assert logits.grad.isfinite().all()
    assert (logits.grad[0, 1:] == 0).all()
    assert logits.grad[0, 0].abs().max() > 0


def test_accuracy_counts_any_optimal_action():
    logits = torch.tensor([[[0.0, 3, 1, 0]] * 8] * 2)
    optimal = torch.zeros(2, 8, 4, dtype=torch.bool)
    optimal[0, :, 1] = optimal[0, :, 2] = True
    optimal[1, :3, 0] = True
    right, asked = targets.accuracy(logits, optimal)
    assert right.tolist() == [1] * 8
    assert asked.tolist() == [2] * 3 + [1] * 5
