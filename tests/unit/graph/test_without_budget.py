"""Ways to the goal without a budget, against walks in plain Python from every start."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import regret as slow
from tests.unit.graph import cases

from recommit.graph import decomposition
from recommit.graph.score import GraphScorer
from recommit.graph.values import policy_costs, shortest_costs
from recommit.horizon import rule_registry
from recommit.prices import Prices, Setting

PRICES = Prices(0.01, 0.03)
RULES = ("fixed-1", "fixed-3", "fixed-8", "head", "repetition", "confidence-least")


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def scorer(request):
    return GraphScorer(cases.some(request.param, 20, wrong=3), (Setting(4, Prices()),))


@pytest.fixture(scope="module")
def rows(scorer):
    more = ("head+memory", "consecutive", "sampled")
    return decomposition.rule_costs(scorer, [rule_registry.named(name) for name in (*more, *RULES)], PRICES)


def plain(graph):
    """The graph of the slow twins."""
    edges = [
        [(int(graph.landing[i, h]), int(graph.executed[i, h])) for h in range(8)] if graph.planned[i] else None
        for i in range(len(graph))
    ]
    return SimpleNamespace(depths=graph.depths, edges=edges, goal=graph.goal, distance=graph.distance)


def end(graph, node, depths):
    """How the way of a rule ends: at the goal, at a state that nobody can solve, or where it has been."""
    been = set()
    while not graph.goal[node]:
        if graph.distance[node] < 0 or not graph.planned[node]:
            return "lost"
        if node in been:
            return "round"
        been.add(node)
        node = int(graph.landing[node, depths[node] - 1])
    return "goal"


def by_hand(scorer, row):
    """(reached, loops, lost, cost, cheapest) of a row."""
    graph, starts = scorer.graph, scorer.graph.starts.tolist()
    entry = rule_registry.named(row.rule)
    depths = 1 + scorer.rules.columns(entry if row.threshold is None else entry.at(row.threshold))
    ends, twin = [end(graph, start, depths) for start in starts], plain(graph)
    there = [start for start, how in zip(starts, ends, strict=True) if how == "goal"]
    own = [slow.rule_cost(twin, start, depths - 1, PRICES.action, PRICES.observation) for start in there]
    cheapest = slow.cheapest(twin, PRICES.action, PRICES.observation)
    shares = [ends.count(how) / len(ends) for how in ("goal", "round", "lost")]
    return *shares, np.mean(own), np.mean([cheapest[start] for start in there])


def test_rows_equal_plain_python(scorer, rows):
    assert [row.rule for row in rows] == list(RULES), "others have no one way"
    for row in rows:
        got = (row.reached, row.loops, row.lost, row.cost, row.cheapest)
        assert got == pytest.approx(by_hand(scorer, row), abs=1e-12)
        assert row.more[0] == pytest.approx(row.cost - row.cheapest, abs=1e-12)
    assert any(row.loops for row in rows)
    assert any(row.lost for row in rows) == (scorer.graph.task == "sokoban")


def test_a_round_that_costs_what_it_did_so_far_is_noticed(scorer, rows, monkeypatch):
    """The planted defect: loops end, and are counted as ways to the goal."""

    def defective(graph, prices, columns):
        cost, cheapest = policy_costs(graph, prices, columns), shortest_costs(graph, prices)
        return np.where(np.isinf(cost) & np.isfinite(cheapest), 1.0, cost)

    monkeypatch.setattr(decomposition, "policy_costs", defective)
    wrong = decomposition.rule_costs(scorer, [rule_registry.named(name) for name in RULES], PRICES)
    assert [row.reached for row in wrong] != [row.reached for row in rows]


def test_the_threshold_reaches_most_and_then_costs_least(scorer, rows):
    entry, starts = rule_registry.named("confidence-least"), scorer.graph.starts
    ends = []
    for threshold in scorer.thresholds(entry).tolist():
        cost = policy_costs(scorer.graph, PRICES, scorer.rules.columns(entry.at(threshold)))[starts]
        some = cost[np.isfinite(cost)]
        ends.append((-len(some), some.mean() if len(some) else 0.0, threshold))
    assert rows[-1].threshold == min(ends)[2]
