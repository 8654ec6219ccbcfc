"""The loss against its formula in plain Python and float64, and what must have no gradient."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import fields

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.reference import grpo as slow

from recommit.train.grpo import loss as objective
from recommit.train.grpo.batch import GrpoBatch
from recommit.train.grpo.config import ObjectiveConfig

CONFIGS = [
    ObjectiveConfig(0.1, *reading, kl=kl, kl_depth=kl_depth, entropy_actions=0.3)
    for reading, (kl, kl_depth) in itertools.product(
        (("factor", "surrogate"), ("joint", "surrogate"), ("factor", "constant"), ("factor", "length")),
        ((0.0, True), (0.2, True), (0.2, False)),
    )
]


#: With as many depths as plans, as where commitments are sampled, and with more, as where values are exact.
CASES = [
    pytest.param(c, depths, id=f"{c.ratio}-{c.loss_normalization}-{c.kl}-{c.kl_depth}-{depths}")
    for c in CONFIGS
    for depths in ((2, 4) if c.ratio == "factor" and c.loss_normalization != "length" else (2,))
]


def random_batch(states, group, *, seed=0, depth_rows=None, length=8):
    draw = np.random.default_rng(seed)
    rows = group if depth_rows is None else depth_rows
    executed = draw.integers(0, length + 1, (states, group, 1))
    return GrpoBatch(
        states=np.zeros((states, 2, 3), np.uint8),
        choices=draw.integers(0, 4, (states, rows)),
        depth_advantage=draw.normal(size=(states, rows)).astype(np.float32),
        depth_weight=(draw.random((states, rows)) * (draw.random((states, rows)) < 0.8)).astype(np.float32),
        depth_old=np.log(draw.dirichlet(np.ones(4), (states, rows))[..., 0]).astype(np.float32),
        actions=draw.integers(0, 4, (states, group, length)),
        plan_depth=np.zeros((states, group), np.int64),
        action_advantage=draw.normal(size=(states, group, length)).astype(np.float32),
        action_weight=(draw.random((states, group, length)) * (np.arange(length) < executed)).astype(np.float32),
        action_old=np.log(draw.dirichlet(np.ones(4), (states, group, length))[..., 0]).astype(np.float32),
        remaining=np.ones(states, np.int64),
        weight=draw.random(states).astype(np.float32),
    )


def logits(states, group, seed, length=8):
    made = torch.Generator().manual_seed(seed)
    depth = torch.randn(states, 4, generator=made, dtype=torch.float64)
    return depth, torch.randn(states, group, length, 4, generator=made, dtype=torch.float64)


def doubled(batch):
    """In float64, as tensors."""
    given = objective.TensorBatch.of(batch, torch.device("cpu"))
    values = {f.name: getattr(given, f.name) for f in fields(given)}
    return objective.TensorBatch(**{k: v.double() if v.is_floating_point() else v for k, v in values.items()})


def plain(batch, now, config, total, reference):
    """The formula, of lists."""
    lists = {f.name: getattr(batch, f.name).tolist() for f in fields(batch)}
    before = reference and [each.tolist() for each in reference]
    return slow.loss(now[0].tolist(), now[1].tolist(), lists, config, total, before)


def slopes(batch, now, config, total, reference, step=1e-5):
    """The plain loss's change with every logit, by central differences."""
    found = [torch.zeros_like(tensor) for tensor in now]
    for which, own in enumerate(found):
        for place in itertools.product(*map(range, own.shape)):
            for by in (step, -step):
                moved = [tensor.clone() for tensor in now]
                moved[which][place] += by
                own[place] += plain(batch, moved, config, total, reference) / (2 * by)
    return found


def test_the_page_and_the_code_name_one_formula():
    assert textwrap.indent(slow.formula(), "    ").replace("\n    \n", "\n\n") in objective.__doc__


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_longer_plans_have_more_terms(config, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    batch, now, before = random_batch(3, 2, length=12), logits(3, 2, 1, 12), logits(3, 2, 2, 12)
    reference, total = before if config.kl else None, objective.total_weight(batch)
    value, _ = objective.from_logits(*now, doubled(batch), config, total, reference)
    assert value.item() == pytest.approx(plain(batch, now, config, total, reference), rel=1e-9)


@pytest.mark.parametrize(("config", "depths"), CASES)
def test_micro_batches_add_up_to_the_formula(config, depths, monkeypatch):
    """The value, and the gradient of every logit. The last of three micro-batches is smaller than the others, and one
    of them has a state that weighs nothing."""
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)  # no rounding in the way
    batch, now, before = random_batch(5, 2, depth_rows=depths), logits(5, 2, 1), logits(5, 2, 2)
    for weights in (batch.depth_weight, batch.action_weight, batch.weight):
        weights[3] = 0
    reference, total = before if config.kl else None, objective.total_weight(batch)
    learned = tuple(t.clone().requires_grad_() for t in now)
    value = 0.0
    for part in (slice(0, 2), slice(2, 4), slice(4, 5)):
        against = reference and tuple(t[part] for t in reference)
        own = tuple(t[part] for t in learned)
        loss, _ = objective.from_logits(*own, doubled(batch.where(part)), config, total, against)
        loss.backward()
        value += loss.item()
    assert value == pytest.approx(plain(batch, now, config, total, reference), rel=1e-9)
    for tensor, wanted in zip(learned, slopes(batch, now, config, total, reference), strict=True):
        assert tensor.grad.abs().max() > 1e-4
        assert torch.allclose(tensor.grad, wanted, atol=1e-9)


def test_what_does_not_count_has_no_gradient_even_if_it_is_not_finite():
    batch = random_batch(6, 2)
    dead = batch.action_weight == 0
    batch.action_advantage[dead] = np.nan
    batch.action_old[dead] = -np.inf
    batch.depth_advantage[batch.depth_weight == 0] = np.inf
    now = tuple(t.float().requires_grad_() for t in logits(6, 2, 1))
    given = objective.TensorBatch.of(batch, torch.device("cpu"))
    loss, _ = objective.from_logits(*now, given, ObjectiveConfig(kl=0.0, entropy_actions=0.0), 1.0)
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(t.grad).all() for t in now)
    assert (now[1].grad[torch.from_numpy(dead)] == 0).all()
    assert (now[1].grad[torch.from_numpy(~dead)] != 0).any()


def test_fresh_ratios_are_exactly_one():
    batch = random_batch(20, 4)
    now = tuple(t.float().requires_grad_() for t in logits(20, 4, 1))
    given = objective.TensorBatch.of(batch, torch.device("cpu"))
    for ratio in ("factor", "joint"):
        _, measured = objective.from_logits(*now, given, ObjectiveConfig(kl=0.0, ratio=ratio), 1.0, fresh=True)
        named = dict(zip(objective.MEASURES, measured.tolist(), strict=True))
        assert named["max_ratio_deviation"] == 0.0
        assert named["clipped"] == 0
        assert named["ratios"] > 0


def test_kl_to_a_uniform_depth_head_is_entropy():
    """A25: log 4 minus the entropy, so that the weights of both add up."""
    batch, now = random_batch(9, 2), logits(9, 2, 1)
    given, flat = doubled(batch), (torch.zeros_like(now[0]), now[1])
    one = ObjectiveConfig(kl=0.05, entropy_depth=0.01, entropy_actions=0.0)
    other = ObjectiveConfig(kl=0.0, entropy_depth=0.06, entropy_actions=0.0)
    first, _ = objective.from_logits(*now, given, one, 1.0, flat)
    second, _ = objective.from_logits(*now, given, other, 1.0)
    assert float(first - second) == pytest.approx(0.05 * np.log(4) * float(batch.weight.sum()), rel=1e-4)
