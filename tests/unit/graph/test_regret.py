"""Exact regret against its slow twins on small graphs, where every sequence of depths is tried, and every way that
sampled depths may go."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import regret as slow
from tests.refusals import refused

from recommit.graph.episodes import by_state
from recommit.graph.graph import CommitmentGraph
from recommit.graph.regret import CAUSES, attribute, expected_regret
from recommit.graph.values import OptimalValues, commitments, policy_values
from recommit.prices import Prices

DEPTHS = (1, 2, 4)
BUDGET = 3
PRICES = [Prices(), Prices(0.01), Prices(observation=0.05), Prices(0.02, 0.1), Prices(0.3, 0.5)]


def random_graph(seed, nodes=8):
    """Two goals at most, some states without a plan, some lost for ever; landings prefer the next states."""
    rng = np.random.default_rng(seed)
    near = rng.integers(1, 4, (nodes, len(DEPTHS))) + np.arange(nodes)[:, None]
    landing = np.where(rng.random(near.shape) < 0.6, near % nodes, rng.integers(0, nodes, near.shape))
    goal = np.isin(np.arange(nodes), rng.integers(0, nodes, 2))
    planned = rng.random(nodes) < 0.9
    executed = np.minimum(rng.integers(1, 5, near.shape), DEPTHS)
    distance = np.where(goal, 0, np.where(rng.random(nodes) < 0.25, -1, rng.integers(1, 9, nodes)))
    return CommitmentGraph(DEPTHS, landing, executed, goal, planned, distance)


def plain(graph):
    edges = [
        list(zip(graph.landing[i].tolist(), graph.executed[i].tolist(), strict=True)) if graph.planned[i] else None
        for i in range(len(graph))
    ]
    return SimpleNamespace(depths=graph.depths, edges=edges, goal=graph.goal.tolist(), distance=graph.distance.tolist())


def random_rule(graph, seed, budget=BUDGET):
    return np.array(DEPTHS)[np.random.default_rng(100 + seed).integers(0, len(DEPTHS), (budget, len(graph)))]


def column_of(depths):
    return lambda remaining, node: DEPTHS.index(int(depths[remaining - 1, node]))


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_values_and_regret_equal_every_sequence_tried(seed, prices):
    graph, rates = random_graph(seed), (prices.action, prices.observation)
    twin, depths = plain(graph), random_rule(graph, seed)
    best, columns = OptimalValues.of(graph, BUDGET, prices), np.searchsorted(DEPTHS, depths)
    value = policy_values(graph, BUDGET, columns, prices)
    for remaining in range(BUDGET + 1):
        for node in range(len(graph)):
            assert best.value[remaining, node] == pytest.approx(slow.best(twin, node, remaining, *rates), abs=1e-12)
            assert best.solvable[remaining, node] == slow.hope(twin, node, remaining)
            played = slow.play(twin, node, remaining, column_of(depths), *rates)[0]
            assert value[remaining, node] == pytest.approx(played, abs=1e-12)
            if remaining and not slow.ends(twin, node):
                loss = slow.regret(twin, node, remaining, column_of(depths), *rates)
                assert regrets(best, columns)[remaining, node] == pytest.approx(loss, abs=1e-12)


def regrets(best, columns):
    """[K + 1, N] of a rule's commitments, 0 where nobody chooses."""
    result, rows = np.zeros_like(best.value), best.graph.rows
    for k in range(1, best.budget + 1):
        own = best.q_values(k, rows)[np.arange(len(rows)), columns[k - 1, rows]]
        result[k, rows] = best.value[k, rows] - own
    return result


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_regret_over_visits_is_the_whole_gap(seed, prices):
    graph, starts = random_graph(seed, nodes=60), np.arange(60)
    best, columns = OptimalValues.of(graph, 6, prices), np.searchsorted(DEPTHS, random_rule(graph, seed, 6))
    regret = regrets(best, columns)
    assert (regret >= -1e-12).all()
    gap = best.value[6] - policy_values(graph, 6, columns, prices)[6]
    assert attribute(best, starts, by_state(columns, 6)).total() == pytest.approx(gap, abs=1e-12)
    for some in (starts, starts[:1]):
        visited = sum((mass * regret[k, nodes]).sum() for k, nodes, _, mass in commitments(graph, some, 6, columns))
        assert visited == pytest.approx(gap[some].sum(), abs=1e-11)


def attributed(graph, depths, prices):
    """By start: [(left, node, regret, cause)]."""
    best = OptimalValues.of(graph, BUDGET, prices)
    result = attribute(best, np.arange(len(graph)), by_state(np.searchsorted(DEPTHS, depths), BUDGET))
    rows = [[] for _ in range(len(graph))]
    for start, remaining, node, loss, cause in zip(
        result.start, result.remaining, result.node, result.regret, result.cause, strict=True
    ):
        rows[start].append((int(remaining), int(node), float(loss), None if cause < 0 else CAUSES[cause]))
    return rows


def all_causes(defect=False):
    """Every cause of every commitment on some graphs, and what the twin says of it."""
    pairs = []
    for seed in range(12):
        for prices in PRICES[::2]:
            graph, depths = random_graph(seed), random_rule(random_graph(seed), seed)
            twin, rates = plain(graph), (prices.action, prices.observation)
            for start, row in enumerate(attributed(graph, depths, prices)):
                expected = slow.causes(twin, start, BUDGET, column_of(depths), *rates, defect)
                assert [(k, s) for k, s, _, _ in row] == [(k, s) for k, s, _, _ in expected]
                assert [loss for *_, loss, _ in row] == pytest.approx([loss for *_, loss, _ in expected], abs=1e-12)
                pairs += [(one[3], other[3]) for one, other in zip(row, expected, strict=True)]
    return pairs


def test_causes_equal_their_twin():
    pairs = all_causes()
    assert all(one == other for one, other in pairs)
    assert {one for one, _ in pairs} == {None, *CAUSES}, "each of them occurs"


def test_planted_defects_are_noticed():
    graph, prices = random_graph(2), PRICES[3]
    twin, depths, rates = plain(graph), random_rule(random_graph(2), 2), (prices.action, prices.observation)
    best, nodes = OptimalValues.of(graph, BUDGET, prices), graph.rows.tolist()
    wrong = [slow.best(twin, node, 1, *rates, defect=True) for node in nodes]
    assert best.value[1, nodes] != pytest.approx(wrong, abs=1e-6)
    wrong = [slow.regret(twin, node, BUDGET, column_of(depths), *rates, defect=True) for node in nodes]
    assert regrets(best, np.searchsorted(DEPTHS, depths))[BUDGET, nodes] != pytest.approx(wrong, abs=1e-6)
    assert any(one != other for one, other in all_causes(defect=True))


def random_probs(graph, seed):
    """A third of the depths is never sampled."""
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
        *ends, causes = slow.expected(twin, start, BUDGET, probs, prices.action, prices.observation, defect)
        if not np.allclose(
            [*(column[start] for column in own.played.ends), own.played.total()[start]], ends, atol=1e-12
        ):
            return False
        lost += [causes.get(name, 0.0) for name in CAUSES]
    return np.allclose(np.bincount(own.played.cause, own.played.regret, len(CAUSES)), lost, atol=1e-11)


class Case:
    """A random graph with probabilities, and what is expected there."""

    def __init__(self, seed, prices):
        graph = random_graph(seed)
        self.best, self.probs = OptimalValues.of(graph, BUDGET, prices), random_probs(graph, seed)
        self.played = expected_regret(self.best, np.arange(len(graph)), self.probs)


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_everything_equals_every_way_with_its_probability(seed, prices):
    assert close(Case(seed, prices), prices)


@pytest.mark.parametrize("defect", ["likeliest", "even", "path"])
def test_planted_defects_of_expectations_are_noticed(defect):
    assert not all(close(Case(seed, PRICES[3]), PRICES[3], defect) for seed in range(4))


def test_what_are_no_probabilities():
    graph = random_graph(0)
    best = OptimalValues.of(graph, 2)
    of = lambda depths: lambda: expected_regret(best, np.arange(8), np.full((8, depths), 0.5))
    refused([(of(2), "probs: expected shape [8, 3], got [8, 2]"), (of(3), "probs")])
