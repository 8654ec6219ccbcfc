from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.puzzles.level_cases import L

from recommit.cli import command_line
from recommit.cli.verbs import levels

pytest.importorskip("tyro")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.txt"
    path.write_text("; 4\n" + L + "\n######\n#@ $.#\n######\nTitle: longer\n")
    return path


def run(*words: object) -> int:
    return command_line.main([str(word) for word in words])


def test_check_lists_the_levels(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("levels", "check", pack) == 0
    assert capsys.readouterr().out == "2 sokoban levels\n     0   3 x 5   4\n     1   3 x 6   longer\n"


def test_check_as_json(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("levels", "check", pack, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["task"] == "sokoban"
    assert shown["levels"][1] == {"index": 1, "rows": 3, "columns": 6, "title": "longer"}
    assert run("levels", "check", pack, "--index", 0, "--json") == 0
    assert json.loads(capsys.readouterr().out)["state"][1] == [1, 5, 3, 2, 1]


def test_levels_are_written_in_another_format(pack: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    assert run("levels", "check", pack, "--out", out, "--format", "boxoban") == 0
    assert out.read_text() == "; 4\n" + L + "\n; 1\n######\n#@ $.#\n######\n"


def test_generate_by_another_generator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, flags = tmp_path / "out.txt", ["--size", 6, "--boxes", 1, "--count", 3]
    assert run("levels", "generate", "--out", out, *flags, "--generator", "reverse", "--length", 3, 9) == 0
    assert "sokoban/6x6-1-reverse/0/2" in out.read_text()
    assert run("levels", "generate", "--out", out, *flags, "--generator", "walk") == 2
    assert "generator: expected rooms or reverse, got walk" in capsys.readouterr().err
    assert run("levels", "generate", "--out", out, "--task", "ice", "--generator", "walk") == 2
    assert "generator: expected usual, got walk" in capsys.readouterr().err
    assert run("levels", "generate", "--out", out, "--task", "sliding", "--size", 3, "--generator", "walk") == 2
    assert "length: expected one for a generator that walks, got None" in capsys.readouterr().err


def test_levels_are_the_same_in_whatever_pieces_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--task", "sliding", "--size", 3, "--count", 7, "--seed", 4, "--out"]
    assert run("levels", "generate", *words, tmp_path / "whole.txt") == 0
    monkeypatch.setattr(levels, "PIECE", 2)
    assert run("levels", "generate", *words, tmp_path / "pieces.txt") == 0
    assert (tmp_path / "pieces.txt").read_bytes() == (tmp_path / "whole.txt").read_bytes()


@pytest.fixture
def both(tmp_path: Path) -> Path:
    path = tmp_path / "both.txt"
    path.write_text(L + "\n; 1\n\n######\n#@ $.#\n######\n\n; 2\n")
    return path


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    path = tmp_path / "plans.txt"
    path.write_text("R\n\nrR\n")
    return path


def check(*words: object) -> int:
    return run("levels", "check", *words)


def test_right_solutions(both: Path, plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(both, "--solution", plans) == 0
    assert capsys.readouterr().out.splitlines() == [
        "     0  solved: 1 actions, 1 pushes  1",
        "     1  solved: 2 actions, 1 pushes  2",
        "2 of 2 solutions are right",
    ]


def test_a_wrong_solution_ends_with_status_1(both: Path, plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plans.write_text("r\n\nr\n")
    assert check(both, "--solution", plans, "--json") == 1
    rows = json.loads(capsys.readouterr().out)["levels"]
    assert rows[0]["fault"] == "action 1: expected a capital letter for a push, got 'r'"
    assert rows[1] == {"title": "2", "solves": False, "actions": 1, "pushes": 0, "fault": ""}


def test_one_level_and_what_is_written(both: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, out = tmp_path / "one.txt", tmp_path / "out.txt"
    one.write_text("Solution: 1r\n1R\n")
    assert check(both, "--solution", one, "--index", 1, "--out", out) == 0
    assert "     1  solved: 2 actions, 1 pushes  2" in capsys.readouterr().out
    assert out.read_text() == "rR\n"


def test_refused(both: Path, plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, status, message in (
        ((both, "--solution", plans, "--index", 0), 2, "solutions: expected 1, one for each level, got 2"),
        ((both, "--solution", plans, "--index", 2), 2, "index: expected 0..1, got 2"),
        ((both, "--solution", both), 1, "line 1, column 1: expected one of lurdLURD, got '#'"),
        ((plans,), 1, "expected at least one level, got none"),
    ):
        assert check(*words) == status
        assert message in capsys.readouterr().err
