"""Values of optimal plans against their slow twins; what makes no graph is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.reference import regret as slow
from tests.refusals import refused
from tests.unit.graph.test_regret import DEPTHS, PRICES, random_graph

from recommit.graph.graph import NOWHERE, CommitmentGraph
from recommit.graph.values import optimal_values, solver_values
from recommit.prices import Prices


@pytest.mark.parametrize("depths", [(1, 2), (2,), (1, 3)])
@pytest.mark.parametrize("prices", PRICES, ids=str)
def test_optimal_values_equal_every_sequence_of_actions_on_a_line(prices, depths):
    distance = np.array([-1, 0, 1, 2, 3, 4, 5, 6])
    values = solver_values(distance, depths, 3, prices)
    for remaining in range(4):
        for place, value in zip(distance, values[remaining], strict=True):
            exact = slow.optimal(int(place), remaining, depths, prices.action, prices.observation, farthest=6)
            assert value == pytest.approx(exact, abs=1e-12), (remaining, place)


def test_arrays_that_make_no_graph_and_what_a_graph_does_not_have_are_refused():
    wrong = [
        ({"landing": np.zeros((3, 2), int)}, "landing: expected shape [3, 3], got [3, 2]"),
        ({"landing": np.full((3, 3), 3)}, "landing: expected numbers in -1..2, got 3"),
    ]
    arrays = {"landing": np.zeros((3, 3), int), "executed": np.ones((3, 3), int), "goal": np.zeros(3, bool)}
    arrays |= {"planned": np.ones(3, bool), "distance": np.ones(3, int)}
    rows = [(lambda one=one: CommitmentGraph(DEPTHS, **{**arrays, **one}), words) for one, words in wrong]
    graph = random_graph(0)
    landing = graph.landing.copy()
    landing[graph.rows[0], 1] = NOWHERE
    cut = dataclasses.replace(graph, landing=landing)
    rows += [
        (lambda: graph.only((1, 8)), "depths: expected some of (1, 2, 4), got 8"),
        (lambda: Prices(observation=-1), "observation: expected a number of at least 0, got -1"),
        (lambda: optimal_values(cut, 2, Prices()), "graph: expected one whose edges all lead to nodes"),
    ]
    refused(rows)
