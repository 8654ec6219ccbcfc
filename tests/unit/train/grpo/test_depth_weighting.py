"""Which depths a plan's advantage comes from, when the head has settled on one of them."""

from __future__ import annotations

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.unit.train.runs import batch_of

import recommit
from recommit.policy.policy import CommitPolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import best_policy
from recommit.train.grpo.config import AdvantageConfig, GrpoConfig, RolloutConfig

TASK = recommit.Sliding(2, 3)


@pytest.fixture(scope="module")
def settled(init):
    """A policy that always commits to one action."""
    policy = CommitPolicy.from_pretrained(best_policy(init)).eval()
    with torch.no_grad():
        policy.depth_head.weight.zero_()
        policy.depth_head.bias.copy_(torch.tensor([30.0, 0.0, 0.0, 0.0]))
    return policy


def decisions(policy, name, which):
    """Of one step from the same starts."""
    advantage, rollout = AdvantageConfig("exact", depth_weighting=which), RolloutConfig(instances=24, budget=4)
    config = GrpoConfig(advantage=advantage, rollout=rollout)
    actor = Actor(policy, TASK, variant(name), seed=5)
    return batch_of(actor, config, TASK.generate(24, seed=9, length=(4, 9)).states)


def test_later_actions_earn_whatever_the_head_has_settled_on(settled):
    chosen, uniform = (decisions(settled, "adaptive", which) for which in ("chosen", "uniform"))
    plans = uniform.weight[:, None, None] / uniform.actions.shape[1]
    first, later = chosen.action_weight[..., :1], chosen.action_weight[..., 1:]
    assert (later <= 1e-9 * first).all()
    assert (first > 0).all()
    share = np.array([1, 0.75, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25])
    executed = uniform.action_weight > 0
    assert executed[..., 1:].mean() > 0.8
    assert uniform.action_weight == pytest.approx(executed * share * plans, rel=1e-5)
    assert np.abs(uniform.action_advantage[..., 4:]).max() > 0.1
    assert (uniform.actions == chosen.actions).all()
    for name in ("depth_advantage", "depth_weight", "depth_old"):  # what the head learns is its own affair
        assert (getattr(uniform, name) == getattr(chosen, name)).all(), name


def test_without_a_head_there_is_nothing_to_choose(settled):
    chosen, uniform = (decisions(settled, "random", which) for which in ("chosen", "uniform"))
    for field in ("action_advantage", "action_weight", "actions", "weight"):
        assert (getattr(uniform, field) == getattr(chosen, field)).all(), field


def test_a_depth_whose_probability_is_no_number_keeps_its_logarithm(settled):
    policy = copy.deepcopy(settled)
    with torch.no_grad():
        policy.depth_head.bias[0] = 2000.0
    old = decisions(policy, "adaptive", "chosen").depth_old
    assert (old[:, 0] == 0.0).all()
    assert (old[:, 1:] == -2000.0).all()
