"""Values by policy evaluation against plain recursion over every sequence of depths."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.reference import values as slow_values
from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import softmax
from recommit.graph.graph import CommitmentGraph
from recommit.graph.policy_evaluation import PolicyEvaluation, explore, plan_advantages
from recommit.prices import Prices

FREE, ACTIONS, LOOKS, BOTH = Prices(), Prices(0.01), Prices(observation=0.02), Prices(0.005, 0.03)


def valued(graph, roots, probs, budget, prices=FREE, budgets=()):
    evaluation = PolicyEvaluation(graph, roots, budget, prices, budgets)
    return evaluation.values(probs[evaluation.rows])


@pytest.fixture(scope="module")
def board():
    task = recommit.Sliding(2, 3)
    graph = PolicyGraph(Scripted(), task, DEPTHS)
    starts = task.generate(6, seed=3, length=(3, 9)).states
    roots = graph.nodes(starts)
    explore(graph, roots, 4, lambda r, n: softmax(r.logits[n]), limit=10_000)
    while not (graph.planned | graph.goal).all():
        graph.expand(np.arange(len(graph)))  # recursion wants the hopeless ones too
    return graph, roots


@pytest.mark.parametrize("task", [recommit.Sliding(2, 3), recommit.Sokoban(6, 1)], ids=["sliding", "sokoban"])
@pytest.mark.parametrize(
    ("limit", "prices", "budgets"),
    [(1000, FREE, ()), (3, ACTIONS, (2, 4)), (1, BOTH, (9, 3)), (1000, LOOKS, (2, 4))],
)
def test_values_equal_plain_python_where_states_were_not_planned_at(task, limit, prices, budgets):
    """Also where states are lost, or too far."""
    graph = PolicyGraph(Scripted(), task, DEPTHS)
    roots = graph.nodes(task.generate(12, seed=3, length=(3, 14)).states)
    roots = np.concatenate([roots, roots[:5]])
    explore(graph, roots, 4, lambda r, n: softmax(r.logits[n]), limit)
    assert limit == 1000 or (~graph.planned & ~graph.goal).any()
    evaluation = PolicyEvaluation(graph, roots, 4, prices, budgets)
    for seed in range(3):
        probs = softmax(np.random.default_rng(seed).normal(size=graph.logits.shape))
        fast, wanted = (
            evaluation.values(probs[evaluation.rows]),
            slow_values.values(graph, roots, probs, 4, prices, budgets),
        )
        assert fast.value == pytest.approx(wanted.value, rel=1e-12, abs=1e-14)
        assert fast.visits == pytest.approx(wanted.visits, rel=1e-12)
        assert fast.exact_fraction == pytest.approx(wanted.exact_fraction, rel=1e-12)
        assert fast.advantage == pytest.approx(wanted.advantage, rel=1e-9, abs=1e-12)
        advantage, visits = evaluation.advantages(probs[evaluation.rows])
        assert (advantage == fast.advantage[evaluation.rows]).all()
        assert visits == pytest.approx(fast.visits[:, evaluation.rows].sum(axis=0), rel=1e-12)
        assert np.abs(advantage).max() > 1e-3


def test_plans_are_compared_depth_by_depth():
    """Two plans; the second lands better at depth 2 and equal at depth 1: only its second action earns."""
    visits = np.array([[0.0], [1.0], [0.0]])
    landing = np.array([[[0, 1], [0, 2]]])
    advantage, weight = plan_advantages(
        SimpleNamespace(value=np.array([[0.2, 0.2, 0.6], [0.0] * 3]), by_distance=np.zeros((2, 4))),
        visits[:2],
        np.array([[0.5, 0.5]]),
        (1, 2),
        landing,
        np.ones((1, 2, 2), int),
        np.zeros((1, 2, 2), bool),
        np.array([[[1, 2], [1, 2]]]),
        LOOKS,  # which both plans pay
    )
    assert weight[0, 0].tolist() == [1.0, 0.5, 0, 0, 0, 0, 0, 0]
    assert advantage[0, :, 1].tolist() == pytest.approx([-0.2, 0.2])
    assert advantage[0, :, 0].tolist() == pytest.approx([-0.1, 0.1])
    assert (advantage[0, :, 2:] == 0).all()


#: A start with two commitments of eight actions: one loses the level, one goes on and is solved now and then.
TWO = CommitmentGraph(
    depths=(7, 8),
    landing=np.array([[1, 2], [0, 0], [2, 3], [3, 3]]),
    executed=np.array([[8, 8], [0, 0], [8, 8], [0, 0]]),
    goal=np.array([False, False, False, True]),
    planned=np.array([True, False, True, False]),
    distance=np.array([20, -1, 12, 0], np.int32),
)


def test_losing_a_level_does_not_save_what_playing_on_costs():
    probs = np.array([[0.5, 0.5], [0, 0], [0.95, 0.05], [0, 0]])
    for prices in (FREE, ACTIONS, Prices(0.05), LOOKS, BOTH):
        found = valued(TWO, np.array([0]), probs, 6, prices)
        lost, alive = found.q_values[6, 0]
        assert found.value[5, 2] > found.value[5, 1]
        assert alive > lost
        assert lost == pytest.approx(-6 * (8 * prices.action + prices.observation)), (
            "six decisions of eight actions, whatever is done"
        )


def enumerated(graph, roots, prices):
    """The return, and its gradient by the logits: every episode's probability times its return times the slope of the
    log of its probability."""
    probs = softmax(graph.logits)
    total, gradient = 0.0, np.zeros(graph.logits.shape)

    def play(node, remaining, likely, earned, taken):
        nonlocal total
        if graph.goal[node] or not remaining:
            total += likely * (earned + bool(graph.goal[node]))
            for at, column in taken:
                slope = -probs[at]
                slope[column] += 1.0
                gradient[at] += likely * (earned + bool(graph.goal[node])) * slope
            return
        for column in range(len(DEPTHS)):
            cost = prices.observation + prices.action * int(graph.executed[node, column])
            play(
                graph.landing[node, column],
                remaining - 1,
                likely * probs[node, column],
                earned - cost,
                [*taken, (node, column)],
            )

    for root in roots:
        play(root, 4, 1.0, 0.0, [])
    return total, gradient


def evaluated(graph, roots, prices):
    """The same by policy evaluation."""
    probs = softmax(graph.logits)
    result = valued(graph, roots, probs, 4, prices)
    gradient = result.visits.sum(axis=0)[:, None] * probs * result.advantage
    return result.value[4, roots].sum(), gradient


@pytest.mark.parametrize("prices", [Prices(observation=0.05), Prices(0.01, 0.02), Prices(0.2, 1.5)])
def test_it_is_the_gradient_of_every_episode(board, prices):
    total, gradient = enumerated(*board, prices)
    by_evaluation = evaluated(*board, prices)
    assert by_evaluation[0] == pytest.approx(total, rel=1e-12)
    assert by_evaluation[1] == pytest.approx(gradient, rel=1e-9, abs=1e-13)
    assert (np.abs(gradient - enumerated(*board, Prices(prices.action))[1]) > 1e-4).any(), "observations matter"


@pytest.mark.parametrize(
    "planted",
    [
        lambda prices, executed: prices.action * executed,
        lambda prices, executed: (prices.action + prices.observation) * executed,
        lambda prices, executed: prices.action * executed + prices.observation * (executed > 1),
    ],
    ids=["observations are free", "an observation per action", "shallow observations are free"],
)
def test_a_wrong_price_of_an_observation_is_another_gradient(board, planted, monkeypatch):
    prices = Prices(0.01, 0.05)
    _, gradient = enumerated(*board, prices)
    monkeypatch.setattr(Prices, "cost", planted)
    assert np.abs(evaluated(*board, prices)[1] - gradient).max() > 1e-3
