"""Every method's target or gradient against plain Python, and that a planted defect is noticed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.reference import baselines as slow
from tests.unit.train.heads import cases

torch = pytest.importorskip("torch")

from bench.pages import gradient_bias

from recommit.prices import Prices
from recommit.train.baselines import critics, rollouts, stopping
from recommit.train.heads import exact
from recommit.train.heads.network import Net


@pytest.fixture(scope="module")
def problem():
    return cases.problem(count=4)


@pytest.fixture(scope="module")
def edges(problem):
    return cases.edges(problem)


@pytest.fixture(scope="module")
def probs(problem):
    return cases.probs(problem)


def by_key(problem, probs):
    rows = {cases.keys(problem)[node]: row for node, row in zip(problem.rows, probs.tolist(), strict=True)}
    return lambda key, _remaining: rows[key]


def value_of(problem, edges, probs):
    """The mean value by walking down all ways."""
    names = cases.keys(problem)
    price = problem.prices.action, problem.prices.observation
    each = [
        slow.value_by_budget(edges, by_key(problem, probs), problem.depths, names[start], k, *price)
        for start in problem.starts
        for k in problem.budgets
    ]
    return float(np.mean(each))


def softmax(logits):
    return torch.from_numpy(logits).softmax(-1).numpy()


def test_the_value_is_the_mean_over_all_ways(problem, edges, probs):
    assert problem.value(probs) == pytest.approx(value_of(problem, edges, probs), abs=1e-12)


def slopes(problem, edges, logits, rows, step=1e-5):
    """The gradient by logits at some rows, by differences of the value over all ways."""
    result = np.zeros((len(rows), logits.shape[1]))
    for i, row in enumerate(rows):
        for column in range(logits.shape[1]):
            ends = []
            for sign in (1, -1):
                moved = logits.copy()
                moved[row, column] += sign * step
                ends.append(value_of(problem, edges, softmax(moved)))
            result[i, column] = (ends[0] - ends[1]) / (2 * step)
    return result


def test_the_exact_gradient_is_that_of_the_value(problem, edges, probs):
    logits = np.log(probs)
    gradient = problem.gradient(probs)
    rows = np.argsort(-np.abs(gradient).sum(axis=1))[:3]
    np.testing.assert_allclose(gradient[rows], slopes(problem, edges, logits, rows), atol=1e-8)
    without_prices = dataclasses.replace(problem, prices=Prices())
    assert not np.allclose(without_prices.gradient(probs)[rows], gradient[rows], atol=1e-6)  # planted


def log_probs(hazards):
    return stopping.HazardLearner.log_probs(None, hazards)


def test_hazards_are_likelihoods_and_their_gradient_is_right(problem, edges):
    generator = np.random.default_rng(3)
    hazards = generator.normal(size=(len(problem.rows), 3))
    logs = log_probs(torch.from_numpy(hazards)).numpy()
    for row, stops in zip(np.exp(logs), 1 / (1 + np.exp(-hazards)), strict=True):
        assert row.tolist() == pytest.approx(slow.hazard_probs(stops.tolist()), abs=1e-12)
    outputs = torch.from_numpy(hazards).requires_grad_(True)
    share, advantage = exact.scaled_advantages(problem, np.exp(logs))
    (torch.from_numpy(share[:, None] * advantage) * log_probs(outputs).exp()).sum().backward()
    rows = np.argsort(-np.abs(outputs.grad.numpy()).sum(axis=1))[:3]
    by_differences = []
    for row in rows:
        for column in range(3):
            ends = []
            for sign in (1, -1):
                moved = hazards.copy()
                moved[row, column] += sign * 1e-5
                ends.append(value_of(problem, edges, log_probs(torch.from_numpy(moved)).exp().numpy()))
            by_differences.append((ends[0] - ends[1]) / 2e-5)
    own = outputs.grad.numpy()[rows].ravel()
    assert gradient_bias.cosine_of(own, np.array(by_differences)) == pytest.approx(1.0, abs=1e-6)
    assert gradient_bias.cosine_of(np.abs(own), np.array(by_differences)) < 0.999  # planted: a sign


def test_gae_is_the_sum_over_later_decisions(problem, probs):
    played = some_rollouts(problem, probs)
    value = np.random.default_rng(2).normal(size=len(problem.graph))
    here = np.where(played.alive, value[played.node], 0.0)
    fast = critics.advantages(played, here, 0.9, 0.8)
    wrong = []
    for i in range(played.node.shape[1]):
        turns = np.flatnonzero(played.alive[:, i])
        by_hand = slow.generalised(
            played.reward[turns, i].tolist(), played.executed[turns, i].tolist(), here[turns, i].tolist(), 0.9, 0.8
        )
        assert fast[turns, i].tolist() == pytest.approx(by_hand, abs=1e-12)
        wrong.append(
            slow.generalised(played.reward[turns, i].tolist(), [1] * len(turns), here[turns, i].tolist(), 0.9, 0.8)[0]
        )
    assert not np.allclose(wrong, fast[0])  # planted: every decision discounted as one action


def some_rollouts(problem, probs, count=40):
    return rollouts.sample_batch(problem, count, 0, lambda nodes: probs[np.searchsorted(problem.rows, nodes)], 5)


def test_rollouts_are_episodes(problem, edges, probs):
    played, names = some_rollouts(problem, probs), cases.keys(problem)
    assert played.alive.any(axis=0).all()
    for turn, i in zip(*np.nonzero(played.alive), strict=True):
        depth = problem.depths[played.column[turn, i]]
        after, executed, solved = edges[names[played.node[turn, i]]][depth]
        on = turn + 1 < len(played.alive) and played.alive[turn + 1, i]
        assert played.executed[turn, i] == executed
        assert not on or names[played.node[turn + 1, i]] == after
        assert not (on and solved)
        assert played.reward[turn, i] == pytest.approx(solved - 0.01 * executed - 0.03)


def test_targets_of_q_are_those_of_the_edges(problem, edges):
    later = np.random.default_rng(4).normal(size=len(problem.graph))
    names = cases.keys(problem)
    values = dict(zip(names, later.tolist(), strict=True))
    rows = np.arange(0, len(problem.rows), 3)
    fast = critics.prefix_targets(problem, rows, later, 0.95)
    by_hand = [
        [
            slow.target(edges, names[problem.rows[row]], depth, values.__getitem__, 0.95, 0.01, 0.03)
            for depth in problem.depths
        ]
        for row in rows
    ]
    np.testing.assert_allclose(fast, by_hand, atol=1e-12)
    assert not np.allclose(critics.prefix_targets(problem, rows, later, 1.0), by_hand)  # planted


def test_the_papers_estimator_is_the_mean_over_all_groups(problem, edges, probs):
    names, task = cases.keys(problem), cases.cases.TASKS["sliding"]
    states = dict(zip(names, problem.graph.states, strict=True))
    fast = gradient_bias.state_expectation(problem, probs, 3)
    visits = problem.visits(probs).sum(axis=0)
    rows = np.argsort(-visits)[:4]
    for row in rows:
        here, rewards = names[problem.rows[row]], []
        for depth in problem.depths:
            after, executed, solved = edges[here][depth]
            won = int(task.distance(states[here][None])[0] - task.distance(states[after][None])[0])
            rewards.append(solved + 0.2 * np.tanh(won / executed))
        by_hand = slow.group_gradient(probs[row].tolist(), rewards, 3)
        np.testing.assert_allclose(fast[row], visits[row] * np.array(by_hand), atol=1e-12)
    size_two = gradient_bias.state_expectation(problem, probs, 2)
    assert not np.allclose(fast[rows], size_two[rows], atol=1e-6)  # planted: another size


def test_labels_of_the_verifier_are_distances():
    problem = cases.problem("sokoban", 4)
    task = cases.cases.TASKS["sokoban"]
    labels, states, longest = stopping.labels(problem, 16.0), problem.graph.states, problem.graph.distance.max()
    for row in range(0, len(problem.rows), 5):
        every = [problem.rows[row], *problem.landing[row]]
        distance = task.distance(np.ascontiguousarray(states[every]))
        assert labels[row].tolist() == [float(d) if d >= 0 else longest + 16.0 for d in distance]
    assert (problem.graph.distance < 0).any()
    near = dataclasses.replace(problem.graph, distance=np.where(problem.graph.distance < 0, 0, problem.graph.distance))
    nearer = stopping.labels(dataclasses.replace(problem, graph=near), 16.0)
    assert not np.array_equal(nearer, labels)  # planted: a lost level as a solved one


@pytest.mark.parametrize("kind", ["episode", "branch"])
def test_groups_without_a_deviation_is_the_exact_gradient(problem, kind):
    """Its expectation, over more draws than leave room for luck."""
    net = Net(problem, 4, 0, 0)
    judge = gradient_bias.GradientBias(problem, net)
    exact = judge.by_weights(judge.expectation("exact")) * 0.75
    many = judge.by_weights(judge.estimate(kind, 40_000, 0))
    assert gradient_bias.cosine_of(many, exact) > 0.995
    assert np.linalg.norm(many - exact) < 0.1 * np.linalg.norm(exact)


def test_expectations_of_ppo_and_of_the_paper_are_what_draws_come_to(problem):
    judge = gradient_bias.GradientBias(problem, Net(problem, 4, 0, 0))
    for name in ("ppo-gae", "state", "q"):
        expected = judge.by_weights(judge.expectation(name))
        many = judge.by_weights(judge.estimate(name, 40_000, 0))
        assert np.linalg.norm(many - expected) < 0.1 * np.linalg.norm(expected), name


def test_rows_say_who_is_biased(problem):
    judge = gradient_bias.GradientBias(problem, Net(problem, 4, 0, 0))
    rows = {(row.estimator, row.episodes): row for row in judge.rows(("exact", "branch", "state", "q"), (32, 512), 4)}
    assert rows["exact", 512].bias == pytest.approx(0.0, abs=1e-9)
    assert rows["branch", 512].bias == pytest.approx(0.0, abs=1e-9)
    assert rows["state", 512].bias > 0.01
    assert rows["exact", 512].relative_std < rows["exact", 32].relative_std
    with pytest.raises(ValueError, match="estimators: expected some of exact, branch"):
        judge.rows(("guess",), (8,), 1)
