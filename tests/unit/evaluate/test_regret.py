"""Regrets of an evaluation's commitments against trying every sequence of depths, in plain Python."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from tests.reference import regret as slow

pytest.importorskip("torch")

from tests.unit.graph.test_oracle import DEPTHS, Scripted

import recommit
from recommit.cli import main
from recommit.data.parquet import pq
from recommit.evaluate import agent_regret
from recommit.evaluate.agents import PolicyPlayer
from recommit.graph import oracle
from recommit.graph.build import PolicyGraph
from recommit.graph.regret import CAUSES
from recommit.prices import Prices

BUDGET = 4
TASKS = {"sliding": recommit.Sliding(2, 3), "sokoban": recommit.Sokoban(6, 1)}
PRICES = {"none": None, "both": Prices(0.01, 0.02), "dear": Prices(0.4, 0.3)}
AGENTS = ("adaptive", "fixed-2", "shuffled", "repetition+memory", "oracle-dp")


@pytest.fixture(scope="module", params=[(task, prices) for task in TASKS for prices in PRICES], ids=str)
def player(request):
    task, prices = TASKS[request.param[0]], PRICES[request.param[1]]
    starts = task.generate(6, seed=3, length=(3, 10)).states
    return PolicyPlayer(Scripted(), task, starts, BUDGET, prices=prices)


def board(player):
    """Everything that the starts lead to, for the reference; nodes by number."""
    graph = PolicyGraph(Scripted(), player.task, DEPTHS)
    starts = graph.nodes(player.starts)
    while not (graph.planned | graph.goal).all():
        graph.expand(np.arange(len(graph)))
    edges = [list(zip(*row, strict=True)) for row in zip(graph.landing.tolist(), graph.executed.tolist(), strict=True)]
    slow_graph = SimpleNamespace(
        depths=DEPTHS,
        edges=[None if goal else each for each, goal in zip(edges, graph.goal.tolist(), strict=True)],
        goal=graph.goal.tolist(),
        distance=player.task.distance(graph.states).tolist(),
    )
    return slow_graph, starts


def by_hand(player, agent, graph, starts):
    """(instance, turn, regret, cause) of every commitment."""
    rows, prices, result = player.rows(agent, BUDGET), player.prices or Prices(), []
    for i, start in enumerate(starts.tolist()):
        own = np.flatnonzero(rows.instance == i)
        taken = dict(zip(rows.turn[own].tolist(), rows.depth[own].tolist(), strict=True))
        columns = {BUDGET - turn: DEPTHS.index(depth) for turn, depth in taken.items()}
        causes = slow.causes(
            graph, start, BUDGET, lambda remaining, _, c=columns: c[remaining], prices.action, prices.observation
        )
        result += [(i, BUDGET - remaining, loss, cause) for remaining, _, loss, cause in causes]
    return sorted(result, key=lambda row: (row[1], row[0]))


def test_regrets_equal_plain_python(player):
    graph, starts = board(player)
    every = agent_regret.of(player, AGENTS)
    for agent in AGENTS:
        kept, rows = agent_regret.columns_of(every[agent], BUDGET), player.rows(agent, BUDGET)
        assert kept["instance"].tolist() == rows.instance.tolist()
        assert kept["turn"].tolist() == rows.turn.tolist()
        expected = by_hand(player, agent, graph, starts)
        assert kept["regret"] == pytest.approx([loss for *_, loss, _ in expected], abs=1e-12)
        names = [CAUSES[c] if c >= 0 else None for c in kept["cause"].tolist()]
        assert names == [cause for *_, cause in expected]
        assert (kept["best"] == rows.depth)[kept["cause"] < 0].all()


def test_what_was_not_looked_at_is_noticed(monkeypatch):
    """The planted defect: nothing is searched beyond what agents looked at themselves."""
    search, differs = oracle.search, []
    for task in TASKS.values():
        starts = task.generate(12, seed=5, length=(3, 12)).states
        whole, torn = (PolicyPlayer(Scripted(), task, starts, BUDGET) for _ in range(2))
        exact = agent_regret.of(whole, ("fixed-2", "adaptive"))
        monkeypatch.setattr(oracle, "search", lambda *_: 0)
        other = agent_regret.of(torn, ("fixed-2", "adaptive"))
        monkeypatch.setattr(oracle, "search", search)
        differs += [exact[name].regret.tolist() != other[name].regret.tolist() for name in exact]
    assert any(differs)


def test_a_graph_that_is_too_large_has_none(player, monkeypatch):
    monkeypatch.setattr(oracle, "search", lambda *_: 3)
    with pytest.warns(UserWarning, match="states were left out, so that no regret is exact"):
        assert agent_regret.of(player, ("adaptive",)) == {}


def evaluated(run, out, *more):
    sizes = ("--instances", "8", "--validation", "6", "--budgets", "4", "--quiet")
    return main(["evaluate", str(run), "--out", str(out), *sizes, "--agents", "adaptive", "fixed-3", "shuffled", *more])


def test_regrets_are_kept_and_may_be_asked_for_later(run, tmp_path):
    assert evaluated(run, tmp_path / "later") == 0
    assert not list((tmp_path / "later" / "decisions").glob(f"*{agent_regret.SUFFIX}.parquet"))
    shutil.copytree(tmp_path / "later", tmp_path / "copy")
    assert evaluated(run, tmp_path / "later", "--regret") == 0
    names = sorted(path.name for path in (tmp_path / "later" / "decisions").glob(f"*{agent_regret.SUFFIX}.parquet"))
    assert names == ["adaptive@4-regret.parquet", "shuffled@4-s0-regret.parquet"]
    for name in names:
        kept, rows = (pq.read_table(tmp_path / "later/decisions" / n) for n in (name, name.replace("-regret", "")))
        for column in ("instance", "turn"):
            assert kept[column].to_pylist() == rows[column].to_pylist()
        assert min(kept["regret"].to_pylist()) >= 0
    assert json.loads((tmp_path / "later/plan.json").read_text())["regret"]
    assert evaluated(run, tmp_path / "copy", "--regret", "--price-observation", "0.1") == 2, (
        "another price is another plan"
    )
