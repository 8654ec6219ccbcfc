"""What plans lose and what depths lose, against plain Python on small graphs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import compare as slow
from tests.unit.graph import cases

from recommit.graph import build
from recommit.graph.judge import Judge
from recommit.graph.optimal_plans import with_optimal_plans
from recommit.graph.prices import Prices, Setting
from recommit.reproduce.compare import played, split
from recommit.reproduce.compare.instances import StartSet
from recommit.reproduce.compare.redraws import Redraws

SETTINGS = (Setting(2, Prices()), Setting(3, Prices(0.01, 0.02)))
TASK = cases.TASKS["sliding"]


@pytest.fixture(scope="module")
def graph():
    """Every 2x3 board, with plans of which a third of the actions are wrong."""
    return cases.graph("sliding", build.every_state(TASK), wrong=3)


@pytest.fixture(scope="module")
def starts():
    states = TASK.generate(10, seed=4, length=(5, 14)).states
    return StartSet("test", "2x3", TASK, states, np.arange(10), both_plans=8)


@pytest.fixture(scope="module")
def chosen(graph):
    return played.choices(Judge(graph, SETTINGS), ("head", "fixed", "repetition"))


@pytest.fixture(scope="module")
def four(graph, starts, chosen):
    return split.four_values(graph, starts, chosen, SETTINGS)


def plan_of_solver(state):
    actions = TASK.solve(state[None]).actions[:8].tolist()
    return actions + [0] * (8 - len(actions))


def depths_of(graph, choice, numbers):
    def depth_of(state):
        node = numbers[state.tobytes()]
        if choice.rule == "fixed":
            return int(choice.parameter)
        if choice.rule == "head":
            return graph.head_depths[int(np.argmax(graph.logits[node]))]
        plan = graph.plans[node].tolist()
        return next((i for i in range(8) if plan[i] != plan[0]), 8)

    return depth_of


def test_crossed_values_are_those_of_plain_python(graph, starts, chosen, four):
    numbers = graph.numbers()
    for choice, values in zip(chosen, four, strict=True):
        for i, start in enumerate(starts.states[:8]):
            depth_of = depths_of(graph, choice, numbers)
            ended = slow.crossed(TASK, start, choice.setting.budget, plan_of_solver, depth_of)
            assert values.crossed[i] == pytest.approx(choice.setting.prices.returns(*ended), abs=1e-12)


def test_depths_of_optimal_plans_in_the_place_of_the_rules_own_are_noticed(graph, starts, chosen, four):
    """The planted defect: the rule reads the solver's plan."""
    perfect, numbers = with_optimal_plans(graph), graph.numbers()
    apart = False
    for choice, values in zip(chosen, four, strict=True):
        depth_of = depths_of(perfect, choice, numbers)
        for i, start in enumerate(starts.states[:8]):
            ended = slow.crossed(TASK, start, choice.setting.budget, plan_of_solver, depth_of)
            apart = apart or values.crossed[i] != pytest.approx(choice.setting.prices.returns(*ended), abs=1e-12)
    assert apart


def test_parts_add_up_and_are_the_mean_of_both_orders(chosen, four):
    redraws, pairs = Redraws(np.arange(8)), zip(chosen, four, strict=True)
    rows = [split.row("test", "adaptive", choice, (0,), [each], redraws) for choice, each in pairs]
    for row, values in zip(rows, four, strict=True):
        np.testing.assert_allclose(values.parts().sum(axis=0), values.best - values.rule, atol=1e-12)
        assert row.plans_lose[0] + row.depths_lose[0] == pytest.approx(row.best - row.value)
        assert row.plans_lose[0] == pytest.approx((row.orders[0][0] + row.orders[1][0]) / 2)
        assert row.best >= row.ceiling - 1e-12 >= row.value - 2e-12
        assert all(sum(order) == pytest.approx(row.best - row.value) for order in row.orders)


def test_optimal_plans_lose_nothing(graph, starts, chosen):
    for values in split.four_values(with_optimal_plans(graph), starts, chosen, SETTINGS):
        np.testing.assert_allclose(values.oracle, values.best, atol=1e-12)
        np.testing.assert_allclose(values.parts()[0], 0.0, atol=1e-12)
