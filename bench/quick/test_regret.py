"""States per second through the exact program of regret, beside one gather of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.answers import group

from recommit.graph.episodes import by_state
from recommit.graph.graph import CommitmentGraph
from recommit.graph.regret import attribute
from recommit.graph.values import OptimalValues, optimal_values, policy_values
from recommit.prices import Prices

if TYPE_CHECKING:
    from bench.conftest import Timed

pytestmark = group("regret")
#: As many states as boards of 3x3, and as many looks as the loose budget.
STATES, BUDGET, PRICES = 181_440, 15, Prices(0.01, 0.02)


@pytest.fixture(scope="module")
def graph() -> CommitmentGraph:
    """Landings at random, which are harder on caches than those of boards."""
    rng = np.random.default_rng(0)
    depths = tuple(range(1, 9))
    landing = rng.integers(0, STATES, (STATES, 8)).astype(np.int32)
    executed = np.broadcast_to(np.array(depths, np.int8), (STATES, 8))
    distance = rng.integers(0, 31, STATES)
    return CommitmentGraph(depths, landing, executed, distance == 0, np.ones(STATES, bool), distance)


@pytest.fixture(scope="module")
def depths() -> np.ndarray:
    return np.random.default_rng(1).integers(1, 9, STATES)


def test_one_gather(timed: Timed, graph: CommitmentGraph) -> None:
    values, there = np.arange(STATES, dtype=np.float64), graph.landing[:, 0].astype(np.intp)
    assert np.array_equal(timed(lambda: values.take(there), STATES, yardstick=True), there)


def test_best_values(timed: Timed, graph: CommitmentGraph) -> None:
    """Values of every state and number of looks left."""
    value = timed(lambda: OptimalValues.of(graph, BUDGET, PRICES).value[-1], STATES)
    best = OptimalValues.of(graph, BUDGET, PRICES)
    assert np.allclose(value[graph.rows], best.q_values(BUDGET, graph.rows).max(axis=1), atol=1e-12)


def test_best_values_at_16_prices(timed: Timed, graph: CommitmentGraph) -> None:
    """All at once, with all looks."""
    prices = [Prices(0.01, 0.01 * 2 ** (i / 2 - 4)) for i in range(16)]
    value = timed(lambda: optimal_values(graph, BUDGET, prices, last=True), STATES)
    for i in (0, 15):
        assert np.allclose(value[:, i], OptimalValues.of(graph, BUDGET, prices[i]).value[-1], atol=1e-12)


def test_values_of_a_rule(timed: Timed, graph: CommitmentGraph, depths: np.ndarray) -> None:
    columns = np.searchsorted(graph.depths, depths)
    value = timed(lambda: policy_values(graph, BUDGET, columns, PRICES)[-1], STATES)
    best = OptimalValues.of(graph, BUDGET, PRICES)
    total = attribute(best, np.arange(1000), by_state(columns)).total()
    assert np.allclose(best.value[-1, :1000] - value[:1000], total, atol=1e-12)


def test_causes_of_regret(timed: Timed, graph: CommitmentGraph, depths: np.ndarray) -> None:
    """Causes of every commitment of 8,192 episodes."""
    best, starts = OptimalValues.of(graph, BUDGET, PRICES), np.arange(8192)
    columns = np.searchsorted(graph.depths, depths)
    total = timed(lambda: attribute(best, starts, by_state(columns)).total(), len(starts))
    value = policy_values(graph, BUDGET, columns, PRICES)[-1]
    assert np.allclose(total, best.value[-1, starts] - value[starts], atol=1e-12)
