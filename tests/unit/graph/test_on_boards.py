"""Exact values on a graph of real boards: those of episodes, of training, of the oracle and of the solver."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.graph import oracle
from recommit.graph.build import PolicyGraph
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.graph.values import OptimalValues, commitments, optimal_values, policy_values
from recommit.prices import Prices

BUDGET = 6
PRICES = Prices(0.01, 0.03)


@pytest.fixture(scope="module")
def graph():
    """Every board of 2x3, with plans."""
    task = recommit.Sliding(2, 3)
    result = PolicyGraph(Scripted(), task, DEPTHS)
    boards = np.array(list(permutations(range(6))), np.uint8).reshape(-1, 2, 3)
    result.nodes(boards[task.distance(boards) >= 0])
    while not (result.planned | result.goal).all():
        result.expand(np.arange(len(result)))
    return result


def test_both_policy_evaluations_agree(graph):
    """Without Q and with it, backwards and forwards."""
    probs = np.random.default_rng(0).dirichlet([1.0] * len(DEPTHS), len(graph))
    evaluation = PolicyEvaluation(graph, np.arange(len(graph)), BUDGET, PRICES)
    own = evaluation.values(probs[evaluation.rows])
    assert policy_values(graph, BUDGET, probs, PRICES) == pytest.approx(own.value, abs=1e-12)
    assert evaluation.value(probs[evaluation.rows]) == pytest.approx(own.value, abs=1e-12)
    mass = np.zeros_like(own.visits)
    for remaining, nodes, _, each in commitments(graph, np.arange(len(graph)), BUDGET, probs):
        np.add.at(mass[remaining], nodes, each)
    assert mass == pytest.approx(own.visits, abs=1e-12)


def test_policies_that_see_what_remains_are_evaluated_row_by_row(graph):
    probs = np.random.default_rng(0).dirichlet([1.0] * len(DEPTHS), (BUDGET + 1, len(graph)))
    evaluation = PolicyEvaluation(graph, np.arange(len(graph)), BUDGET, PRICES)
    own = probs[:, evaluation.rows]
    value = policy_values(graph, BUDGET, probs[1:], PRICES)
    assert evaluation.value(own) == pytest.approx(value, abs=1e-12)
    advantage = evaluation.advantages_by_budget(own)
    assert (own * advantage).sum(axis=2) == pytest.approx(0.0, abs=1e-12)
    assert np.abs(advantage[1:]).max() > 1e-3


def test_the_oracle_has_the_optimal_values(graph):
    free = oracle.oracle(graph, np.arange(len(graph)), BUDGET, DEPTHS)
    assert ((free.cost[BUDGET] < oracle.FAILED) == (optimal_values(graph, BUDGET, Prices())[BUDGET] == 1)).all()
    best, priced = OptimalValues.of(graph, BUDGET, PRICES), oracle.oracle(graph, graph.rows, BUDGET, DEPTHS, PRICES)
    assert np.array_equal(priced.value, best.value)
    assert policy_values(graph, BUDGET, priced.column[1:].astype(int), PRICES) == pytest.approx(best.value, abs=1e-12)
