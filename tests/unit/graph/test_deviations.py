"""Graphs of branches: values, oracle and regret of rules are those of the branches, from memory and from files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recommit.cli import command_line
from recommit.envs import Branches
from recommit.graph import files, regret, rule_registry, score
from recommit.graph.deviations import deviation_graph
from recommit.graph.score import GraphScorer
from recommit.prices import Prices, Setting

DEPTHS = (1, 4, 32)


def branches(count: int = 30, seed: int = 0) -> list[Branches]:
    """Of an environment in which anything may happen."""
    rng, result = np.random.default_rng(seed), []
    for _ in range(count):
        executed = np.minimum(DEPTHS, rng.integers(1, 40, 3))[None]
        queries = rng.integers(1, 9, (1, 3))
        actions = executed + np.where(queries > 1, (queries - 1) * rng.integers(1, 20, (1, 3)), 0)
        success = rng.random((1, 3)) < 0.6
        result.append(Branches(DEPTHS, (0,), success, success * 1.0, queries, actions, actions + 7, executed))
    return result


def values(each: Branches, prices: Prices) -> np.ndarray:
    return (each.success - prices.action * each.actions - prices.observation * each.queries)[0]


@pytest.mark.parametrize("prices", [Prices(), Prices(0.002, 0.03)])
def test_values_of_rules_are_those_of_the_branches(prices, tmp_path):
    every = branches()
    files.write(deviation_graph(every, np.arange(30) // 5, {"from": "a test"}), tmp_path / "graph")
    graph = files.read(tmp_path / "graph")
    setting = Setting(graph.source["queries"], prices)
    scorer = GraphScorer(graph, (setting,))
    wanted = np.array([values(each, prices) for each in every])
    assert scorer.oracle(setting) == pytest.approx(wanted.max(axis=1))
    for column, depth in enumerate(DEPTHS):
        assert scorer.fixed(setting, depth) == pytest.approx(wanted[:, column])
    assert scorer.best_fixed(setting) == DEPTHS[wanted.mean(axis=0).argmax()]
    chosen = np.random.default_rng(1).integers(0, 3, 30)
    table = np.full(len(graph), 1)
    table[graph.starts] = np.array(DEPTHS)[chosen]
    entry = rule_registry.NamedRule("mine", rule_registry.DepthTable(tuple(table.tolist())))
    own = wanted[np.arange(30), chosen]
    assert scorer.values(entry)[setting] == pytest.approx(own)
    played = regret.attribute(scorer.best(setting), graph.starts, scorer.rules.chooser(entry))
    assert played.total() == pytest.approx(wanted.max(axis=1) - own)
    (row,) = score.score(scorer, [entry])
    best = wanted.mean(axis=0).max()
    assert row.gain == pytest.approx((own.mean() - best) / (wanted.max(axis=1).mean() - best))
    assert len(np.unique(graph.groups)) == 6


def test_the_command_line_scores_it(tmp_path, capsys):
    graph = deviation_graph(branches())
    files.write(graph, tmp_path / "graph")
    np.save(tmp_path / "mine.npy", np.full(len(graph), 4))
    words = ["--rules", "fixed-4", "--table", str(tmp_path / "mine.npy"), "--price-observation", "0.02", "--json"]
    assert command_line.main(["graph", "score", str(tmp_path / "graph"), *words, "--quiet"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["rule"] for row in rows] == ["fixed-4"] * 2 + ["mine"] * 2 + ["mine+memory"] * 2
    assert rows[0]["value"] == rows[2]["value"]
    assert command_line.main(["graph", "score", str(tmp_path / "graph"), *words, "--out", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["scores.json", "scores.md"]
    capsys.readouterr()
    assert command_line.main(["graph", "show", str(tmp_path / "graph")]) == 0
    assert "30 starts in 30 groups" in capsys.readouterr().out
    assert command_line.main(["graph", "score", str(tmp_path / "graph"), "--rules", "repetition", "--quiet"]) != 0
    assert "rules: expected fixed-1 .. fixed-32 or a table" in capsys.readouterr().err
    assert command_line.main(["graph", "score", str(tmp_path / "graph"), "--rules", "fixed-3", "--quiet"]) != 0
    assert "rules: expected depths of (1, 4, 32), got 3 in fixed-3" in capsys.readouterr().err
    assert command_line.main(["graph", "score", str(tmp_path / "graph"), "--rules", "random", "--quiet"]) != 0
    assert "rules: expected fixed-1 .. fixed-32 or a table" in capsys.readouterr().err
    assert command_line.main(["graph", "show", str(tmp_path / "graph"), "--page", str(tmp_path / "page.html")]) != 0
    assert "page: expected the graph of a puzzle" in capsys.readouterr().err


def test_equal_ends_share_their_nodes_and_a_changed_depth_changes_the_hash():
    one, *_ = branches(1)
    graph = deviation_graph([one] * 4)
    assert len(graph) == len(deviation_graph([one])) + 3
    graph.depths = (1, 4, 31)
    assert files.content(graph) != files.content(deviation_graph([one] * 4))


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("depths", [1, 4], "expected a column of a commitment graph"),
        ("depths", [4, 1, 32], "depths: expected each once, ascending"),
        ("depths", [1, 4, 128], r"depths: expected numbers 1\.\.127, got 128"),
        ("depths", [], r"depths: expected 1\.\.127, got 0"),
        ("depths", [1, 4, 33], "content: expected"),
        ("task", "sliding", "expected a column of a commitment graph"),
    ],
)
def test_a_manifest_of_another_graph_is_refused(field, wrong, message, tmp_path):
    files.write(deviation_graph(branches()), tmp_path / "graph")
    manifest = json.loads((tmp_path / "graph" / "manifest.json").read_text())
    data = (json.dumps({**manifest, field: wrong}) + "\n").encode()
    _rewrite(tmp_path / "graph", data)
    with pytest.raises(ValueError, match=message):
        files.read(tmp_path / "graph")


def _rewrite(folder, data):
    """The manifest with its digest, as if that had been written."""
    from recommit.storage import files as disk
    from recommit.storage import verified

    (folder / "manifest.json").write_bytes(data)
    verified.seal(disk.Files(), folder, ("nodes.parquet", "starts.parquet", "manifest.json"))


def test_an_episode_may_have_thousands_of_queries():
    """MuJoCo's have a thousand ticks."""
    long, once = np.full((1, 2), 5000), np.ones((1, 2), np.int64)
    graph = deviation_graph([Branches((1, 2), (0,), once > 0, once * 1.0, long, long, long, once)])
    node, seen = int(graph.starts[0]), 0
    while not graph.goal[node]:
        node, seen = int(graph.landing[node, 0]), seen + int(graph.executed[node, 0])
    assert seen == 5000


def test_a_base_rule_may_be_deeper_than_the_depths():
    """As far as eight bits go: 200 actions would be -56."""

    def of(actions):
        one = np.ones((1, 2), np.int64)
        return deviation_graph([Branches((1, 2), (0,), one > 0, one * 1.0, 2 * one, actions * one, actions * one, one)])

    assert of(9).executed.max() == 8
    with pytest.raises(ValueError, match=r"executed: expected numbers 0..127, got 199"):
        of(200)


def test_branches_that_do_not_go_together_are_refused():
    one, other = branches(2)
    with pytest.raises(ValueError, match="branches: expected those of at least one state"):
        deviation_graph([])
    for wrong in ({"depths": (1, 4, 8)}, {"futures": (1,)}):
        with pytest.raises(ValueError, match=r"branches: expected the depths \(1, 4, 32\)"):
            deviation_graph([one, Branches(**{**vars(other), **wrong})])
