"""Two programs of the same definitions, this one and that of ``recommit.graphs``, say the same of a rule without
training."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.graphs import cases

from recommit import horizon
from recommit.graphs import regret as other
from recommit.graphs import values, walks
from recommit.play import regret
from recommit.play.commitments import Commitments, Prices

DEPTHS, BUDGET = tuple(range(1, 9)), 6


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def graph(request):
    return cases.some(request.param, 20)


@pytest.mark.parametrize("prices", [Prices(), Prices(0.01, 0.03), Prices(0.02, 0.2)], ids=str)
def test_values_regret_costs_and_ceilings_are_the_same(graph, prices):
    arrays = Commitments(
        DEPTHS, graph.landing, graph.executed(list(range(8))), graph.goal, graph.looked, graph.distance
    )
    depths = horizon.Confidence(0.05).choose(horizon.Plans(graph.plans, graph.probabilities))
    assert len(set(depths.tolist())) > 1
    price = values.Price(prices.action, prices.look)

    value, best = values.best(graph, BUDGET, (price,))[:, :, 0], regret.best(arrays, BUDGET, prices)
    assert best.value == pytest.approx(value, abs=1e-12)
    episodes, rule = walks.walk(graph, BUDGET, walks.table(depths)), regret.follow(best, depths)
    assert rule.value[BUDGET][graph.starts] == pytest.approx(episodes.value(price), abs=1e-12)
    own = regret.attribute(rule, graph.starts)
    lost = other.regret(graph, episodes, value, price).per_start()
    assert own.total(len(graph.starts)) == pytest.approx(lost, abs=1e-12)
    assert lost.max() > 0

    costs = values.cost_to_goal(graph, (price,))[:, 0]
    assert regret.costs(arrays, prices).tolist() == pytest.approx(costs.tolist(), abs=1e-12)
    optimal = other.perfect(graph.distance, BUDGET, price)
    assert regret.optimal_values(graph.distance, DEPTHS, BUDGET, prices)[BUDGET] == pytest.approx(optimal, abs=1e-12)
    assert np.isfinite(costs).any()
