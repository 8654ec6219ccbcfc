"""The solver's plans in a graph, and what is missing to them, against plain Python on small boards."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import graphs as slow
from tests.unit.graph import cases

from recommit.graph import decomposition, score
from recommit.graph.decomposition import with_optimal_plans
from recommit.graph.graph import ALL_DEPTHS
from recommit.graph.score import GraphScorer
from recommit.graph.values import optimal_values, solver_values
from recommit.horizon import rule_registry
from recommit.prices import Prices, Setting

TASK = cases.TASKS["sliding"]
SETTINGS = (Setting(2, Prices()), Setting(3, Prices(0.01, 0.02)))
NAMES = ("fixed-3", "head", "repetition", "consecutive", "sampled", "head+memory")


@pytest.fixture(scope="module")
def boards():
    """Every 2x3 board."""
    return cases.graph("sliding", cases.TASKS["sliding"].population()[0])


@pytest.mark.parametrize("budget", [1, 3])
def test_optimal_plans_are_worth_what_distances_say(boards, budget):
    best = with_optimal_plans(boards)
    assert best.closed
    prices = Prices(0.01, 0.02)
    value = optimal_values(best, budget, prices)[budget]
    exact = solver_values(boards.distance, ALL_DEPTHS, budget, prices)[budget]
    np.testing.assert_allclose(value, exact, atol=1e-12)


@pytest.fixture(scope="module")
def scorer(boards):
    """Twelve starts of all boards."""
    starts = np.flatnonzero((boards.distance > 1) & (boards.distance < 9))[::3][:12]
    return GraphScorer(boards.part(np.ones(len(boards), bool), starts), SETTINGS)


@pytest.fixture(scope="module")
def rows(scorer):
    entries = [rule_registry.named(name) for name in NAMES]
    return decomposition.rule_parts(scorer, score.score(scorer, entries), entries)


def crossed(graph, start, setting, depth_of, plan_of):
    ended = slow.crossed(TASK, graph.states[start], setting.budget, plan_of, depth_of)
    return setting.prices.returns(*ended)


def plan_of_solver(state):
    actions = TASK.solve(state[None]).actions[:8].tolist()
    return actions + [0] * (8 - len(actions))


def depths_of(graph, name):
    """By state, of the policy's own plans in this graph."""
    numbers = graph.numbers()

    def depth_of(state):
        node = numbers[state.tobytes()]
        if name == "fixed-3":
            return 3
        if name == "head":
            return graph.head_depths[int(np.argmax(graph.logits[node]))]
        plan = graph.plans[node].tolist()
        return next((i for i in range(8) if plan[i] != plan[0]), 8)

    return depth_of


@pytest.mark.parametrize("name", ["fixed-3", "head", "repetition"])
def test_crossed_values_are_those_of_plain_python(scorer, rows, name):
    for setting in SETTINGS:
        row = next(each for each in rows if each.rule == name and each.under(setting))
        mean = np.mean(
            [
                crossed(scorer.graph, s, setting, depths_of(scorer.graph, name), plan_of_solver)
                for s in scorer.graph.starts
            ]
        )
        assert row.crossed == pytest.approx(mean, abs=1e-12)


def test_a_rule_that_reads_the_solvers_plans_is_noticed(scorer, rows):
    """The planted defect."""
    perfect, setting = with_optimal_plans(scorer.graph), SETTINGS[1]
    row = next(each for each in rows if each.rule == "repetition" and each.under(setting))
    planted = [
        crossed(scorer.graph, s, setting, depths_of(perfect, "repetition"), plan_of_solver) for s in scorer.graph.starts
    ]
    assert row.crossed != pytest.approx(np.mean(planted), abs=1e-9)


def test_both_orders_add_up_to_what_is_missing(scorer, rows):
    assert len(rows) == len(NAMES) * len(SETTINGS)
    for row in rows:
        missing = row.best - row.value
        assert sum(row.plans_first) == pytest.approx(missing, abs=1e-12)
        assert sum(row.depths_first) == pytest.approx(missing, abs=1e-12)
        assert row.plans_lose[0] == pytest.approx((row.plans_first[0] + row.depths_first[1]) / 2)
        assert row.depths_lose[0] == pytest.approx((row.plans_first[1] + row.depths_first[0]) / 2)
        assert row.plans_lose[1] <= row.plans_lose[0] <= row.plans_lose[2]
        setting = next(each for each in SETTINGS if row.under(each))
        assert row.oracle == pytest.approx(scorer.oracle(setting).mean())
