from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.puzzles.level_cases import L

from recommit.cli import command_line

pytest.importorskip("tyro")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.txt"
    path.write_text(L + "\n; 1\n\n######\n#@ $.#\n######\n\n; 2\n")
    return path


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    path = tmp_path / "plans.txt"
    path.write_text("R\n\nrR\n")
    return path


def run(*words: object) -> int:
    return command_line.main(["levels", "check", *(str(word) for word in words)])


def test_levels_alone(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(pack) == 0
    assert capsys.readouterr().out == "2 sokoban levels\n"
    assert run(pack, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"task": "sokoban", "levels": 2}


def test_right_solutions(pack: Path, plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(pack, "--solution", plans) == 0
    assert capsys.readouterr().out.splitlines() == [
        "     0  solved: 1 actions, 1 pushes  1",
        "     1  solved: 2 actions, 1 pushes  2",
        "2 of 2 solutions are right",
    ]


def test_a_wrong_solution_ends_with_status_1(pack: Path, plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plans.write_text("r\n\nr\n")
    assert run(pack, "--solution", plans, "--json") == 1
    rows = json.loads(capsys.readouterr().out)["levels"]
    assert rows[0]["fault"] == "action 1: expected a capital letter for a push, got 'r'"
    assert rows[1] == {"title": "2", "solves": False, "actions": 1, "pushes": 0, "fault": ""}


def test_one_level_and_what_is_written(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, out = tmp_path / "one.txt", tmp_path / "out.txt"
    one.write_text("Solution: 1r\n1R\n")
    assert run(pack, "--solution", one, "--index", 1, "--out", out) == 0
    assert "     1  solved: 2 actions, 1 pushes  2" in capsys.readouterr().out
    assert out.read_text() == "rR\n"


def test_refused(pack: Path, plans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, status, message in (
        ((pack, "--solution", plans, "--index", 0), 2, "solutions: expected 1, one for each level, got 2"),
        ((pack, "--solution", plans, "--index", 2), 2, "index: expected 0..1, got 2"),
        ((pack, "--index", 0), 2, "index: expected --solution beside it, got none"),
        ((pack, "--solution", pack), 1, "line 1, column 1: expected one of lurdLURD, got '#'"),
        ((plans,), 1, "expected at least one level, got none"),
    ):
        assert run(*words) == status
        assert message in capsys.readouterr().err
