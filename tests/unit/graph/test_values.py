"""Values by dynamic programming against plain recursion over every sequence of depths."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.reference import grpo as slow
from tests.reference import values as slow_values

import recommit
from recommit.graph import values
from recommit.graph.commitments import Prices
from recommit.graph.plan_graph import PlanGraph, softmax

DEPTHS = (1, 2, 4)
FREE, ACTIONS, LOOKS, BOTH = Prices(), Prices(0.01), Prices(look=0.02), Prices(0.005, 0.03)


class Scripted:
    """Plans and depth logits by a hash of the state: wrong as often as right."""

    config = SimpleNamespace(depths=DEPTHS, budget_conditioned=False)

    def plan(self, task, states, depths):
        flat = states.reshape(len(states), -1).astype(np.uint64)
        key = (flat * np.arange(3, 3 + flat.shape[1], dtype=np.uint64) ** np.uint64(5)).sum(axis=1)
        best = task.optimal_actions(states).argmax(axis=1)
        plans = ((key[:, None] >> np.arange(8, dtype=np.uint64)) & np.uint64(3)).astype(np.uint8)
        plans[:, 0] = np.where(key % np.uint64(3) > 0, best, plans[:, 0])
        logits = np.stack([(key >> np.uint64(4 * i)) % np.uint64(7) for i in range(len(DEPTHS))], axis=1) / 3.0
        return logits.astype(np.float32), logits.astype(np.float32), np.repeat(plans[:, None], len(depths), axis=1)


def valued(graph, roots, probs, budget, prices=FREE, budgets=()):
    program = values.Program(graph, roots, budget, prices, budgets)
    return program.values(probs[program.nodes])


@pytest.fixture(scope="module")
def graph():
    task = recommit.Sliding(2, 3)
    reach = PlanGraph(Scripted(), task, DEPTHS)
    starts = task.generate(6, seed=3, length=(3, 9)).states
    roots = reach.nodes(starts)
    values.explore(reach, roots, 4, lambda r, n: softmax(r.logits[n]), limit=10_000)
    while not (reach.expanded | reach.goal).all():
        reach.expand(np.arange(len(reach)))  # recursion wants the hopeless ones too
    return reach, roots


def plain(reach):
    return [
        None
        if reach.goal[i]
        else [
            (int(reach.landing[i, c]), int(reach.executed[i, c]), bool(reach.solved[i, c])) for c in range(len(DEPTHS))
        ]
        for i in range(len(reach))
    ]


@pytest.mark.parametrize("prices", [FREE, ACTIONS, LOOKS, BOTH])
def test_values_visits_and_advantages_equal_recursion(graph, prices):
    reach, roots = graph
    probs = softmax(reach.logits)
    found = valued(reach, roots, probs, 4, prices)
    edges = plain(reach)
    assert found.settled == pytest.approx(1.0)
    for root in roots:
        assert found.value[4, root] == pytest.approx(slow.value(edges, probs, root, 4, prices), rel=1e-12)
    wanted: dict = {}
    for root in roots:
        for key, mass in slow.visits(edges, probs, root, 4).items():
            wanted[key] = wanted.get(key, 0.0) + mass
    for (node, remaining), mass in wanted.items():
        assert found.visits[remaining, node] == pytest.approx(mass, rel=1e-12)
    assert found.visits.sum() == pytest.approx(sum(wanted.values()), rel=1e-12)
    nodes = np.flatnonzero(found.visits.sum(axis=0) > 0)
    fast = found.advantage[nodes]
    for i, node in enumerate(nodes):
        total = np.zeros(len(DEPTHS))
        for remaining in range(1, 5):
            q = np.array([slow.depth_value(edges, probs, edge, remaining, prices) for edge in edges[node]])
            total += wanted.get((node, remaining), 0.0) * (q - q @ probs[node])
        assert fast[i] == pytest.approx(total / found.visits[:, node].sum(), rel=1e-9, abs=1e-12)


def test_they_give_the_gradient_of_the_expected_return(graph):
    """Sum of visits x chance x advantage is the derivative by the logit, as finite differences say."""
    reach, roots = graph
    probs = softmax(reach.logits)
    found = valued(reach, roots, probs, 4, BOTH)
    nodes = np.flatnonzero(found.visits.sum(axis=0) > 0)
    fast = found.advantage[nodes]
    gradient = found.visits[:, nodes].sum(axis=0)[:, None] * probs[nodes] * fast

    def total(logits):
        return valued(reach, roots, softmax(logits), 4, BOTH).value[4, roots].sum()

    for i, node in list(enumerate(nodes))[::3]:
        for column in range(len(DEPTHS)):
            step = np.zeros(reach.logits.shape)
            step[node, column] = 1e-4
            slope = (total(reach.logits + step) - total(reach.logits - step)) / 2e-4
            assert gradient[i, column] == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_budgets_may_be_mixed(graph):
    """Half of the episodes have two decisions, half have four: the mean of both programs, and its gradient."""
    reach, roots = graph
    probs = softmax(reach.logits)
    both, two, four = (valued(reach, roots, probs, 4, BOTH, budgets) for budgets in ((2, 4), (2,), (4,)))
    assert both.visits == pytest.approx((two.visits + four.visits) / 2)
    assert (four.visits == valued(reach, roots, probs, 4, BOTH).visits).all()
    assert (both.visits == valued(reach, roots, probs, 4, BOTH, (2, 9)).visits).all(), "9 is more than there are"
    nodes = np.flatnonzero(both.visits.sum(axis=0) > 0)
    gradient = both.visits[:, nodes].sum(axis=0)[:, None] * probs[nodes] * both.advantage[nodes]

    def total(logits):
        found = valued(reach, roots, softmax(logits), 4, BOTH)
        return (found.value[2, roots] + found.value[4, roots]).sum() / 2

    for i, node in list(enumerate(nodes))[::7]:
        step = np.zeros(reach.logits.shape)
        step[node, 1] = 1e-4
        slope = (total(reach.logits + step) - total(reach.logits - step)) / 2e-4
        assert gradient[i, 1] == pytest.approx(slope, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("task", [recommit.Sliding(2, 3), recommit.Sokoban(6, 1)], ids=["sliding", "sokoban"])
@pytest.mark.parametrize(
    ("limit", "prices", "budgets"),
    [(1000, FREE, ()), (3, ACTIONS, (2, 4)), (1, BOTH, (9, 3)), (1000, LOOKS, (2, 4))],
)
def test_values_equal_plain_python_where_states_were_not_looked_at(task, limit, prices, budgets):
    """Also where states are lost, or too far."""
    graph = PlanGraph(Scripted(), task, DEPTHS)
    roots = graph.nodes(task.generate(12, seed=3, length=(3, 14)).states)
    roots = np.concatenate([roots, roots[:5]])
    values.explore(graph, roots, 4, lambda r, n: softmax(r.logits[n]), limit)
    assert limit == 1000 or (~graph.expanded & ~graph.goal).any()
    program = values.Program(graph, roots, 4, prices, budgets)
    for seed in range(3):
        probs = softmax(np.random.default_rng(seed).normal(size=graph.logits.shape))
        fast, wanted = (
            program.values(probs[program.nodes]),
            slow_values.values(graph, roots, probs, 4, prices, budgets),
        )
        assert fast.value == pytest.approx(wanted.value, rel=1e-12, abs=1e-14)
        assert fast.visits == pytest.approx(wanted.visits, rel=1e-12)
        assert fast.settled == pytest.approx(wanted.settled, rel=1e-12)
        assert fast.advantage == pytest.approx(wanted.advantage, rel=1e-9, abs=1e-12)
        advantage, visits = program.advantages(probs[program.nodes])
        assert (advantage == fast.advantage[program.nodes]).all()
        assert visits == pytest.approx(fast.visits[:, program.nodes].sum(axis=0), rel=1e-12)
        assert np.abs(advantage).max() > 1e-3


def test_states_out_of_reach_are_worth_nothing(graph):
    reach, roots = graph
    found = valued(reach, roots, softmax(reach.logits), 2)
    far = found.distance > 16
    assert (found.value[2, far] == 0).all()


def test_exploring_keeps_to_its_limit():
    task = recommit.Sliding(2, 3)
    reach = PlanGraph(Scripted(), task, DEPTHS)
    roots = reach.nodes(task.generate(6, seed=3, length=(3, 9)).states)
    values.explore(reach, roots, 4, lambda r, n: softmax(r.logits[n]), limit=1)
    assert reach.expanded.sum() <= 4
    found = valued(reach, roots, softmax(reach.logits), 4)
    assert 0 < found.settled < 0.999


def test_plans_are_compared_depth_by_depth():
    """Two plans; the second lands better at depth 2 and equal at depth 1: only its second action earns."""
    visits = np.array([[0.0], [1.0], [0.0]])
    landing = np.array([[[0, 1], [0, 2]]])
    advantage, weight = values.plan_advantages(
        SimpleNamespace(value=np.array([[0.2, 0.2, 0.6], [0.0] * 3]), by_distance=np.zeros((2, 4))),
        visits[:2],
        np.array([[0.5, 0.5]]),
        (1, 2),
        landing,
        np.ones((1, 2, 2), int),
        np.zeros((1, 2, 2), bool),
        np.array([[[1, 2], [1, 2]]]),
        LOOKS,  # which both plans pay
    )
    assert weight[0, 0].tolist() == [1.0, 0.5, 0, 0, 0, 0, 0, 0]
    assert advantage[0, :, 1].tolist() == pytest.approx([-0.2, 0.2])
    assert advantage[0, :, 0].tolist() == pytest.approx([-0.1, 0.1])
    assert (advantage[0, :, 2:] == 0).all()


class Two:
    """A start with two commitments of eight actions: one loses the level, one goes on and is solved now and then."""

    states = np.zeros((4, 1, 1), np.uint8)
    expanded = np.array([True, False, True, False])
    goal = np.array([False, False, False, True])
    landing = np.array([[1, 2], [0, 0], [2, 3], [3, 3]])
    executed = np.array([[8, 8], [0, 0], [8, 8], [0, 0]])
    task = SimpleNamespace(distance=lambda _states: np.array([20, -1, 12, 0], np.int32))

    def __len__(self):
        return 4


def test_losing_a_level_does_not_save_what_playing_on_costs():
    probs = np.array([[0.5, 0.5], [0, 0], [0.95, 0.05], [0, 0]])
    for prices in (FREE, ACTIONS, Prices(0.05), LOOKS, BOTH):
        found = valued(Two(), np.array([0]), probs, 6, prices)
        lost, alive = found.q_values[6, 0]
        assert found.value[5, 2] > found.value[5, 1]
        assert alive > lost
        assert lost == pytest.approx(-6 * (8 * prices.action + prices.look)), (
            "six decisions of eight actions, whatever is done"
        )
