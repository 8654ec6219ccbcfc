"""One head for all prices and budgets: its advantages by definition, and a policy that plays what it learned."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.refusals import refused
from tests.unit.graph import cases

import recommit
from recommit.graph import build
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import head
from recommit.graph.values import commitments, policy_values
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.policy.world_model import WorldModel
from recommit.prices import Prices
from recommit.rollout import decision_rows
from recommit.train.heads import conditioned, world_model
from recommit.train.heads.conditioned import HeadProblem, HeadTraining

TASK = recommit.Sliding(2, 3)
FEW = HeadTraining(lr=0.02, hidden=8, states=64, steps=2, updates=16)
WITH_Z = dataclasses.replace(FEW, features="z+conditioned")
TWO = ((Prices(0.01, 0.08), 1), (Prices(0.01, 0.00125), 3))


def problem_by_hash(count, budgets):
    """Plans that are right or wrong by a hash."""
    return dataclasses.replace(
        HeadProblem.of(cases.some("sliding", count, 4), (1, 2, 4, 8), budgets), prices=Prices(0.01, 0.03)
    )


def probs_by_budget(problem, seed=1):
    shape = (problem.longest + 1, len(problem.rows))
    return np.random.default_rng(seed).dirichlet([1.0] * len(problem.depths), shape)


def test_advantages_are_those_of_the_definition():
    """By values that tests/property/test_backup.py compares with every sequence of depths."""
    problem = problem_by_hash(4, (2, 3))
    graph, rows, probs = problem.graph, problem.rows, probs_by_budget(problem)
    every = np.zeros((problem.longest, len(graph), len(problem.depths)))
    every[:, rows] = probs[1:]
    value = policy_values(graph, problem.longest, every, problem.prices)
    cost = problem.prices.action * graph.executed[rows] + problem.prices.observation
    expected, visits = np.zeros_like(probs), np.zeros(probs.shape[:2])
    expected[1:] = value[:-1][:, graph.landing[rows]] - cost - value[1:, rows, None]
    for budget in problem.budgets:
        for remaining, nodes, _, mass in commitments(graph, problem.starts, budget, every[:budget]):
            np.add.at(visits[remaining], np.searchsorted(rows, nodes), mass)
    share, advantage = conditioned.advantages(problem, probs)
    assert share == pytest.approx(visits / visits.sum(), abs=1e-12)
    scale = np.sqrt((share[..., None] * probs * expected**2).sum())
    seen = share > 0
    assert np.allclose(advantage[seen], expected[seen] / scale, atol=1e-9)
    planted = conditioned.advantages(problem, np.roll(probs, 1, axis=0))[1]  # the observations left are off by one
    assert not np.allclose(planted[seen], expected[seen] / scale, atol=1e-3)


def test_a_target_is_its_own_probabilities_times_e_to_the_advantage():
    probs = np.array([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    advantage = np.array([[np.log(2.0), 0.0, np.log(2.0)], [0.0, 0.0, 0.0], [-100.0, 0.0, 0.0]])
    better = conditioned.weighted_target(probs, advantage)
    assert np.allclose(better[:2], [[4 / 7, 1 / 7, 2 / 7], [0.2, 0.3, 0.5]])
    ruled_out = conditioned.LEAST / (np.exp(-conditioned.MOST) + 2 * conditioned.LEAST)
    assert np.allclose(better[2], [1 - 2 * ruled_out, ruled_out, ruled_out])


def test_more_steps_on_an_evaluation_come_nearer_to_its_target(tiny, graph, monkeypatch):
    """A gradient that is out of date would go too far. Planted: the worse is imitated."""
    prices, plain = Prices(0.01, 0.01), conditioned.weighted_target
    problem = dataclasses.replace(problem_of(graph).within_reach(), prices=prices)
    reader = conditioned.ConditionedInputs(new(tiny), TASK, problem)
    monkeypatch.setattr(conditioned.ConditionedLearner, "_prices", lambda _self, _number: prices)

    def after(steps, sign):
        config = dataclasses.replace(FEW, steps=max(steps, 1), lr=0.003, hidden=32)
        learner = conditioned.ConditionedLearner(problem, reader, config)
        monkeypatch.setattr(conditioned, "weighted_target", lambda probs, advantage: plain(probs, sign * advantage))
        if steps:
            learner.update(0)
        evaluation, probs = problem.evaluation, learner.probs(problem)
        return float(evaluation.begin @ evaluation.value(probs)[:, problem.starts].mean(axis=1))

    assert after(200, -1) < after(0, 1) < after(10, 1) < after(200, 1)


def test_nodes_out_of_reach_change_nothing():
    whole = problem_by_hash(3, (1, 2))
    near = whole.within_reach()
    assert set(near.starts) <= set(near.rows) < set(whole.rows)
    place = np.searchsorted(whole.rows, near.rows)
    probs = probs_by_budget(whole)
    share, advantage = conditioned.advantages(whole, probs)
    fewer, same = conditioned.advantages(near, probs[:, place])
    assert np.allclose(fewer, share[:, place])
    seen = fewer > 0
    assert np.allclose(same[seen], advantage[:, place][seen])
    one = dataclasses.replace(
        whole, budgets=(1,)
    ).within_reach()  # planted: too small a budget leaves out what two come to
    assert len(one.rows) < len(near.rows)


def new(tiny):
    small = DecoderConfig(width=32, layers=1, heads=2, ffn=64)
    config = PolicyConfig(lora=None, prompts=("bare-v1", "bare-v1"), decoder=small)
    policy = recommit.CommitPolicy.from_backbone(tiny, config, seed=2).eval()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        world_model.replace_head(policy, WorldModel(world_model.config_of(policy, TASK)))
    return policy


@pytest.fixture(scope="module")
def graph(tiny):
    return build.build(new(tiny), TASK, TASK.generate(24, seed=1).states, features=True)


def problem_of(graph):
    return HeadProblem.of(graph, graph.head_depths, (2, 3))


@pytest.fixture(scope="module")
def fitted(tiny, graph):
    policy, problem = new(tiny), problem_of(graph)
    learn, held = problem.split(0.25, 0)
    result = conditioned.fit(policy, TASK, learn, held, WITH_Z)
    with torch.no_grad():  # so that no depth is always the best
        policy.depth_head.weight.add_(torch.randn(policy.depth_head.weight.shape, generator=torch.manual_seed(0)))
    return policy, result, problem


def test_a_policy_plays_what_the_head_says_of_prices_and_budgets(fitted, tiny, tmp_path):
    policy, result, problem = fitted
    assert len(result["curve"]) == 8
    assert result["value"] == max(each["value"] for each in result["curve"])
    again = recommit.CommitPolicy.from_pretrained(policy.save_pretrained(tmp_path / "policy")).eval()
    features = policy.config.head.features
    reader, states = (
        conditioned.ConditionedInputs(new(tiny), TASK, problem, features),
        problem.graph.states[problem.rows],
    )
    answers = []
    for prices, remaining in TWO:
        again.replace_prices(prices)
        with torch.no_grad():
            logits = policy.depth_head(reader(slice(None), remaining, prices))
        near = logits.sort(dim=1).values
        clear = (near[:, -1] - near[:, -2] > 1e-3).numpy()
        depths, plans = again.act(TASK, states, remaining=np.full(len(states), remaining))
        expected = np.array(problem.depths)[logits.argmax(dim=1).numpy()]
        assert clear.mean() > 0.8
        assert np.array_equal(depths[clear], expected[clear])
        assert np.array_equal(plans, problem.graph.plans[problem.rows])
        answers.append(depths)
    assert not np.array_equal(*answers)
    again.replace_prices(TWO[0][0])
    wrong, _ = again.act(TASK, states, remaining=np.full(len(states), TWO[1][1]))  # planted: another budget
    assert not np.array_equal(wrong, answers[0])


def test_episodes_tell_it_the_observations_left(fitted):
    policy, _, problem = fitted
    policy.replace_prices(Prices(0.01, 0.02))
    starts, budget = problem.graph.states[problem.starts], 3
    reach = PolicyGraph(policy, TASK, tuple(range(1, 9)))
    rows = decision_rows.on_graph(reach, starts, budget, head(reach))
    here, on = starts, np.arange(len(starts))
    for turn in range(budget):
        on = on[~TASK.is_solved(here[on])]
        depths, plans = policy.act(TASK, here[on], remaining=np.full(len(on), budget - turn))
        now = rows.turn == turn
        assert np.array_equal(rows.depth[now][np.argsort(rows.instance[now])], depths)
        here = here.copy()
        here[on] = TASK.execute(np.ascontiguousarray(here[on]), plans, depths.astype(np.int32)).states


def test_probs_are_the_heads_wherever_an_episode_comes_to(tiny, graph):
    """``probs`` shares the hidden layer's sums over budgets, and leaves out where no episode can be."""
    problem, prices = problem_of(graph).within_reach(), Prices(0.01, 0.04)
    inputs = conditioned.ConditionedInputs(new(tiny), TASK, problem, WITH_Z.features)
    learner = conditioned.ConditionedLearner(problem, inputs, WITH_Z)
    for number in range(4):
        learner.update(number)
    remaining = np.arange(problem.longest + 1)[:, None]
    with torch.no_grad():
        each = [learner.log_probs(slice(None), k, prices).exp().numpy() for k in range(1, problem.longest + 1)]
    whole, fast = np.stack([np.zeros_like(each[0]), *each]), learner.probs(dataclasses.replace(problem, prices=prices))
    seen = (remaining > 0) & (problem.earliest[problem.rows] + remaining <= problem.longest)
    assert np.array_equal(fast.sum(axis=2) > 0, seen)
    assert not seen[problem.longest].all()
    assert np.allclose(fast[seen], whole[seen], atol=1e-5)
    assert not np.allclose(fast[1][seen[1]], whole[2][seen[1]], atol=1e-3)  # planted: off by one observation


def test_what_does_not_fit_is_refused(fitted, tiny):
    policy, _, problem = fitted
    states, bare, other = problem.graph.states[problem.starts], new(tiny), new(tiny)
    bare.world_model = None
    other.decoder.outputs[0].bias.data.add_(torch.tensor([9.0, 0.0, 0.0, 0.0]))
    without = dataclasses.replace(problem, graph=dataclasses.replace(problem.graph, features=None))
    fit = lambda given, own=problem, training=FEW: conditioned.fit(given, TASK, own, own, training)
    refused(
        [
            (lambda: policy.act(TASK, states), "remaining: expected the decisions that remain of 24 states"),
            (lambda: build.build(policy, TASK, states), "policy: expected one whose plan depends on the state alone, "),
            (lambda: fit(other), "graph: expected one of this policy's plans"),
            (lambda: fit(new(tiny), without, WITH_Z), "graph: expected one with features"),
            (lambda: fit(bare), "policy: expected one with a world model"),
            (lambda: HeadProblem.of(problem.graph, (1, 2), (0,)), "budgets: expected numbers from 1 on, got (0,)"),
        ]
    )
