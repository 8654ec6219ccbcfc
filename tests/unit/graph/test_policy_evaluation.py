"""Values by policy evaluation against plain recursion over every sequence of depths."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.reference import values as slow_values
from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import softmax
from recommit.graph.graph import CommitmentGraph
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.prices import Prices

FREE, ACTIONS, LOOKS, BOTH = Prices(), Prices(0.01), Prices(observation=0.02), Prices(0.005, 0.03)


def valued(graph, roots, probs, budget, prices=FREE, budgets=()):
    evaluation = PolicyEvaluation(graph, roots, budget, prices, budgets)
    return evaluation.values(probs[evaluation.rows])


@pytest.mark.parametrize("task", [recommit.Sliding(2, 3), recommit.Sokoban(6, 1)], ids=["sliding", "sokoban"])
@pytest.mark.parametrize(
    ("waves", "prices", "budgets"), [(4, FREE, ()), (2, ACTIONS, (2, 4)), (1, BOTH, (9, 3)), (4, LOOKS, (2, 4))]
)
def test_values_equal_plain_python_where_states_were_not_planned_at(task, waves, prices, budgets):
    """Also where states are lost, or too far."""
    graph = PolicyGraph(Scripted(), task, DEPTHS)
    roots = graph.nodes(task.generate(12, seed=3, length=(3, 14)).states)
    roots = np.concatenate([roots, roots[:5]])
    for _ in range(waves):
        graph.expand(np.arange(len(graph)))
    assert waves == 4 or (~graph.planned & ~graph.goal).any()
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
        if prices.observation:  # planted: observations are free
            free = slow_values.values(graph, roots, probs, 4, Prices(prices.action), budgets)
            assert np.abs(free.value - fast.value).max() > 1e-3


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
