"""The gradient of exact credit with prices of actions and looks, against every sequence of depths on boards of 2x3."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.graph import values
from recommit.graph.commitments import Prices
from recommit.graph.plan_graph import PlanGraph, softmax

BUDGET = 4


@pytest.fixture(scope="module")
def starts():
    """A graph where everything has been looked at that an episode may come by, and where episodes begin."""
    task = recommit.Sliding(2, 3)
    graph = PlanGraph(Scripted(), task, DEPTHS)
    roots = graph.nodes(task.generate(6, seed=3, length=(3, 9)).states)
    for _ in range(BUDGET):
        graph.expand(np.arange(len(graph)))
    return graph, roots


def enumerated(graph, roots, prices):
    """The return, and its gradient by the logits: every episode's chance times its return times the slope of the log of
    its chance."""
    probs = softmax(graph.logits)
    total, gradient = 0.0, np.zeros(graph.logits.shape)

    def play(node, remaining, likely, earned, taken):
        nonlocal total
        if graph.goal[node] or not remaining:
            total += likely * (earned + bool(graph.goal[node]))
            for at, column in taken:
                slope = -probs[at]
                slope[column] += 1.0
                gradient[at] += likely * (earned + bool(graph.goal[node])) * slope
            return
        for column in range(len(DEPTHS)):
            cost = prices.look + prices.action * int(graph.executed[node, column])
            play(
                graph.landing[node, column],
                remaining - 1,
                likely * probs[node, column],
                earned - cost,
                [*taken, (node, column)],
            )

    for root in roots:
        play(root, BUDGET, 1.0, 0.0, [])
    return total, gradient


def of_program(graph, roots, prices):
    """The same by the program of exact credit."""
    probs = softmax(graph.logits)
    program = values.Program(graph, roots, BUDGET, prices)
    result = program.values(probs[program.nodes])
    gradient = result.visits.sum(axis=0)[:, None] * probs * result.advantage
    return result.value[BUDGET, roots].sum(), gradient


@pytest.mark.parametrize("prices", [Prices(look=0.05), Prices(0.01, 0.02), Prices(0.2, 1.5)])
def test_it_is_the_gradient_of_every_episode(starts, prices):
    total, gradient = enumerated(*starts, prices)
    by_program = of_program(*starts, prices)
    assert by_program[0] == pytest.approx(total, rel=1e-12)
    assert by_program[1] == pytest.approx(gradient, rel=1e-9, abs=1e-13)
    assert (np.abs(gradient - enumerated(*starts, Prices(prices.action))[1]) > 1e-4).any(), "looks matter"


@pytest.mark.parametrize(
    "planted",
    [
        lambda prices, executed: prices.action * executed,
        lambda prices, executed: (prices.action + prices.look) * executed,
        lambda prices, executed: prices.action * executed + prices.look * (executed > 1),
    ],
    ids=["looks are free", "a look per action", "shallow looks are free"],
)
def test_a_wrong_price_of_a_look_is_another_gradient(starts, planted, monkeypatch):
    prices = Prices(0.01, 0.05)
    _, gradient = enumerated(*starts, prices)
    monkeypatch.setattr(Prices, "of", planted)
    assert np.abs(of_program(*starts, prices)[1] - gradient).max() > 1e-3
