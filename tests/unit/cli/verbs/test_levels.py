from __future__ import annotations

import json
from pathlib import Path

import pytest

from recommit.cli import command_line
from recommit.cli.verbs import levels

pytest.importorskip("tyro")

L = "#####\n#@$.#\n#####\n"


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


def test_generate_by_another_generator(tmp_path: Path) -> None:
    out, flags = tmp_path / "out.txt", ["--size", 6, "--boxes", 1, "--count", 3]
    assert run("levels", "generate", "--out", out, *flags, "--generator", "reverse", "--length", 3, 9) == 0
    assert "sokoban/6x6-1-reverse/0/2" in out.read_text()


def test_levels_are_the_same_in_whatever_pieces_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--task", "sliding", "--size", 3, "--count", 7, "--seed", 4, "--out"]
    assert run("levels", "generate", *words, tmp_path / "whole.txt") == 0
    monkeypatch.setattr(levels, "PIECE", 2)
    assert run("levels", "generate", *words, tmp_path / "pieces.txt") == 0
    assert (tmp_path / "pieces.txt").read_bytes() == (tmp_path / "whole.txt").read_bytes()
