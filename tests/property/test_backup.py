"""The backup over a commitment graph against every sequence of depths, on small random graphs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="graphs are built by policies")

from recommit.graph.graph import CommitmentGraph
from recommit.graph.oracle import STEP, best_depths
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.graph.values import commitments, optimal_values, outcomes, policy_values
from recommit.prices import Prices

DEPTHS, BUDGET = (1, 3), 3
SEQUENCES = list(product(range(len(DEPTHS)), repeat=BUDGET))
several = settings(max_examples=60, deadline=None)


@st.composite
def graphs(draw, unplanned=True):
    """A goal, perhaps states without a plan, and edges to anywhere."""
    count = draw(st.integers(3, 6))
    shape = (count, len(DEPTHS))
    landing = draw(st.lists(st.integers(0, count - 1), min_size=2 * count, max_size=2 * count))
    executed = draw(st.lists(st.integers(1, 3), min_size=2 * count, max_size=2 * count))
    goal = np.arange(count) == 0
    left_out = draw(st.sets(st.integers(1, count - 1), max_size=1)) if unplanned else ()
    planned = ~goal & ~np.isin(np.arange(count), list(left_out))
    distance = np.where(goal, 0, 1 + np.arange(count) % 3)
    return CommitmentGraph(
        DEPTHS, np.reshape(landing, shape), np.minimum(np.reshape(executed, shape), DEPTHS), goal, planned, distance
    )


prices = st.builds(Prices, st.sampled_from([0.0, 0.01, 0.3]), st.sampled_from([0.0, 0.02, 0.5]))


def walked(graph, start, columns):
    """Solved, actions and observations of an episode; without a plan the least depth until the end."""
    here, actions, observations = start, 0, 0
    for column in columns:
        if graph.goal[here]:
            break
        planned = graph.planned[here]
        actions += int(graph.executed[here, column]) if planned else DEPTHS[0]
        here, observations = int(graph.landing[here, column]) if planned else here, observations + 1
    return bool(graph.goal[here]), actions, observations


def likely(graph, probs, start, columns):
    """How likely these depths are, by ``probs`` [K, N, depths] with row k - 1 for k observations left."""
    here, result = start, 1.0
    for turn, column in enumerate(columns):
        result *= probs[len(columns) - turn - 1, here, column]
        here = int(graph.landing[here, column]) if graph.planned[here] else here
    return result


@several
@given(graph=graphs(), prices=prices)
def test_best_values_are_those_of_the_best_sequence(graph, prices):
    value = optimal_values(graph, BUDGET, prices)
    several = optimal_values(graph, BUDGET, [Prices(), prices])
    best = best_depths(graph, BUDGET, DEPTHS, prices)
    for start in range(len(graph)):
        for remaining in range(BUDGET + 1):
            ends = [walked(graph, start, columns[:remaining]) for columns in SEQUENCES]
            most = max(prices.returns(*map(float, end)) for end in ends)
            assert value[remaining, start] == pytest.approx(most, abs=1e-12)
            assert several[remaining, start, 1] == pytest.approx(most, abs=1e-12)
            tied = [end for end in ends if prices.returns(*map(float, end)) >= most - 1e-12]
            solved = [(actions, observations) for won, actions, observations in tied if won]
            if solved and len(solved) == len(tied):
                actions, observations = min(solved)
                assert best.cost[remaining, start] == STEP * actions + observations


@several
@given(graph=graphs(), prices=prices, seed=st.integers(0, 99))
def test_a_policys_values_are_the_mean_over_sequences(graph, prices, seed):
    probs = np.random.default_rng(seed).dirichlet([1.0] * len(DEPTHS), (BUDGET, len(graph)))
    value = policy_values(graph, BUDGET, probs, prices)
    *_, ends = outcomes(graph, BUDGET, probs)
    for start in range(len(graph)):
        weights = [likely(graph, probs, start, columns) for columns in SEQUENCES]
        own = np.array([walked(graph, start, columns) for columns in SEQUENCES], np.float64)
        assert sum(weights) == pytest.approx(1.0)
        assert ends[start].tolist() == pytest.approx((np.array(weights) @ own).tolist(), abs=1e-12)
        assert value[BUDGET, start] == pytest.approx(float(weights @ prices.returns(*own.T)), abs=1e-12)


@several
@given(graph=graphs(unplanned=False), prices=prices, seed=st.integers(0, 99), budgets=st.sampled_from([(), (1, 3)]))
def test_training_values_the_same(graph, prices, seed, budgets):
    draw, rows = np.random.default_rng(seed), graph.rows
    probs = draw.dirichlet([1.0] * len(DEPTHS), len(graph))
    starts = np.array([*range(len(graph)), 1])
    evaluation = PolicyEvaluation(graph, starts, BUDGET, prices, budgets)
    found = evaluation.values(probs[rows])
    assert found.value == pytest.approx(policy_values(graph, BUDGET, probs, prices), abs=1e-12)
    visits = np.zeros((BUDGET + 1, len(graph)))
    for start, budget in product(starts.tolist(), budgets or (BUDGET,)):
        for columns in product(range(len(DEPTHS)), repeat=budget):
            here, weight = start, 1.0 / len(budgets or (1,))
            for turn, column in enumerate(columns):
                if graph.goal[here]:
                    break
                # Every sequence that begins alike passes here; each has its share.
                visits[budget - turn, here] += weight / len(DEPTHS) ** (budget - turn)
                weight *= probs[here, column]
                here = int(graph.landing[here, column])
    assert found.visits == pytest.approx(visits, abs=1e-12)
    if not budgets:
        forward = np.zeros_like(visits)
        for remaining, nodes, _, mass in commitments(graph, starts, BUDGET, probs):
            np.add.at(forward[remaining], nodes, mass)
        assert forward == pytest.approx(visits, abs=1e-12)


@several
@given(graph=graphs(unplanned=False), prices=prices, seed=st.integers(0, 99))
def test_a_policy_that_sees_what_remains_is_valued_row_by_row(graph, prices, seed):
    probs = np.random.default_rng(seed).dirichlet([1.0] * len(DEPTHS), (BUDGET + 1, len(graph)))
    evaluation, rows = PolicyEvaluation(graph, graph.rows, BUDGET, prices), graph.rows
    value = policy_values(graph, BUDGET, probs[1:], prices)
    assert evaluation.value(probs[:, rows]) == pytest.approx(value, abs=1e-12)
    cost = prices.action * graph.executed[rows] + prices.observation
    advantage = value[:-1][:, graph.landing[rows]] - cost - value[1:, rows, None]
    assert evaluation.advantages_by_budget(probs[:, rows])[1:] == pytest.approx(advantage, abs=1e-12)
