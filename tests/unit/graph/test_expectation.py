"""Drawn depths by expectation against plain Python, which goes every way that chance may go."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import expectation as slow
from tests.unit.graph.test_regret import BUDGET, DEPTHS, PRICES, plain, random_graph, random_rule

from recommit.graph import attribution, regret
from recommit.graph.attribution import CAUSES
from recommit.graph.expectation import expect


def random_chance(graph, seed):
    """A third of the depths is never drawn."""
    rng = np.random.default_rng(200 + seed)
    shape = (len(graph), len(DEPTHS))
    weights = rng.random(shape) * (rng.random(shape) > 0.3)
    weights[:, 0] += ~weights.any(axis=1)
    return weights / weights.sum(axis=1, keepdims=True)


def close(own, prices, defect=""):
    """Do all figures of every start equal those of plain Python?"""
    graph = own.best.graph
    twin, probs = plain(graph), own.probs.tolist()
    lost = np.zeros(len(CAUSES))
    for start in range(len(graph)):
        *ends, causes = slow.expected(twin, start, BUDGET, probs, prices.action, prices.look, defect)
        if not np.allclose(own.played.ends[start], ends, atol=1e-12):
            return False
        lost += [causes.get(name, 0.0) for name in CAUSES]
    return np.allclose(own.played.lost.sum(axis=0), lost, atol=1e-11)


class Case:
    """A random graph with chances, and what is expected there."""

    def __init__(self, seed, prices):
        graph = random_graph(seed)
        self.best, self.probs = regret.best(graph, BUDGET, prices), random_chance(graph, seed)
        self.played = expect(self.best, np.arange(len(graph)), self.probs)


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_everything_equals_every_way_with_its_chance(seed, prices):
    assert close(Case(seed, prices), prices)


@pytest.mark.parametrize("defect", ["likeliest", "even", "path"])
def test_planted_defects_are_noticed(defect):
    assert not all(close(Case(seed, PRICES[3]), PRICES[3], defect) for seed in range(4))


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_regret_over_visits_is_the_whole_gap(seed, prices):
    graph, budget = random_graph(seed, nodes=60), 6
    best, starts = regret.best(graph, budget, prices), np.arange(60)
    played = expect(best, starts, random_chance(graph, seed))
    assert played.total() == pytest.approx(best.value[budget] - played.value(graph, prices), abs=1e-12)
    assert played.lost.sum() == pytest.approx(played.total().sum(), abs=1e-11)
    assert played.regret.sum() == pytest.approx(played.lost.sum())
    assert np.array_equal(played.lost[played.node, played.cause], played.regret)
    assert sum(played.shares().values()) == pytest.approx(float(played.lost.sum() > 1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_chances_of_one_are_a_rule_without_chance(seed):
    graph, prices = random_graph(seed, nodes=40), PRICES[3]
    depths = random_rule(graph, seed, 1)[0]
    best, starts = regret.best(graph, 5, prices), np.flatnonzero(graph.planned)
    followed = regret.follow(best, depths)
    played = expect(best, starts, (depths[:, None] == np.array(DEPTHS)).astype(float))
    assert played.value(graph, prices) == pytest.approx(followed.value[5, starts], abs=1e-12)
    plain_rule = attribution.attribute(best, starts, attribution.by_state(followed))
    assert played.total() == pytest.approx(plain_rule.total(), abs=1e-12)


def test_what_are_no_chances_is_refused():
    graph = random_graph(0)
    best = regret.best(graph, 2)
    with pytest.raises(ValueError, match=r"probs: expected shape \[8, 3\], got \[8, 2\]"):
        expect(best, np.arange(8), np.full((8, 2), 0.5))
    with pytest.raises(ValueError, match="probs"):
        expect(best, np.arange(8), np.full((8, 3), 0.5))
