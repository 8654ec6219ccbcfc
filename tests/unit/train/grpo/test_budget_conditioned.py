"""A policy that is told how many decisions are left: in supervision, rollouts, the loss, validation and evaluation
(A44).
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tests.refusals import refused
from tests.unit.train import runs

import recommit
from recommit.cli import main
from recommit.evaluate import metrics
from recommit.evaluate.agents import PolicyPlayer
from recommit.policy.policy import CommitPolicy
from recommit.policy.reference import ReferencePolicy
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import best_policy
from recommit.train.grpo import loss
from recommit.train.grpo import trainer as run
from recommit.train.grpo.config import ObjectiveConfig

TASK = recommit.Sliding(2, 3)


@pytest.fixture(scope="module")
def told(data, tmp_path_factory):
    return runs.warm_start(data, tmp_path_factory.mktemp("left") / "run", show_budget=True)


@pytest.fixture(scope="module")
def policy(told):
    """Whose depths and plans depend on what is left, as they would after reinforcement."""
    made, given = torch.Generator().manual_seed(1), CommitPolicy.from_pretrained(best_policy(told)).eval()
    with torch.no_grad():
        given.depth_head.weight.copy_(torch.randn(given.depth_head.weight.shape, generator=made))
        given.backbone.model.language_model.embed_tokens.weight.mul_(5.0)
    return given


def test_only_the_number_differs_and_only_where_the_policy_is_told(policy, init):
    states = TASK.generate(3, seed=1, length=(4, 9)).states
    together = policy.encode(TASK, states, np.array([2, 15, 2]))
    alone = [policy.encode(TASK, states[i : i + 1], np.array([remaining])) for i, remaining in enumerate((2, 15, 2))]
    assert (together - torch.cat(alone)).abs().max() < 1e-4
    assert (policy.encode(TASK, states, np.array([3, 3, 3])) - together).abs().max() > 1e-3
    other = CommitPolicy.from_pretrained(best_policy(init)).eval()
    assert torch.equal(other.encode(TASK, states), other.encode(TASK, states, np.array([1, 2, 3])))


def decisions(policy, group):
    config = runs.plan_of(advantage={"estimator": group}, rollout={"instances": 12, "budget": 3})
    actor = Actor(policy, TASK, variant("adaptive"), seed=5)
    return runs.batch_of(actor, config, TASK.generate(12, seed=9, length=(4, 9)).states)


@pytest.mark.parametrize("group", ["state", "branch"])
def test_what_was_told_while_playing_is_told_while_learning(policy, group):
    batch = decisions(policy, group)
    assert set(batch.remaining) == {1, 2, 3}
    for row in range(len(batch)):  # alone, and by hand
        z = policy.encode(TASK, batch.states[row : row + 1], batch.remaining[row : row + 1])
        logs = policy.depth_head(z).log_softmax(-1)[0, batch.choices[row]]
        assert logs.detach().numpy() == pytest.approx(batch.depth_old[row], abs=1e-4)
    before = ReferencePolicy(policy)
    plans, depths = torch.from_numpy(batch.actions), torch.from_numpy(batch.plan_depth)
    reference = before(TASK, batch.states, plans, depths, batch.remaining)
    sums = measured(policy, batch, reference)
    assert (sums["max_ratio_deviation"] < 1e-4, abs(sums["kl"]) < 1e-4) == (True, True)
    sums = measured(policy, replace(batch, remaining=batch.remaining % 3 + 1), reference)
    assert sums["max_ratio_deviation"] > 1e-3, "another number is another look"


def measured(policy, batch, reference):
    config, weight = ObjectiveConfig(), loss.total_weight(batch)
    _, sums = loss.grpo_loss(policy, TASK, batch, config, weight, reference)
    return dict(zip(loss.MEASURES, sums.tolist(), strict=True))


def test_agents_hear_their_own_budget_count_down(policy):
    """Against one look at a time; and nobody's rows are cut from those of a larger budget."""
    budget = 2
    player = PolicyPlayer(policy, TASK, TASK.generate(15, seed=3, length=(3, 12)).states, 4)
    rows = player.rows("adaptive", budget)
    for i, state in enumerate(player.starts):
        own = rows.where(rows.instance == i)
        for turn in range(len(own)):
            depth, plan = policy.act(TASK, state[None], remaining=np.array([budget - turn]))
            outcome = TASK.execute(state[None], plan, depth)
            assert (own.depth[turn], own.executed[turn]) == (depth[0], outcome.executed[0])
            state = outcome.states[0]
    best = metrics.episodes(player.rows("oracle-dp", budget), player.length, budget).solved.sum()
    assert all(
        metrics.episodes(player.rows(agent, budget), player.length, budget).solved.sum() <= best
        for agent in ("adaptive", "fixed-2", "random", "oracle-delta")
    )
    cut = metrics.within(player.rows("fixed-2", 4), budget)
    assert not np.array_equal(cut.depth_probs, player.rows("fixed-2", budget).depth_probs)


def test_runs_are_trained_watched_and_evaluated(told, tmp_path):
    assert run.train(runs.plan_of(optim={"steps": 1}), told, tmp_path / "run", quiet=True) == 0
    words = "--instances 6 --validation 4 --agents adaptive fixed-2 --budgets 3 2 --quiet"
    assert main(f"evaluate {tmp_path}/run --out {tmp_path}/evaluation {words}".split()) == 0
    rows = json.loads((tmp_path / "evaluation" / "summary.json").read_text())
    assert {(row["agent"], row["decisions"]) for row in rows} == {
        (a, k) for a in ("adaptive", "fixed-2") for k in (2, 3)
    }
    kept = {path.stem for path in (tmp_path / "evaluation").rglob("*.parquet")}
    assert {"adaptive@2", "adaptive@3", "fixed-2@2-validation"} <= kept


def test_what_is_not_told_is_refused(told, policy, tmp_path):
    states, exact = TASK.generate(3, seed=1).states, runs.plan_of(advantage={"estimator": "exact"})
    refused(
        [
            (lambda: policy.encode(TASK, states), "remaining: expected a count for each state, 1..99"),
            (lambda: policy.encode(TASK, states, np.array([0, 1, 2])), "remaining: expected a count for each state"),
            (lambda: run.train(exact, told, tmp_path / "run", quiet=True), "advantage.estimator: expected state, "),
        ]
    )
