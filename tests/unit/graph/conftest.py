from __future__ import annotations

import pytest
from tests.unit.evaluate.conftest import run  # noqa: F401
from tests.unit.graph import cases
from tests.unit.train.conftest import both, data, init, levels, one_thread, plan  # noqa: F401

from recommit.graph.score import GraphScorer
from recommit.prices import Prices, Setting

SETTINGS = (Setting(2, Prices()), Setting(3, Prices(0.01, 0.02)))


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def graph(request):
    return cases.some(request.param, 20, wrong=3)


@pytest.fixture(scope="module")
def scorer(graph):
    return GraphScorer(graph, SETTINGS)
