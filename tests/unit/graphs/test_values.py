"""Values, walks and regret in commitment graphs, against trying every sequence of depths in plain Python."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.reference import graphs as slow
from tests.unit.graphs import cases

from recommit.graphs import optimal, values, walks
from recommit.graphs import regret as regrets
from recommit.graphs.share import gain_share
from recommit.graphs.values import Price

PRICES = [Price(), Price(0.01, 0.02), Price(0.03, 0.0), Price(0.0, 0.1)]
DEPTHS = (1, 2, 4, 8)


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def graph(request):
    return cases.some(request.param)


@pytest.fixture(scope="module")
def edges(graph):
    task = cases.TASKS[graph.task]
    return slow.explore(task, graph.states[graph.starts], lambda state: cases.plan_of(task, state))


def rule(graph, seed=0):
    return np.random.default_rng(seed).integers(1, 9, len(graph))


def test_the_graph_is_that_of_the_definitions(graph, edges):
    assert graph.closed
    assert {graph.states[i].tobytes() for i in np.flatnonzero(graph.looked)} == set(edges)
    executed, solved = graph.executed(range(8)), graph.solved(range(8))
    for i in np.flatnonzero(graph.looked):
        for depth, (after, actions, arrived) in edges[graph.states[i].tobytes()].items():
            assert graph.states[graph.landing[i, depth - 1]].tobytes() == after
            assert (executed[i, depth - 1], solved[i, depth - 1]) == (actions, arrived)


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_the_best_value_is_that_of_the_best_sequence_of_depths(graph, edges, budget):
    value = values.best(graph, budget, PRICES, DEPTHS)
    for node in graph.starts:
        for place, price in enumerate(PRICES):
            expected = slow.best(edges, graph.states[node].tobytes(), budget, DEPTHS, price.action, price.look)
            assert value[budget, node, place] == pytest.approx(expected, abs=1e-12)


def test_the_cost_to_the_goal_is_a_shortest_path(graph, edges):
    prices = [Price(1.0, 0.5), Price(1.0, 4.0), Price(0.0, 1.0)]
    cost = values.cost_to_goal(graph, prices, DEPTHS)
    for node in graph.starts[:4]:
        for place, price in enumerate(prices):
            expected = slow.cost(edges, graph.states[node].tobytes(), DEPTHS, price.action, price.look)
            assert cost[node, place] == pytest.approx(expected, abs=1e-12)
    assert np.isinf(cost[graph.distance < 0]).all()


@pytest.mark.parametrize("price", PRICES)
def test_what_commitments_give_away_adds_up(graph, price):
    budget = 5
    value = values.best(graph, budget, [price])[:, :, 0]
    for seed in range(5):
        episodes = walks.walk(graph, budget, walks.table(rule(graph, seed)))
        given_away = regrets.regret(graph, episodes, value, price)
        missing = value[budget, graph.starts] - episodes.value(price)
        np.testing.assert_allclose(given_away.per_start(), missing, atol=1e-12)
        assert given_away.lost.min(initial=0.0) >= -1e-12
        shares = given_away.shares()
        assert sum(shares.values()) == pytest.approx(1.0 if given_away.lost.sum() else 0.0)


@pytest.mark.parametrize("price", PRICES[:2])
def test_each_regret_is_that_of_plain_python(graph, edges, price):
    budget, chosen = 3, rule(graph)
    number = {state.tobytes(): i for i, state in enumerate(graph.states)}
    value = values.best(graph, budget, [price], DEPTHS)[:, :, 0]
    episodes = walks.walk(graph, budget, walks.table(chosen))
    given_away = regrets.regret(graph, episodes, value, price, DEPTHS)
    for start, node in enumerate(graph.starts):
        expected = slow.lost(
            edges,
            graph.states[node].tobytes(),
            lambda state: int(chosen[number[state]]),
            budget,
            DEPTHS,
            price.action,
            price.look,
        )
        np.testing.assert_allclose(given_away.lost[episodes.episode == start], expected, atol=1e-12)


def test_an_action_that_is_not_counted_breaks_the_sum(graph):
    """The planted defect of the sum: one commitment says that it executed an action less."""
    budget, price = 4, Price(0.01, 0.02)
    value = values.best(graph, budget, [price])[:, :, 0]
    episodes = walks.walk(graph, budget, walks.table(rule(graph)))
    short = episodes.executed.copy()
    short[3] -= 1
    wrong = dataclasses.replace(episodes, executed=short)
    missing = value[budget, graph.starts] - wrong.value(price)
    assert np.abs(regrets.regret(graph, wrong, value, price).per_start() - missing).max() == pytest.approx(0.01)


def test_an_edge_that_leads_elsewhere_is_seen(graph, edges):
    """The planted defect of the values: the first action of one start leads to the goal."""
    landing, stop = graph.landing.copy(), graph.stop.copy()
    far = max(graph.starts, key=lambda node: graph.distance[node])
    landing[far], stop[far] = np.flatnonzero(graph.goal)[0], 1
    value = values.best(cases.changed(graph, landing=landing, stop=stop), 1)
    assert value[1, far, 0] == 1.0 > slow.best(edges, graph.states[far].tobytes(), 1, DEPTHS, 0.0, 0.0)


def test_causes_are_those_of_the_definitions(graph):
    budget = 6
    value = values.best(graph, budget)[:, :, 0]
    episodes = walks.walk(graph, budget, walks.table(rule(graph, 2)))
    given_away = regrets.regret(graph, episodes, value)
    names = list(regrets.CAUSES)
    for row in range(len(episodes.node)):
        before = episodes.node[(episodes.episode == episodes.episode[row]) & (episodes.turn <= episodes.turn[row])]
        lost = graph.distance[episodes.node[row]] >= 0 > graph.distance[episodes.landing[row]]
        if budget - episodes.turn[row] == 1:
            expected = "last look"
        elif lost:
            expected = "lost level"
        elif episodes.landing[row] in before:
            expected = "round"
        else:
            expected = "too deep" if episodes.depth[row] > given_away.best[row] else "too shallow"
        assert names[given_away.cause[row]] == expected


def test_the_best_depths_give_nothing_away(graph):
    budget, price = 5, Price(0.01, 0.03)
    value = values.best(graph, budget, [price])[:, :, 0]

    def choose(turn, _episodes, nodes):
        k = budget - turn
        every = [values.quality(value[k - 1], graph, nodes, np.full(len(nodes), h), price) for h in range(1, 9)]
        return np.argmax(every, axis=0) + 1

    episodes = walks.walk(graph, budget, choose)
    np.testing.assert_allclose(episodes.value(price), value[budget, graph.starts], atol=1e-12)
    assert np.abs(regrets.regret(graph, episodes, value, price).lost).max() < 1e-12


@pytest.fixture(scope="module")
def boards():
    """Every 2x3 board."""
    return cases.graph("sliding", cases.TASKS["sliding"].population()[0])


@pytest.mark.parametrize("budget", [1, 3])
def test_perfect_plans_are_worth_what_distances_say(boards, budget):
    price = Price(0.01, 0.02)
    best = optimal.with_optimal_plans(boards)
    assert best.closed
    value = values.best(best, budget, [price])[budget, :, 0]
    far = boards.distance > 0
    np.testing.assert_allclose(value[far], regrets.perfect(boards.distance, budget, price)[far], atol=1e-12)


def test_the_split_adds_up_in_both_orders(boards):
    every, budget, price = boards, 4, Price(0.01, 0.02)
    best = optimal.with_optimal_plans(every)
    chosen = walks.table(rule(every))
    own = walks.walk(every, budget, chosen).value(price)
    on_optimal = walks.walk(best, budget, chosen).value(price)
    ceiling = values.best(every, budget, [price])[budget, every.starts, 0]
    split = optimal.split(every, budget, price, ceiling, own, on_optimal)
    assert sum(split.plans_first) == pytest.approx(split.missing, abs=1e-12)
    assert sum(split.depths_first) == pytest.approx(split.missing, abs=1e-12)
    assert split.plans + split.depths == pytest.approx(split.missing, abs=1e-12)
    assert split.plans_first[0] >= -1e-12
    assert split.plans_first[1] >= -1e-12


def test_gain_share_is_nothing_for_the_constant_and_all_for_the_ceiling():
    generator = np.random.default_rng(1)
    constant, ceiling = generator.random(200), 1.0 + generator.random(200)
    rooms = np.arange(200) // 4
    for rule_, expected in ((constant, 0.0), (ceiling, 1.0), ((constant + ceiling) / 2, 0.5)):
        share = gain_share(rule_, constant, ceiling, rooms)
        assert share is not None
        assert (share.mean, share.low, share.high) == pytest.approx((expected,) * 3)
    noisy = gain_share(constant + generator.random(200), constant, ceiling, rooms)
    assert noisy is not None
    assert noisy.low < noisy.mean < noisy.high
    assert gain_share(constant, constant, constant) is None


def test_a_graph_that_was_cut_has_no_values():
    whole = cases.some("sliding")
    cut = whole.landing.copy()
    cut[whole.starts[0], 3] = -1
    with pytest.raises(ValueError, match="build it with a higher limit"):
        values.best(cases.changed(whole, landing=cut), 3)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("landing", 10_000, r"landing: expected numbers -1\.\."),
        ("stop", 9, r"stop: expected numbers 0\.\.8, got 9"),
        ("plans", 4, r"plans: expected numbers 0\.\.3, got 4"),
    ],
)
def test_a_column_that_cannot_be_is_refused(column, value, message):
    graph = cases.some("sliding", 2)
    array = getattr(graph, column).copy()
    array[0] = value
    with pytest.raises(ValueError, match=message):
        cases.changed(graph, **{column: array})
