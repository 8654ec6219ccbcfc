"""Exact regret against its slow twins on small graphs, where every sequence of depths is tried, and every way that
sampled depths may go."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import expectation as slow_expectation
from tests.reference import regret as slow

from recommit.graph.episodes import by_state
from recommit.graph.graph import CommitmentGraph
from recommit.graph.regret import CAUSES, attribute, expected_regret
from recommit.graph.values import OptimalValues, commitments, optimal_values, policy_values
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
    best, columns = OptimalValues.of(graph, BUDGET, prices), graph.columns(depths, BUDGET)
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
@pytest.mark.parametrize("seed", range(20))
def test_regret_over_visits_is_the_whole_gap(seed, prices):
    graph, starts = random_graph(seed, nodes=60), np.arange(60)
    best, columns = OptimalValues.of(graph, 6, prices), graph.columns(random_rule(graph, seed, 6), 6)
    regret = regrets(best, columns)
    assert (regret >= -1e-12).all()
    gap = best.value[6] - policy_values(graph, 6, columns, prices)[6]
    assert attribute(best, starts, by_state(columns, 6)).total() == pytest.approx(gap, abs=1e-12)
    for some in (starts, starts[:1]):
        visited = sum((mass * regret[k, nodes]).sum() for k, nodes, _, mass in commitments(graph, some, 6, columns))
        assert visited == pytest.approx(gap[some].sum(), abs=1e-11)


def test_several_prices_are_evaluated_at_once():
    graph = random_graph(4, 60)
    every = optimal_values(graph, 5, PRICES)
    for i, prices in enumerate(PRICES):
        assert np.array_equal(every[:, :, i], optimal_values(graph, 5, prices))
    assert np.array_equal(every[-1], optimal_values(graph, 5, PRICES, last=True))


def attributed(graph, depths, prices):
    """By start: [(left, node, regret, cause)]."""
    best = OptimalValues.of(graph, BUDGET, prices)
    result = attribute(best, np.arange(len(graph)), by_state(graph.columns(depths, BUDGET), BUDGET))
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


def test_shares_add_up():
    graph, starts = random_graph(1, 60), np.arange(60)
    best = OptimalValues.of(graph, 4, Prices(0.01, 0.05))
    result = attribute(best, starts, by_state(graph.columns(random_rule(graph, 1, 4), 4), 4))
    assert sum(result.shares().values()) == pytest.approx(1.0)
    assert set(result.shares()) == set(CAUSES)
    perfect = [
        [best.q_values(k, np.array([i])).argmax() if graph.planned[i] else 0 for i in range(60)] for k in range(1, 5)
    ]
    nothing = attribute(best, starts, by_state(np.array(perfect), 4))
    assert set(nothing.shares().values()) == {0.0}
    assert nothing.total() == pytest.approx(0.0, abs=1e-12)


def test_no_starts_have_no_regret():
    result = attribute(OptimalValues.of(random_graph(0), 2), np.zeros(0, int), by_state(np.zeros(8, int)))
    assert result.total().shape == (0,)
    assert set(result.shares().values()) == {0.0}


def test_a_rule_may_ignore_what_remains():
    graph, columns = random_graph(3), random_graph(3).columns(random_rule(random_graph(3), 3)[0])
    every = policy_values(graph, BUDGET, np.tile(columns, (BUDGET, 1)), PRICES[1])
    certain = (columns[:, None] == np.arange(len(DEPTHS))).astype(float)
    assert (policy_values(graph, BUDGET, columns, PRICES[1]) == every).all()
    assert (policy_values(graph, BUDGET, certain, PRICES[1]) == every).all()


def test_fewer_depths_are_worth_no_more():
    graph, prices = random_graph(5, 60), Prices(0.01, 0.02)
    whole, part = (optimal_values(each, 5, prices) for each in (graph, graph.only((1, 4))))
    assert (part <= whole + 1e-12).all()
    assert (part < whole - 1e-6).any()
    on_part, on_whole = (
        policy_values(each, 5, each.columns(np.full(60, 4)), prices) for each in (graph.only((1, 4)), graph)
    )
    assert (on_part == on_whole).all()


def test_planted_defects_are_noticed():
    graph, prices = random_graph(2), PRICES[3]
    twin, depths, rates = plain(graph), random_rule(random_graph(2), 2), (prices.action, prices.observation)
    best, nodes = OptimalValues.of(graph, BUDGET, prices), graph.rows.tolist()
    wrong = [slow.best(twin, node, 1, *rates, defect=True) for node in nodes]
    assert best.value[1, nodes] != pytest.approx(wrong, abs=1e-6)
    wrong = [slow.regret(twin, node, BUDGET, column_of(depths), *rates, defect=True) for node in nodes]
    assert regrets(best, graph.columns(depths, BUDGET))[BUDGET, nodes] != pytest.approx(wrong, abs=1e-6)
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
        *ends, causes = slow_expectation.expected(twin, start, BUDGET, probs, prices.action, prices.observation, defect)
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


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_expected_regret_is_the_whole_gap(seed, prices):
    graph, budget = random_graph(seed, nodes=60), 6
    best, starts = OptimalValues.of(graph, budget, prices), np.arange(60)
    played = expected_regret(best, starts, random_probs(graph, seed))
    assert played.total() == pytest.approx(best.value[budget] - prices.returns(*played.outcome()), abs=1e-12)
    assert played.regret.sum() == pytest.approx(played.total().sum(), abs=1e-11)
    assert sum(played.shares().values()) == pytest.approx(float(played.regret.sum() > 1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_probabilities_of_one_are_a_fixed_rule(seed):
    graph, prices = random_graph(seed, nodes=40), PRICES[3]
    depths = random_rule(graph, seed, 1)[0]
    best, starts = OptimalValues.of(graph, 5, prices), np.flatnonzero(graph.planned)
    columns = graph.columns(depths)
    played = expected_regret(best, starts, (depths[:, None] == np.array(DEPTHS)).astype(float))
    assert prices.returns(*played.outcome()) == pytest.approx(
        policy_values(graph, 5, columns, prices)[5, starts], abs=1e-12
    )
    plain_rule = attribute(best, starts, by_state(columns))
    assert played.total() == pytest.approx(plain_rule.total(), abs=1e-12)


def test_what_are_no_probabilities_is_refused():
    graph = random_graph(0)
    best = OptimalValues.of(graph, 2)
    with pytest.raises(ValueError, match=r"probs: expected shape \[8, 3\], got \[8, 2\]"):
        expected_regret(best, np.arange(8), np.full((8, 2), 0.5))
    with pytest.raises(ValueError, match="probs"):
        expected_regret(best, np.arange(8), np.full((8, 3), 0.5))
