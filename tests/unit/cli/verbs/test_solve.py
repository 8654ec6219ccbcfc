"""``recommit solve``: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recommit
from recommit.cli import command_line

LEVELS = """\
#####
#@$.#
#####
Title: one push

#####
#$  #
# @ #
#  .#
#####
Title: never

######
#    #
# $$ #
# .. #
#  @ #
######
Title: nine

#####
#@*.#
#$  #
#####
Title: unsolved corner
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.txt"
    path.write_text(LEVELS)
    return path


def run(*words: object) -> int:
    pytest.importorskip("tyro")
    return command_line.main([str(word) for word in words])


def run_json(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert run("solve", *words, "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_file_as_text(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("solve", pack) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 sokoban levels"
    assert "1 actions" in lines[1]
    assert lines[1].endswith("one push")
    assert lines[2].strip() == "R"
    assert "unsolvable" in lines[3]
    assert "9 actions" in lines[4]
    assert lines[-1].startswith("2 of 4 solved with 10 actions, 2 unsolvable, 0 unknown")


def test_the_schema_of_the_json(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, pack, "--nodes", "1000")
    assert set(document) == {"task", "file", "limits", "ties", "seed", "set_up_seconds", "levels", "totals"}
    assert document["task"] == "sokoban"
    assert document["file"] == str(pack)
    assert document["limits"] == {"nodes": 1000, "bytes": 2 << 30, "seconds": None}
    columns = ["index", "title", "rows", "columns", "status", "nodes", "seconds", "length", "bound", "plan"]
    assert all(set(row) == set(columns) for row in document["levels"])
    one, never, nine, _ = document["levels"]
    assert (one["status"], one["length"], one["bound"], one["plan"]) == ("exact", 1, 1, "R")
    assert (never["status"], never["length"], never["bound"], never["plan"]) == ("unsolvable", None, None, None)
    assert nine["length"] == len(nine["plan"]) == 9
    assert document["totals"] == {
        "levels": 4,
        "exact": 2,
        "unsolvable": 2,
        "unknown": 0,
        "actions": 10,
        "nodes": 0,
        "seconds": pytest.approx(sum(row["seconds"] for row in document["levels"]), abs=1e-5),
    }


def test_generated_instances_have_their_known_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--task", "sokoban", "--size", 7, "--boxes", 1, "--length", 8, 12, "--count", 5, "--seed", 3)
    document = run_json(capsys, *words)
    made = recommit.Sokoban(7, boxes=1).generate(5, seed=3, length=(8, 12))
    assert [row["length"] for row in document["levels"]] == made.length.tolist()
    assert [row["title"] for row in document["levels"]] == made.ids


def test_a_limit_gives_unknown_its_bound_and_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--task", "sliding", "--size", "4", "--length", "46", "--count", "1", "--seed", "5")
    row = run_json(capsys, *words, "--nodes", "3")["levels"][0]
    assert (row["status"], row["length"], row["plan"]) == ("node_limit", None, None)
    assert 0 < row["bound"] <= 46
    assert run("solve", *words, "--nodes", "3") == 0
    assert f"UNKNOWN: at least {row['bound']} actions; --nodes was hit" in capsys.readouterr().out


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_an_interruption_keeps_what_was_solved(
    json_too: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from recommit.puzzles import solver

    whole = solver.solve_all

    def stopped(*arguments: Any, **options: Any) -> Any:
        answers = whole(*arguments, **options)
        yield next(answers)
        raise KeyboardInterrupt

    monkeypatch.setattr(solver, "solve_all", stopped)
    assert run("solve", "--task", "sliding", "--count", 3, "--threads", 1, *json_too) == 130
    captured = capsys.readouterr()
    assert captured.err == "recommit: interrupted; 1 of 3 levels were solved and are printed\n"
    if json_too:
        assert len(json.loads(captured.out)["levels"]) == 1
    else:
        assert "1 of 1 solved" in captured.out
