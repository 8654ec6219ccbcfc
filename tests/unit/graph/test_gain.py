"""Gain share over all prices of an observation against plain Python, with oracles that try every sequence of depths."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import metrics as slow
from tests.reference import regret as tried
from tests.unit.graph import cases
from tests.unit.graph.test_score import episode, head_rule

from recommit.graph.graph import ALL_DEPTHS
from recommit.graph.score import GraphScorer, mean_gains
from recommit.horizon import rule_registry
from recommit.prices import RATIOS, Prices, Setting

BUDGET, ACTION = 2, 0.02


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def scorer(request):
    return GraphScorer(cases.some(request.param, 12, wrong=3), ())


def board(graph):
    """For the reference, with all eight depths."""
    executed = graph.executed.tolist()
    edges = [list(zip(*row, strict=True)) for row in zip(graph.landing.tolist(), executed, strict=True)]
    ends = [row if planned else None for row, planned in zip(edges, graph.planned.tolist(), strict=True)]
    distance = graph.distance.tolist()
    return SimpleNamespace(depths=ALL_DEPTHS, edges=ends, goal=graph.goal.tolist(), distance=distance)


@pytest.fixture(scope="module")
def by_hand(scorer):
    """Outcomes of the fixed depths and of the head, and the oracle at every price."""
    graph, slow_graph = scorer.graph, board(scorer.graph)
    fixed = [[episode(graph, s, BUDGET, lambda *_, h=h: h) for s in graph.starts] for h in range(1, 9)]
    own = [episode(graph, start, BUDGET, head_rule(graph)) for start in graph.starts]
    oracles = [
        [tried.best(slow_graph, start, BUDGET, ACTION, ACTION * ratio) for start in graph.starts.tolist()]
        for ratio in RATIOS
    ]
    return [*fixed, own], oracles


def test_the_mean_equals_plain_python(scorer, by_hand):
    outcomes, oracles = by_hand
    (row,) = mean_gains(scorer, [rule_registry.named("head")], BUDGET, ACTION)
    oracle = priced(scorer)
    np.testing.assert_allclose([oracle.oracle(each) for each in oracle.settings], oracles, atol=1e-12)
    assert row.gain == pytest.approx(slow.over_prices(outcomes, oracles, ACTION, RATIOS))
    assert row.gain_low < row.gain < row.gain_high
    assert row.gain != pytest.approx(slow.over_prices(outcomes, oracles, ACTION, RATIOS, defect=True))


def priced(scorer):
    """At every price of the range."""
    return GraphScorer(scorer.graph, tuple(Setting(BUDGET, Prices(ACTION, ACTION * ratio)) for ratio in RATIOS))


def test_one_threshold_serves_all_prices(scorer):
    entry, other = rule_registry.named("confidence-product"), GraphScorer(cases.some(scorer.graph.task, 7, wrong=2), ())
    (row,) = mean_gains(scorer, [entry], BUDGET, ACTION, other)
    there, every = priced(other), other.thresholds(entry).tolist()
    means = {v: np.mean(list(there.values(entry.at(v)).values())) for v in every}
    assert means[row.threshold] == pytest.approx(max(means.values()), abs=1e-15)
