"""The command line: spellings, exit statuses, and what it says where something is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import recommit
from recommit.cli import command_line, flags
from recommit.storage import errors

pytest.importorskip("tyro")


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([flag]) == 0
    assert capsys.readouterr().out == f"recommit {recommit.__version__}\n"


@pytest.mark.parametrize("words", [["help"], ["help", "solve"], ["help", "train"], ["help", "train", "sft"]])
def test_help_may_be_a_word(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(words) == 0
    asked_as_a_word = capsys.readouterr().out
    assert command_line.main([*words[1:], "--help"]) == 0
    assert capsys.readouterr().out == asked_as_a_word


#: What is not there, a call, and the extra, or extras, that bring all that is missing.
MISSING = [
    ("tyro", "solve levels.txt", "cli"),
    ("tyro pyarrow", "data show data", "cli,data"),
    ("tyro torch pyarrow", "evaluate run --out x", "train"),
    ("torch pyarrow", "evaluate run --out x", "train"),
    ("torch pyarrow", "play --agent sliding-3x3", "train"),
    ("tyro torch", "play --agent=sliding-3x3", "train"),
    ("matplotlib pyarrow", "report x --out y", "cli,report"),
]


@pytest.mark.parametrize(("missing", "line", "extra"), MISSING)
def test_all_that_is_missing_is_named_at_once(
    missing: str, line: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(errors, "is_missing", lambda name: name in missing.split())
    monkeypatch.setattr(flags, "is_missing", errors.is_missing)
    assert command_line.main(line.split()) == 2
    needs = ", ".join(missing.split())
    said = f"recommit: this command needs {needs}; in a clone of recommit: pip install '.[{extra}]'\n"
    assert capsys.readouterr().err == said


def test_what_would_be_done_is_shown_without_what_does_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("yaml")
    monkeypatch.setattr(errors, "is_missing", lambda name: name == "torch")
    assert command_line.main(["train", "sft", "--recipe", "laptop-sliding", "--show"]) == 0
    assert "backbone" in capsys.readouterr().out


def test_verbs_without_a_dataclass_need_numpy_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tyro", None)
    assert command_line.main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["works"] is True
    assert command_line.main(["watch", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "One of the package by its name (default: the first)." in shown
    assert "--out OUT Write a page, .html, instead of showing the terminal (default: none)." in shown
    monkeypatch.setattr(sys, "stdin", None)
    assert command_line.main(["watch", "sokoban-7x7"]) == 0
    assert capsys.readouterr().out.startswith("sokoban-7x7: ")
    assert command_line.main(["watch", "--nonsense"]) == 2
    assert command_line.main(["watch", "--out", str(tmp_path / "page.html")]) == 0
    assert command_line.main(["levels", "check", "levels.txt", "--index", "x"]) == 2
    assert "argument --index: invalid int value: 'x'" in capsys.readouterr().err
