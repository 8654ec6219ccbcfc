"""Exact regret on a graph of real boards: it says what episodes say, and the program of sampled depths, and the
ceiling.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.unit.graph.test_values import DEPTHS, Scripted

import recommit
from recommit.graph import attribution, oracle, regret, values
from recommit.graph.commitments import Commitments, Prices
from recommit.graph.plan_graph import PlanGraph, always, walk

BUDGET = 6
PRICES = Prices(0.01, 0.03)


@pytest.fixture(scope="module")
def reach():
    """Every board of 2x3, looked at."""
    task = recommit.Sliding(2, 3)
    result = PlanGraph(Scripted(), task, DEPTHS)
    boards = np.array(list(permutations(range(6))), np.uint8).reshape(-1, 2, 3)
    result.nodes(boards[task.distance(boards) >= 0])
    while not (result.expanded | result.goal).all():
        result.expand(np.arange(len(result)))
    return result


@pytest.fixture(scope="module")
def graph(reach):
    distance = reach.task.distance(reach.states)
    return Commitments(DEPTHS, reach.landing, reach.executed, reach.goal, reach.expanded, distance)


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_fixed_depth_is_worth_what_its_episodes_are(reach, graph, depth):
    rule = regret.follow(regret.best(graph, BUDGET, PRICES), np.full(len(graph), depth))
    episodes = walk(reach, reach.states, BUDGET, always(reach, depth))
    expected = episodes.solved - PRICES.action * episodes.actions - PRICES.look * episodes.decisions
    assert rule.value[BUDGET] == pytest.approx(expected, abs=1e-12)


def test_values_are_those_of_the_program_of_exact_credit(reach, graph):
    depths = np.random.default_rng(0).choice(DEPTHS, len(graph))
    rule = regret.follow(regret.best(graph, BUDGET, PRICES), depths)
    probs = (depths[:, None] == np.array(DEPTHS)).astype(float)
    program = values.Program(reach, np.arange(len(graph)), BUDGET, PRICES)
    credit = program.values(probs[program.nodes])
    assert rule.value == pytest.approx(credit.value, abs=1e-12)
    visits = attribution.visits(rule, np.arange(len(graph)))
    visits[:, graph.goal] = 0
    assert visits[1:] == pytest.approx(credit.visits[1:], abs=1e-12)


def test_the_best_solves_what_the_ceiling_solves(reach, graph):
    ceiling = oracle.ceiling(reach, reach.states, BUDGET, DEPTHS)
    best = regret.best(graph, BUDGET)
    assert (best.value[BUDGET] == (ceiling.cost[BUDGET] < oracle.FAILED)).all()
    priced = oracle.ceiling(reach, reach.states, BUDGET, DEPTHS, PRICES)
    assert priced.value == pytest.approx(regret.best(graph, BUDGET, PRICES).value, abs=1e-12)
    assert (best.hope[BUDGET] == (best.value[BUDGET] == 1)).all()


def test_optimal_plans_are_worth_what_distances_say(reach, graph):
    """The same boards with optimal plans of eight actions instead: the best depths there reach V*."""
    solutions = reach.task.solve(reach.states)
    plans = np.zeros((len(graph), 8), np.uint8)
    for i in range(len(graph)):
        part = solutions.actions[solutions.offsets[i] : solutions.offsets[i + 1]][:8]
        plans[i, : len(part)] = part
    outcomes = [reach.task.execute(reach.states, plans, np.full(len(graph), depth, np.int32)) for depth in DEPTHS]
    landing = np.stack([reach.find(outcome.states) for outcome in outcomes], axis=1)
    executed = np.stack([outcome.executed for outcome in outcomes], axis=1)
    optimal = replace(graph, landing=landing, executed=executed)
    exact = regret.optimal_values(graph.distance, DEPTHS, BUDGET, PRICES)
    solved = exact[BUDGET] > 0
    assert solved.mean() > 0.5
    assert regret.best(optimal, BUDGET, PRICES).value[BUDGET, solved] == pytest.approx(exact[BUDGET, solved], abs=1e-12)
    assert (regret.best(graph, BUDGET, PRICES).value <= exact + 1e-12).all()
