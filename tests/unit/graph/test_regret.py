"""Exact regret against its slow twin on small graphs, where every sequence of depths is tried."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import regret as slow

from recommit.graph import attribution, regret
from recommit.graph.commitments import Commitments, Prices

DEPTHS = (1, 2, 4)
BUDGET = 3
PRICES = [Prices(), Prices(0.01), Prices(look=0.05), Prices(0.02, 0.1), Prices(0.3, 0.5)]


def random_graph(seed, nodes=8):
    """Two goals at most, some states without a plan, some lost for ever; landings prefer the next states."""
    rng = np.random.default_rng(seed)
    near = rng.integers(1, 4, (nodes, len(DEPTHS))) + np.arange(nodes)[:, None]
    landing = np.where(rng.random(near.shape) < 0.6, near % nodes, rng.integers(0, nodes, near.shape))
    goal = np.isin(np.arange(nodes), rng.integers(0, nodes, 2))
    planned = rng.random(nodes) < 0.9
    executed = np.minimum(rng.integers(1, 5, near.shape), DEPTHS)
    distance = np.where(goal, 0, np.where(rng.random(nodes) < 0.25, -1, rng.integers(1, 9, nodes)))
    return Commitments(DEPTHS, landing, executed, goal, planned, distance)


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
    graph, rates = random_graph(seed), (prices.action, prices.look)
    twin, depths = plain(graph), random_rule(graph, seed)
    best = regret.best(graph, BUDGET, prices)
    rule = regret.follow(best, depths)
    for remaining in range(BUDGET + 1):
        for node in range(len(graph)):
            assert best.value[remaining, node] == pytest.approx(slow.best(twin, node, remaining, *rates), abs=1e-12)
            assert best.hope[remaining, node] == slow.hope(twin, node, remaining)
            played = slow.play(twin, node, remaining, column_of(depths), *rates)[0]
            assert rule.value[remaining, node] == pytest.approx(played, abs=1e-12)
            if remaining and not slow.ends(twin, node):
                loss = slow.regret(twin, node, remaining, column_of(depths), *rates)
                assert rule.regret[remaining, node] == pytest.approx(loss, abs=1e-12)
            else:
                assert rule.regret[remaining, node] == 0


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_regret_over_visits_is_the_whole_gap(seed, prices):
    graph = random_graph(seed, nodes=60)
    best = regret.best(graph, 6, prices)
    rule = regret.follow(best, random_rule(graph, seed, 6))
    assert (rule.regret >= -1e-12).all()
    starts = np.arange(len(graph))
    gap = best.value[6, starts] - rule.value[6, starts]
    assert attributed_by(rule, starts).total() == pytest.approx(gap, abs=1e-12)
    assert (attribution.visits(rule, starts) * rule.regret).sum() == pytest.approx(gap.sum(), abs=1e-11)
    assert abs(attribution.visits(rule, starts[:1]) * rule.regret).sum() == pytest.approx(gap[0], abs=1e-12)


def attributed_by(rule, starts):
    return attribution.attribute(rule.best, starts, attribution.by_state(rule))


def attributed(graph, depths, prices):
    """By start: [(left, node, regret, cause)]."""
    result = attributed_by(regret.follow(regret.best(graph, BUDGET, prices), depths), np.arange(len(graph)))
    rows = [[] for _ in range(len(graph))]
    for start, remaining, node, loss, cause in zip(
        result.start, result.remaining, result.node, result.regret, result.cause, strict=True
    ):
        rows[start].append((int(remaining), int(node), float(loss), None if cause < 0 else attribution.CAUSES[cause]))
    return rows


def all_causes(defect=False):
    """Every cause of every commitment on some graphs, and what the twin says of it."""
    pairs = []
    for seed in range(12):
        for prices in PRICES[::2]:
            graph, depths = random_graph(seed), random_rule(random_graph(seed), seed)
            twin, rates = plain(graph), (prices.action, prices.look)
            for start, row in enumerate(attributed(graph, depths, prices)):
                expected = slow.causes(twin, start, BUDGET, column_of(depths), *rates, defect)
                assert [(k, s) for k, s, _, _ in row] == [(k, s) for k, s, _, _ in expected]
                assert [loss for *_, loss, _ in row] == pytest.approx([loss for *_, loss, _ in expected], abs=1e-12)
                pairs += [(one[3], other[3]) for one, other in zip(row, expected, strict=True)]
    return pairs


def test_causes_equal_their_twin():
    pairs = all_causes()
    assert all(one == other for one, other in pairs)
    assert {one for one, _ in pairs} == {None, *attribution.CAUSES}, "each of them occurs"


def test_shares_add_up():
    graph = random_graph(1, 60)
    best = regret.best(graph, 4, Prices(0.01, 0.05))
    result = attributed_by(regret.follow(best, random_rule(graph, 1, 4)), np.arange(60))
    assert sum(result.shares().values()) == pytest.approx(1.0)
    assert set(result.shares()) == set(attribution.CAUSES)
    perfect = np.array(DEPTHS)[
        [[best.q_values(k, np.array([i])).argmax() if graph.planned[i] else 0 for i in range(60)] for k in range(1, 5)]
    ]
    nothing = attributed_by(regret.follow(best, perfect), np.arange(60))
    assert set(nothing.shares().values()) == {0.0}
    assert nothing.total() == pytest.approx(0.0, abs=1e-12)


def test_no_starts_have_no_regret():
    result = attributed_by(regret.follow(regret.best(random_graph(0), 2), np.ones(8, int)), np.zeros(0, int))
    assert result.total().shape == (0,)
    assert set(result.shares().values()) == {0.0}


def test_a_rule_may_ignore_the_looks_left():
    graph = random_graph(3)
    best, depths = regret.best(graph, BUDGET), random_rule(random_graph(3), 3)[0]
    every = regret.follow(best, np.tile(depths, (BUDGET, 1)))
    assert (regret.follow(best, depths).value == every.value).all()


def test_fewer_depths_are_worth_no_more():
    graph = random_graph(5, 60)
    whole = regret.best(graph, 5, Prices(0.01, 0.02))
    part = regret.best(graph.only((1, 4)), 5, Prices(0.01, 0.02))
    assert (part.value <= whole.value + 1e-12).all()
    assert (part.value < whole.value - 1e-6).any()
    depths = np.full(60, 4)
    on_part, on_whole = (regret.follow(best, depths).value for best in (part, whole))
    assert (on_part == on_whole).all()


@pytest.mark.parametrize("prices", PRICES, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_costs_without_a_budget_are_shortest_paths(seed, prices):
    graph, rates = random_graph(seed, 12), (prices.action, prices.look)
    twin, depths = plain(graph), random_rule(random_graph(seed, 12), seed, 1)[0]
    cheapest = regret.costs(graph, prices)
    assert cheapest.tolist() == pytest.approx(slow.cheapest(twin, *rates), abs=1e-12)
    columns = [DEPTHS.index(int(depth)) for depth in depths]
    own = regret.rule_costs(graph, prices, depths)
    assert own.tolist() == pytest.approx([slow.rule_cost(twin, i, columns, *rates) for i in range(12)], abs=1e-12)
    loss = regret.cost_regret(graph, prices, depths)
    assert (loss >= -1e-12).all()
    for node in np.flatnonzero(np.isfinite(own)):
        total, here = 0.0, node
        while not graph.goal[here]:
            total += loss[here]
            here = graph.landing[here, columns[here]]
        assert total == pytest.approx(own[node] - cheapest[node], abs=1e-12)


def test_rounds_cost_infinity():
    landing = np.array([[1, 2], [0, 2], [2, 2]])
    graph = Commitments(
        (1, 2), landing, np.array([[1, 2]] * 3), np.array([False, False, True]), np.ones(3, bool), np.array([2, 1, 0])
    )
    assert regret.rule_costs(graph, Prices(1, 1), np.array([1, 1, 1])).tolist() == [np.inf, np.inf, 0]
    assert regret.rule_costs(graph, Prices(1, 1), np.array([1, 2, 1])).tolist() == [5, 3, 0]
    assert regret.costs(graph, Prices(1, 1)).tolist() == [3, 3, 0]
    assert regret.cost_regret(graph, Prices(1, 1), np.array([1, 2, 1])).tolist() == [2, 0, 0]


@pytest.mark.parametrize("depths", [(1, 2), (2,), (1, 3)])
@pytest.mark.parametrize("prices", PRICES, ids=str)
def test_optimal_values_equal_every_sequence_of_actions_on_a_line(prices, depths):
    distance = np.array([-1, 0, 1, 2, 3, 4, 5, 6])
    values = regret.optimal_values(distance, depths, 3, prices)
    for remaining in range(4):
        for place, value in zip(distance, values[remaining], strict=True):
            exact = slow.optimal(int(place), remaining, depths, prices.action, prices.look, farthest=6)
            assert value == pytest.approx(exact, abs=1e-12), (remaining, place)


def test_plans_and_depths_share_the_gap_in_both_orders():
    parts = regret.split(np.array([1.0, 1.0]), np.array([0.9, 0.7]), np.array([0.8, 0.8]), np.array([0.5, 0.7]))
    assert parts.of_plans == pytest.approx((0.2, 0.2))
    assert parts.of_depths == pytest.approx((0.2, 0.2))
    uneven = regret.split(np.array([1.0]), np.array([0.9]), np.array([0.6]), np.array([0.4]))
    assert uneven.of_plans == pytest.approx((0.1, 0.2))
    assert uneven.of_depths == pytest.approx((0.5, 0.4))
    assert uneven.mean == pytest.approx((0.15, 0.45))
    assert sum(uneven.mean) == pytest.approx(0.6)


def test_gain_shares_of_the_published_results():
    assert regret.gain_share(96.6, 85.1, 100.0) == pytest.approx(0.77, abs=0.005)
    assert regret.gain_share(69.4, 68.9, 86.9) == pytest.approx(0.03, abs=0.005)
    assert np.isnan(regret.gain_share(1.0, 1.0, 1.0))


def test_planted_defects_are_noticed():
    graph, prices = random_graph(2), PRICES[3]
    twin, depths, rates = plain(graph), random_rule(random_graph(2), 2), (prices.action, prices.look)
    best = regret.best(graph, BUDGET, prices)
    rule = regret.follow(best, depths)
    nodes = graph.rows.tolist()
    wrong = [slow.best(twin, node, 1, *rates, defect=True) for node in nodes]
    assert best.value[1, nodes] != pytest.approx(wrong, abs=1e-6)
    wrong = [slow.regret(twin, node, BUDGET, column_of(depths), *rates, defect=True) for node in nodes]
    assert rule.regret[BUDGET, nodes] != pytest.approx(wrong, abs=1e-6)
    assert regret.costs(graph, prices) != pytest.approx(slow.cheapest(twin, *rates, defect=True), abs=1e-6)
    columns = [DEPTHS.index(int(depth)) for depth in depths[0]]
    wrong = [slow.rule_cost(twin, i, columns, *rates, defect=True) for i in range(len(graph))]
    assert regret.rule_costs(graph, prices, depths[0]) != pytest.approx(wrong, abs=1e-6)
    assert any(one != other for one, other in all_causes(defect=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"landing": np.zeros((3, 2), int)}, r"landing: expected shape \[3, 3\], got \[3, 2\]"),
        ({"landing": np.full((3, 3), 3)}, r"landing: expected rows in 0..2, got 3 at \[0, 0\]"),
        ({"executed": np.full((3, 3), 9)}, r"executed: expected counts in 0..4, got 9 at \[0, 0\]"),
        ({"planned": np.ones(2, bool)}, r"planned: expected shape \[3\], got \[2\]"),
        ({"distance": np.zeros(4, int)}, r"distance: expected shape \[3\], got \[4\]"),
    ],
)
def test_arrays_that_make_no_graph_are_refused(change, message):
    arrays = {
        "landing": np.zeros((3, 3), int),
        "executed": np.ones((3, 3), int),
        "goal": np.zeros(3, bool),
        "planned": np.ones(3, bool),
        "distance": np.ones(3, int),
    }
    with pytest.raises(ValueError, match=message):
        Commitments(DEPTHS, **{**arrays, **change})


def test_depths_that_the_graph_does_not_have_are_refused():
    graph = random_graph(0)
    with pytest.raises(ValueError, match=r"depths: expected those of the graph, \(1, 2, 4\), got 3"):
        regret.follow(regret.best(graph, 2), np.full(8, 3))
    with pytest.raises(ValueError, match=r"depths: expected shape \[8\] or \[2, 8\], got \[3, 8\]"):
        regret.follow(regret.best(graph, 2), np.ones((3, 8), int))
    with pytest.raises(ValueError, match=r"depths: expected some of \(1, 2, 4\), got 8"):
        graph.only((1, 8))
    with pytest.raises(ValueError, match="look: expected a number of at least 0, got -1"):
        Prices(look=-1)
