"""One pass per state has the gradient of one pass per sample."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F

import recommit
from recommit.data.labels import label
from recommit.data.rows import expand
from recommit.policy.backbones.conv import ConvShape
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.train.config import TargetConfig
from recommit.train.sft import loss, targets

TASK = recommit.Sliding(2, 3)


@pytest.fixture(scope="module", params=["none", "embedding"])
def policy(request, tiny):
    decoder = DecoderConfig(width=32, layers=1, heads=2, ffn=64, depth_conditioning=request.param)
    made = recommit.CommitPolicy.from_backbone(tiny, PolicyConfig(lora=None, decoder=decoder), seed=3)
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
    quick, _ = loss.sft_loss(policy, TASK, batch, config, loss.total_weight(batch, config))
    given = gradients(policy, quick)
    assert quick.item() == pytest.approx(slow.item(), rel=1e-5)
    assert wanted.norm() > 0.01
    assert (given - wanted).norm() <= 1e-5 * wanted.norm()


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A policy that reads cells."""
    folder = make_backbone(tmp_path_factory.mktemp("b"), ConvShape(width=8, blocks=1, z=16))
    small = PolicyConfig(lora=None, decoder=DecoderConfig(width=32, layers=1, heads=2, ffn=64))
    return recommit.CommitPolicy.from_backbone(folder, small, seed=3)


def test_the_loss_elsewhere_is_that_of_the_same_picture_read_there(reader):
    task = recommit.Sokoban((6, 7), 2)
    rows = label(task, task.generate(5, seed=2, length=(4, 12)).states, ties="random", seed=1)
    config = TargetConfig(dense=2, depths=(1, 2, 4, 8))
    batch = targets.make(task, rows, config, seed=0, first=0)
    found, logits = loss.sft_loss(reader, task, batch, config, total := loss.total_weight(batch, config))
    own = replace(batch, elsewhere=None)
    expected, weight = loss.sft_loss(reader, task, own, config, 1.0)[0], loss.total_weight(own, config)
    geometry, index = reader.prompts_cache.of(task, (6, 7), 1), reader.task_index(task)
    cells = reader.backbone.cells(reader.vision.features(task, batch.states, frozen=False), geometry)
    for i in range(5):
        for j in range(2):
            row, column = divmod(int(batch.elsewhere.cells[i, j]), 7)
            shares = torch.zeros(1, 1, 4, 5)
            shares[0, 0, row - 1, column - 1] = 1
            z = reader.backbone.read(cells[i : i + 1], shares)
            logs = reader.decoder(z, torch.from_numpy(batch.elsewhere.actions[i : i + 1, j, :7]), index).log_softmax(-1)
            each = -(logs[0].exp() * torch.from_numpy(batch.elsewhere.optimal[i, j])).sum(-1).log()
            counts = loss.weights(batch.elsewhere.distance[i : i + 1, j])[0] * loss.OTHERS / 2
            live = counts > 0
            expected = expected + (each[live] * torch.from_numpy(counts[live])).sum()
            weight += counts.sum()
    assert total == pytest.approx(weight, rel=1e-6)
    assert found.item() == pytest.approx(expected.item() / weight, rel=1e-5)
    assert logits.shape == (5, 8, 4), "what is measured is of the states themselves"


def test_positions_without_weight_are_not_seen():
    logits = torch.randn(1, 8, 4, requires_grad=True)
    optimal = torch.zeros(1, 8, 4, dtype=torch.bool)
    optimal[0, 0, 2] = True
    each = loss.action_losses(logits, torch.zeros(1, 8, dtype=torch.long), optimal, "soft")
    loss.weighted(each, torch.tensor([[1.0] + [0.0] * 7])).backward()
    assert logits.grad.isfinite().all()
    assert (logits.grad[0, 1:] == 0).all()
    assert logits.grad[0, 0].abs().max() > 0


def test_accuracy_counts_any_optimal_action():
    logits = torch.tensor([[[0.0, 3, 1, 0]] * 8] * 2)
    optimal = torch.zeros(2, 8, 4, dtype=torch.bool)
    optimal[0, :, 1] = optimal[0, :, 2] = True
    optimal[1, :3, 0] = True
    right, asked = loss.accuracy(logits, optimal)
    assert right.tolist() == [1] * 8
    assert asked.tolist() == [2] * 3 + [1] * 5
