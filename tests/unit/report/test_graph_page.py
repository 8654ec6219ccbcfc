"""The page about a commitment graph: what is watched is what was judged, and nothing of torch is needed for it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.unit.graph import cases

from recommit.graph import score
from recommit.graph import tables as text
from recommit.graph.regret import attribute
from recommit.graph.score import GraphScorer
from recommit.horizon import rule_registry
from recommit.prices import Prices, Setting
from recommit.report import graph_page

SETTING = Setting(4, Prices(0.01, 0.02))


@pytest.fixture(scope="module", params=["sliding", "sokoban"])
def scorer(request):
    return GraphScorer(cases.some(request.param, 20, wrong=3), (Setting(4, Prices()), SETTING))


@pytest.fixture(scope="module")
def rows(scorer):
    return attribute(scorer.best(SETTING), scorer.graph.starts, scorer.rules.chooser(rule_registry.named("repetition")))


def replayed(graph, one, state):
    """Distances along an episode of the viewer, by the puzzle itself."""
    puzzle, actions, distances = graph.puzzle, iter(one["a"]), []
    for executed in one["x"]:
        distances.append(int(puzzle.distance(state)[0]))
        for _ in range(int(executed)):
            state = puzzle.step(state, np.array([int(next(actions))], np.uint8))
    assert next(actions, None) is None
    return [*distances, int(puzzle.distance(state)[0])], bool(puzzle.is_solved(state)[0])


def test_what_is_watched_is_what_was_judged(scorer, rows):
    graph, places = scorer.graph, text.worst(rows, 6)
    packed = graph_page.pack(scorer, SETTING, "repetition", rows, places)
    best = scorer.best(SETTING)
    for at, instance, own, ideal in zip(places, packed["instances"], *packed["played"], strict=True):
        state = np.frombuffer(bytes.fromhex(instance["state"]), np.uint8).reshape(1, *graph.states.shape[1:])
        for one in (own, ideal):
            assert replayed(graph, one, state) == (one["d"], one["solved"])
        assert int(own["h"][0]) == rows.depth[at]
        assert own["r"][0] == round(1000 * rows.regret[at])
        assert packed["causes"][int(own["c"][0]) - 1] == packed["kinds"][instance["kind"]]
        worth = ideal["solved"] - 0.01 * sum(map(int, ideal["x"])) - 0.02 * len(ideal["h"])
        assert worth == pytest.approx(best.value[rows.remaining[at], rows.node[at]])
        assert set(ideal["c"]) == {"0"}


def test_the_page_holds_rules_figures_and_commitments(scorer):
    entries = [rule_registry.named(name) for name in ("head", "fixed-4", "confidence-least")]
    html = graph_page.make(scorer, score.score(scorer, entries), entries, "about <it>", "A graph")
    parts = re.findall(r'<section id="(\w+)"><h2>[^<]+</h2><p class="how">[^<]+</p>', html)
    assert parts == ["graph", "rules", "regret", "worst"]
    assert "about &lt;it&gt;" in html
    assert "Regret by distance and cause" in html
    packed = json.loads(re.search(r'id="packed">(.*?)</script>', html)[1])
    assert html.count('href="#i=') == len(packed["instances"]) > 3
    assert html == graph_page.make(scorer, score.score(scorer, entries), entries, "about <it>", "A graph")
