"""Reinforcement of a decoder that is told the depth: the paper's formula, pi(a | z, h)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.unit.train import runs

import recommit
from recommit.policy.policy import CommitPolicy
from recommit.policy.reference import ReferencePolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import best_policy
from recommit.train.grpo import loss as objective
from recommit.train.grpo import trainer as grpo
from recommit.train.grpo.config import ObjectiveConfig

TASK = recommit.Sliding(2, 3)
#: What a depth outside the grid is told as: the next larger one (A29).
TOLD = {1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 8: 8}


@pytest.fixture(scope="module")
def told(data, tmp_path_factory):
    """A warm start whose plans depend on their depth."""
    return runs.warm_start(data, tmp_path_factory.mktemp("told") / "run", depth_conditioning="embedding")


def policy_of(run):
    policy = CommitPolicy.from_pretrained(best_policy(run)).eval()
    with torch.no_grad():  # supervision has hardly begun: make the depth matter
        policy.decoder.depth_vectors.weight.mul_(30.0)
    return policy


def decisions(policy, name="adaptive", **advantage):
    """What one step would learn from."""
    plan = runs.plan_of(advantage=advantage, rollout={"instances": 12})
    actor = Actor(policy, TASK, variant(name), seed=5)
    return runs.batch_of(actor, plan, TASK.generate(12, seed=9, length=(4, 9)).states)


ESTIMATORS = [{"estimator": name} for name in ("state", "episode", "branch", "exact")]


@pytest.mark.parametrize(
    ("name", "advantage"),
    [*zip(("adaptive", "fixed-3", "random", "adaptive"), ESTIMATORS, strict=True)],
    ids=lambda c: c if isinstance(c, str) else c["estimator"],
)
def test_log_probabilities_are_those_under_the_plans_own_depth(told, name, advantage):
    """Against one action at a time, from z and the depth, in every decision."""
    policy = policy_of(told)
    batch = decisions(policy, name, **advantage)
    z = policy.encode(TASK, batch.states).detach()
    for row, plan in np.ndindex(batch.plan_depth.shape):
        depth, actions = int(batch.plan_depth[row, plan]), torch.from_numpy(batch.actions[row, plan])
        entry = torch.tensor([TOLD[depth]])
        for j in np.flatnonzero(batch.action_weight[row, plan] > 0):
            with torch.no_grad():
                logits = policy.decoder(z[row : row + 1], actions[None, :j], 0, entry)[0, j]
            wanted = float(logits.log_softmax(-1)[actions[j]])
            assert batch.action_old[row, plan, j] == pytest.approx(wanted, abs=2e-5)
    assert set(batch.plan_depth.flat) <= ({3} if name == "fixed-3" else {1, 2, 4, 8})


def measured(policy, batch, config, reference=None):
    loss, sums = objective.grpo_loss(policy, TASK, batch, config, objective.total_weight(batch), reference)
    return loss, dict(zip(objective.MEASURES, sums.tolist(), strict=True))


@pytest.mark.parametrize("advantage", ESTIMATORS[::3], ids=lambda c: c["estimator"])
def test_ratios_begin_at_one_and_the_warm_start_is_no_distance_away(told, advantage):
    policy = policy_of(told)
    batch = decisions(policy, **advantage)
    plans, depths = torch.from_numpy(batch.actions), torch.from_numpy(batch.plan_depth)
    before = ReferencePolicy(policy)(TASK, batch.states, plans, depths)
    _, sums = measured(policy, batch, ObjectiveConfig(), before)
    assert sums["max_ratio_deviation"] < 1e-4
    assert abs(sums["kl"]) < 1e-4
    wrong = replace(batch, plan_depth=np.where(batch.plan_depth == 8, 1, 8))
    _, sums = measured(policy, wrong, ObjectiveConfig(), before)
    assert sums["max_ratio_deviation"] > 0.1, "another depth is another plan"
    assert sums["kl"] > 0.01


def test_exact_values_give_every_depth_plans_of_its_own(told):
    batch = decisions(policy_of(told), estimator="exact", group_size=3)
    assert batch.plan_depth.tolist() == [[1] * 3 + [2] * 3 + [4] * 3 + [8] * 3] * len(batch)
    assert (batch.action_weight[np.arange(8) >= batch.plan_depth[..., None]] == 0).all()
    first = batch.action_advantage[..., 0].reshape(len(batch), 4, 3)
    assert np.abs(first).max() > 0.1
    assert np.abs(first.sum(axis=2)).max() < 1e-4, "compared with plans of the same depth alone"


def test_a_decoder_that_attends_to_z_is_trained_saved_and_reinforced(data, tmp_path):
    """With every option of the heads at once."""
    start = runs.warm_start(data, tmp_path / "start", steps=4, z="cross", depth_conditioning="embedding")
    plan = runs.plan_of(head={"init": "normal:0.5"})
    assert grpo.train(plan, start, tmp_path / "run", quiet=True) == 0
    policy = CommitPolicy.from_pretrained(best_policy(tmp_path / "run"))
    assert (policy.config.decoder.z, policy.config.head.init) == ("cross", "normal:0.5")
    assert 0.2 < policy.depth_head.weight.std().item() < 0.8
    changed = runs.moved(best_policy(start), tmp_path / "run" / "checkpoints" / "step-00000004" / "policy")
    assert {"decoder.blocks.0.cross.weight", "decoder.depth_vectors.weight", "depth_head.weight"} <= changed
