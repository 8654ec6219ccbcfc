"""``recommit graph``: from a run to a graph to a table, in the words of the command line."""

from __future__ import annotations

import json

import pytest
from tests.unit.train.conftest import data, init, one_thread  # noqa: F401

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

import recommit
from recommit.cli.command_line import main
from recommit.graph import files, tables


@pytest.fixture(scope="module")
def folders(init, tmp_path_factory):  # noqa: F811
    """The graphs of a warm start on 2x3 boards: from test and from validation starts."""
    out = tmp_path_factory.mktemp("graphs")
    for split in ("test", "validation"):
        words = ["--split", split, "--starts", "12", "--samples", "4", "--quiet"]
        assert main(["graph", "build", str(init), "--out", str(out / split), *words]) == 0
    return out


def about(folder):
    """What is said of a graph."""
    graph = files.read(folder)
    return tables.about(graph, files.describe(graph))


def test_a_graph_is_built_and_scored(folders, tmp_path, capsys):
    shown = about(folders / "test")
    assert "12 starts in" in shown
    assert "closed: yes" in shown
    assert "samples of an observation: 4" in shown
    words = [
        "--choose-on",
        str(folders / "validation"),
        "--price-observation",
        "0.02",
        "--out",
        str(tmp_path / "scores"),
    ]
    assert main(["graph", "score", str(folders / "test"), *words, "--quiet"]) == 0
    text = capsys.readouterr().out
    assert text.count("## K = ") == 4
    assert "| confidence-least " in text
    assert "| agreement " in text
    assert (tmp_path / "scores" / "scores.md").read_text() == text
    assert text.count("## Gain share over prices of an observation, K = ") == 2
    values = json.loads((tmp_path / "scores" / "scores.json").read_text())
    assert len(values["over_prices"]) == 2 * len({row["rule"] for row in values["rows"]})
    assert values["chosen_on"] != values["graph"]
    assert {row["rule"] for row in values["rows"]} >= {"head", "head+memory", "fixed-4", "consecutive"}
    assert all(each["oracle"] >= each["best_fixed_value"] for each in values["settings"])


def test_plans_or_depths(init, tmp_path, capsys):  # noqa: F811
    words = ["--split", "test", "--starts", "6", "--ways", "--quiet"]
    assert main(["graph", "build", str(init), "--out", str(tmp_path / "ways"), *words]) == 0
    assert json.loads((tmp_path / "ways" / "manifest.json").read_text())["starts"] == 6
    words = ["--rules", "fixed-2", "sampled", "--budget", "3", "--split", "--quiet"]
    capsys.readouterr()
    assert main(["graph", "score", str(tmp_path / "ways"), *words, "--json"]) == 0
    split = json.loads(capsys.readouterr().out)["split"]
    assert [row["rule"] for row in split] == ["fixed-2", "sampled"]
    assert main(["graph", "score", "sliding-2x3", *words]) == 0
    assert "## Plans or depths, K = 3" in capsys.readouterr().out


def test_more_starts_than_a_split_gives_are_refused_by_their_name(init, tmp_path, capsys):  # noqa: F811
    assert main(["graph", "build", str(init), "--out", str(tmp_path / "graph"), "--starts", "2000000"]) == 2
    assert "starts: expected at most 1048576 of a split together, got 2000000" in capsys.readouterr().err


def test_instances_of_another_size(init, tmp_path, capsys):  # noqa: F811
    words = ["--size", "2", "2", "--length", "2", "6", "--starts", "1", "--quiet"]
    assert main(["graph", "build", str(init), "--out", str(tmp_path / "small"), *words]) == 0
    assert json.loads((tmp_path / "small" / "manifest.json").read_text())["shape"] == [2, 2]
    capsys.readouterr()
    assert main(["graph", "build", str(init), "--out", str(tmp_path / "none"), "--size", "2", "--quiet"]) == 2
    assert "size: expected two numbers, got (2,)" in capsys.readouterr().err


def test_levels_of_a_file_within_a_budget(init, tmp_path, capsys):  # noqa: F811
    """As if the levels had come from the data; a budget is scored by itself, and the graph of every state agrees."""
    path, words = tmp_path / "levels.txt", ["--starts", "5", "--quiet"]
    recommit.write_levels(path, recommit.Sliding(2, 3).generate(6, seed=4, length=(4, 12)).states)
    for name, more in (("whole", []), ("part", ["--budget", "3"])):
        call = ["graph", "build", str(init), "--out", str(tmp_path / name), "--levels", str(path), *words, *more]
        assert main(call) == 0
    capsys.readouterr()
    shown = about(tmp_path / "part")
    assert "5 starts in 5 groups" in shown
    assert "for episodes of at most 3 observations" in shown
    scores = ["--rules", "fixed-2", "head", "--price-action", "0", "--price-observation", "0.02", "--json", "--quiet"]
    assert main(["graph", "score", str(tmp_path / "part"), *scores]) == 0
    part = json.loads(capsys.readouterr().out)
    assert main(["graph", "score", str(tmp_path / "whole"), "--budget", "3", *scores]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert [each["budget"] for each in part["settings"]] == [3, 3]
    assert main(["graph", "score", str(tmp_path / "part"), "--rules", "fixed-2", "--quiet"]) == 0
    assert "count one action at each observation that is left" in capsys.readouterr().out
    for one, other in zip(part["settings"], whole["settings"], strict=True):
        assert one["oracle"] == pytest.approx(other["oracle"], abs=1e-12)
    for one, other in zip(part["rows"], whole["rows"], strict=True):
        same = ("rule", "solved", "observations", "value", "gain")
        assert [one[name] for name in same] == pytest.approx([other[name] for name in same], abs=1e-9)


def test_a_rule_of_ones_own_stands_beside_ours(folders, tmp_path, capsys):
    (tmp_path / "mine.py").write_text("def rule(plans):\n    return [2] * len(plans)\n")
    words = ["--rules", "fixed-2", "--rule", str(tmp_path / "mine.py"), "--run-code", "--budget", "3", "--json"]
    assert main(["graph", "score", str(folders / "test"), *words, "--quiet"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["rule"] for row in rows] == ["fixed-2", "mine", "mine+memory"]
    assert rows[0]["solved"] == rows[1]["solved"]


def test_a_wrong_head_is_a_sentence(folders, init, tmp_path, capsys):  # noqa: F811
    words = ["train", "head", str(folders / "test"), "--policy", str(init), "--out", str(tmp_path / "out")]
    for more, message in [
        (["--updates", "-1"], "updates: expected at least 1, got -1"),
        (["--updates", "1"], "graph: expected one from training starts"),
    ]:
        assert main([*words, *more]) in (1, 2)
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "nowhere"], "graph: expected a folder that recommit graph build wrote, or sliding-2x3, got nowhere"),
        (["score", "GRAPH", "--rules", "guess"], "rules: expected fixed-1 .. fixed-8"),
        (["score", "GRAPH", "--budget", "0"], "budget: expected numbers 1..512, got 0"),
        (["score", "GRAPH", "--price-observation", "-1"], "observation: expected a number of at least 0, got -1"),
        (["score", "GRAPH", "--rule", "mine.py"], "rule: expected --run-code beside it"),
    ],
)
def test_a_wrong_call_is_a_sentence(folders, capsys, words, message):
    words = [str(folders / "test") if word == "GRAPH" else word for word in words]
    assert main(["graph", *words, "--quiet"]) in (1, 2)
    assert message in capsys.readouterr().err
