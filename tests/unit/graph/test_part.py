"""Parts of graphs: what is reachable, and the ways of the solver."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.graphs import explore, key
from tests.unit.graph import cases

from recommit.graph.optimal_plans import ways
from recommit.graph.prices import Prices, Setting
from recommit.graph.score import GraphScorer


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def graph(request):
    return cases.some(request.param, 10, wrong=3)


def test_a_part_is_the_graph_of_its_starts(graph):
    first = graph.starts[:3]
    part = graph.part(graph.reachable(first), first, np.array([4, 4, 2]))
    assert part.closed
    assert part.groups.tolist() == [4, 4, 2]
    task = cases.TASKS[graph.task]
    edges = explore(task, [graph.states[i] for i in first], lambda state: cases.plan_of(task, state, 3))
    looked = {key(state) for state, seen in zip(part.states, part.planned, strict=True) if seen}
    assert looked == set(edges)
    setting = Setting(3, Prices(0.01, 0.02))
    whole = GraphScorer(graph, (setting,))
    np.testing.assert_array_equal(GraphScorer(part, (setting,)).oracle(setting), whole.oracle(setting)[:3])


def test_a_part_without_what_it_leads_to_is_not_closed(graph):
    """The planted defect: the starts alone."""
    nodes = np.zeros(len(graph), np.bool_)
    nodes[graph.starts] = True
    assert not graph.part(nodes, graph.starts).closed


def test_ways_are_all_states_of_the_solvers_plans(graph):
    task = cases.TASKS[graph.task]
    starts = graph.states[graph.starts]
    expected = set()
    for start in starts:
        here = start
        expected.add(key(here))
        for action in task.solve(start[None]).actions:
            here = task.step(here[None], np.array([action], np.uint8))[0]
            expected.add(key(here))
    assert {key(state) for state in ways(task, starts)} == expected
