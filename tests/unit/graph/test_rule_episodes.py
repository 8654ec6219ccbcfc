"""A rule gives the same episodes where states are planned at on the way and on the finished graph of the same plans."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import Scripted

import recommit
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import head, play
from recommit.graph.rule_episodes import RulesOnGraph, adaptive_memory, rule_on_growing
from recommit.horizon import rule_registry

BUDGET, ALL = 7, tuple(range(1, 9))
TASKS = {"sliding": recommit.Sliding(2, 3), "sokoban": recommit.Sokoban(6, 1)}
NAMES = [name + memory for name in (*rule_registry.NAMES, "fixed-3") for memory in ("", rule_registry.MEMORY)]


def growing(task):
    return PolicyGraph(Scripted(), task, ALL, keep_probs=True)


def finished(graph, starts):
    """The commitment graph of everything that is reached from these starts; nodes keep their numbers."""
    numbers = graph.nodes(starts)
    while (missing := np.flatnonzero(~graph.planned & ~graph.goal)).size:
        graph.expand(missing)
    return graph.finished(numbers, None, {})


@pytest.fixture(scope="module", params=list(TASKS))
def both(request):
    task = TASKS[request.param]
    starts = task.generate(25, seed=3, length=(3, 12)).states
    return growing(task), starts, finished(growing(task), starts)


def entry_of(name):
    entry = rule_registry.named(name)
    return entry.at(2.0 if "entropy" in name else 0.3) if entry.swept else entry


def on_the_way(graph, starts, choose):
    played = play(graph, graph.nodes(starts), BUDGET, choose)
    return [played.solved.tolist(), played.actions.tolist(), played.decisions.tolist()]


def on_graph(graph, entry):
    choose = RulesOnGraph(graph).chooser(entry)
    return [column.tolist() for column in play(graph, graph.starts, BUDGET, choose).outcome()]


@pytest.mark.parametrize("name", NAMES)
def test_both_ways_give_the_same_episodes(both, name):
    graph, starts, whole = both
    entry = entry_of(name)
    agents = {"head": lambda: head(graph), "head+memory": lambda: adaptive_memory(graph)}
    choose = agents[name]() if name in agents else rule_on_growing(graph, entry)
    assert on_the_way(graph, starts, choose) == on_graph(whole, entry)
