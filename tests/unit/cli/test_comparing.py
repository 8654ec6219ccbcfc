"""``recommit graph compare`` on runs of seconds: graphs are built once, and missing runs are named."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")

from tests.unit.cli.verbs.test_reproduce import PRESET

from recommit.cli import main
from recommit.graph import build, files
from recommit.reproduce import preset, stages
from recommit.reproduce.compare import played
from recommit.storage import files as disk
from recommit.storage import verified

SMALL = (
    PRESET.replace("variants: [adaptive, fixed-4]", "variants: [adaptive, fixed-8, random]")
    .replace("seeds: [0, 1]", "seeds: [0]\n    warm_starts: each")
    .replace("ablations: [paper]", "")
    .replace("evaluate: {instances: 4,", "evaluate: {instances: 4, length: [4, 14],")
)
SIZES = ["--instances", "6", "--validation", "5", "--harder", "3", "--quiet"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Everything of one seed."""
    return everything(tmp_path_factory.mktemp("runs"), SMALL)


def everything(folder, text):
    """The runs of a preset."""
    (folder / "small.yaml").write_text(text)
    (entry,) = preset.entries(preset.load(str(folder / "small.yaml")), folder / "out")
    disk.make_folders(disk.Files(), entry.folder)
    task = stages.Task(entry, 1, None, True, pytest.fail)
    task.prepare()
    task.data()
    task.training()
    return folder


def compare(runs, out, *words):
    return main(
        ["graph", "compare", str(runs / "out"), "--preset", str(runs / "small.yaml"), "--out", str(out), *SIZES, *words]
    )


@pytest.fixture(scope="module")
def compared(runs, tmp_path_factory):
    out = tmp_path_factory.mktemp("compared")
    assert compare(runs, out, "--set", "seeds=[0, 1]") == 0
    return out


def test_everything_is_compared_and_missing_seeds_are_named(compared):
    scores = json.loads((compared / "scores-small.json").read_text())
    assert scores["missing"] == ["adaptive-s1", "fixed-8-s1", "random-s1", "init-s1"]
    assert {row["source"] for row in scores["rows"]["test"]} == {"adaptive", "fixed-8", "random", "init"}
    assert {row["rule"] for row in scores["rows"]["test"]} == set(played.RULES)
    assert {len({row[name] for row in scores["rows"]["test"]}) for name in ("budget", "price_observation")} == {2, 5}
    assert scores["instances"]["harder"]["label"] == "2x3, lengths 15 to 21"
    assert {row["instances"] for row in scores["split"]} == {"test", "harder"}
    text = (compared / "rules-compared.md").read_text()
    assert text.startswith("# The depth head and the rules without training\n\n")
    assert "**Sliding 2x3: " in text.split("\n\n")[1]
    assert "adaptive-s1" in text
    assert (compared / "tables-small.md").is_file()


def test_a_second_call_builds_nothing_and_says_the_same(runs, compared, monkeypatch):
    before = {path: path.read_bytes() for path in compared.rglob("*") if path.is_file()}
    monkeypatch.setattr(build, "build", pytest.fail)
    torn = next(path.parent for path in before if path.name == files.NODES)
    verified.write_digests(disk.Files(), torn, {})  # as a writer leaves it that was killed before its last file
    (torn / f".{verified.DIGESTS}.7-ab.tmp").write_text("")
    assert compare(runs, compared, "--set", "seeds=[0, 1]") == 0
    assert {path: path.read_bytes() for path in compared.rglob("*") if path.is_file()} == before


def test_the_graph_of_another_policy_is_built_anew(runs, compared, tmp_path, monkeypatch):
    """The planted defect: a graph that lies in the right place, of other weights."""
    place = tmp_path / "small" / "graphs" / "random-s0"
    graph = files.read(compared / "small" / "graphs" / "random-s0")
    files.write(replace(graph, source={"policy": "another"}), place)
    built = []
    monkeypatch.setattr(build, "build", lambda *_args, source, **_more: built.append(source) or graph)
    assert compare(runs, tmp_path, "--seeds", "0") == 0
    assert len(built) == 4
    assert files.read(place).source == graph.source


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--puzzles", "chess"], "puzzles: expected some of small, got chess"),
        (["--seeds", "7"], "runs: expected a finished adaptive run in"),
    ],
)
def test_a_wrong_call_is_a_sentence(runs, tmp_path, capsys, words, message):
    assert compare(runs, tmp_path, *words) == 2
    assert message in capsys.readouterr().err


def test_icy_caves_are_compared_with_larger_ones(tmp_path):
    """No state of theirs can be listed, so graphs begin at instances."""
    ice = SMALL.replace("task: sliding, size: [2, 3]", "task: ice, size: [6, 6]").replace(
        "laptop-sliding", "laptop-ice"
    )
    ice = ice.replace("length: [4, 14]", "length: [3, 6]")
    runs = everything(tmp_path, ice)
    assert compare(runs, tmp_path / "compared") == 0
    scores = json.loads((tmp_path / "compared" / "scores-small.json").read_text())
    assert scores["title"] == "ice 6x6"
    assert scores["instances"]["harder"]["label"] == "7x7"
    assert {row["rule"] for row in scores["rows"]["harder"]} == set(played.RULES)
    assert {row["instances"] for row in scores["split"]} == {"test", "harder"}
    assert all(row["best"] >= row["value"] - 1e-9 for row in scores["split"])


def test_somebodys_folder_stays_as_it_is(runs, tmp_path, capsys):
    (tmp_path / "letter.txt").write_text("mine")
    assert compare(runs, tmp_path) != 0
    assert "expected a new or empty folder, or that of a comparison; got one with letter.txt" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["letter.txt"]
