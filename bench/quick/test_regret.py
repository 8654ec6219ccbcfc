"""States per second through the exact program of regret, beside one gather of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.answers import group

from recommit.graph import attribution, ceiling_values, regret
from recommit.graph.prices import Prices

if TYPE_CHECKING:
    from bench.conftest import Timed

pytestmark = group("regret")
#: As many states as boards of 3x3, and as many looks as the loose budget.
STATES, BUDGET, PRICES = 181_440, 15, Prices(0.01, 0.02)


@pytest.fixture(scope="module")
def graph() -> Commitments:
    """Landings at random, which are harder on caches than those of boards."""
    rng = np.random.default_rng(0)
    depths = tuple(range(1, 9))
    landing = rng.integers(0, STATES, (STATES, 8)).astype(np.int32)
    executed = np.broadcast_to(np.array(depths, np.int8), (STATES, 8))
    distance = rng.integers(0, 31, STATES)
    return Commitments(depths, landing, executed, distance == 0, np.ones(STATES, bool), distance)


@pytest.fixture(scope="module")
def depths() -> np.ndarray:
    return np.random.default_rng(1).integers(1, 9, STATES)


def test_one_gather(timed: Timed, graph: Commitments) -> None:
    values, there = np.arange(STATES, dtype=np.float64), graph.landing[:, 0].astype(np.intp)
    assert np.array_equal(timed(lambda: values.take(there), STATES, yardstick=True), there)


def test_best_values(timed: Timed, graph: Commitments) -> None:
    """Values of every state and number of looks left."""
    value = timed(lambda: regret.best(graph, BUDGET, PRICES).value[-1], STATES)
    best = regret.best(graph, BUDGET, PRICES)
    assert np.allclose(value[graph.rows], best.q_values(BUDGET, graph.rows).max(axis=1), atol=1e-12)


def test_best_values_at_16_prices(timed: Timed, graph: Commitments) -> None:
    """All at once, with all looks."""
    prices = [Prices(0.01, 0.01 * 2 ** (i / 2 - 4)) for i in range(16)]
    value = timed(lambda: ceiling_values.with_all_looks(graph, BUDGET, prices), STATES)
    for i in (0, 15):
        assert np.allclose(value[:, i], regret.best(graph, BUDGET, prices[i]).value[-1], atol=1e-12)


def test_values_and_regret_of_a_rule(timed: Timed, graph: Commitments, depths: np.ndarray) -> None:
    best = regret.best(graph, BUDGET, PRICES)
    value = timed(lambda: regret.follow(best, depths).value[-1], STATES)
    rule = regret.follow(best, depths)
    total = attribution.attribute(best, np.arange(1000), attribution.by_state(rule)).total()
    assert np.allclose(best.value[-1, :1000] - value[:1000], total, atol=1e-12)


def test_causes_of_regret(timed: Timed, graph: Commitments, depths: np.ndarray) -> None:
    """Causes of every commitment of 8,192 episodes."""
    rule = regret.follow(regret.best(graph, BUDGET, PRICES), depths)
    starts = np.arange(8192)
    total = timed(lambda: attribution.attribute(rule.best, starts, attribution.by_state(rule)).total(), len(starts))
    assert np.allclose(total, rule.best.value[-1, starts] - rule.value[-1, starts], atol=1e-12)


def test_costs_without_a_budget(timed: Timed, graph: Commitments) -> None:
    cost = timed(lambda: regret.costs(graph, PRICES), STATES)
    onward = PRICES.cost(graph) + cost[graph.landing[graph.rows]]
    assert np.allclose(cost[graph.rows], onward.min(axis=1))
