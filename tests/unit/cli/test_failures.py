"""What the system says of a path reaches a person as a sentence with the path that the call had."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import recommit
from recommit.cli import command_line
from recommit.storage import errors, files

pytest.importorskip("tyro")


def call(*words: object) -> int:
    return command_line.main([str(word) for word in words])


def generate(out: Path) -> int:
    return call("levels", "generate", "--task", "sliding", "--count", 1, "--out", out)


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("no/levels.txt", "there is no folder "),
        ("folder", "expected a file, got a folder"),
        ("file/levels.txt", "there is no folder "),
        ("x" * 250, "the name is too long for this file system"),
    ],
)
def test_a_place_where_nothing_can_be_written(
    place: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert generate(tmp_path / place) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"recommit: {tmp_path / place}: {sentence}")
    assert ".tmp" not in said
    assert "Error" not in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_what_is_not_permitted_names_the_path_of_the_call(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_files: files.Files, path: Path) -> int:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(files.Files, "create", refuse)
    assert generate(tmp_path / "levels.txt") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"recommit: {tmp_path / 'levels.txt'}: ")
    assert line.endswith((" there", " read"))


@pytest.mark.skipif(os.name == "nt", reason="no devices in folders there")
def test_no_device_is_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(Path(os.devnull)) == 2
    assert capsys.readouterr().err == f"recommit: {os.devnull}: expected a file, got a device\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("levels", "check", "FOLDER"), "FOLDER: expected a file, got a folder"),
        (("solve", "FOLDER"), "FOLDER: expected a file, got a folder"),
        (("play", "FOLDER"), "FOLDER: expected a file, got a folder"),
        (("render", "FOLDER", "--out", "a.png"), "FOLDER: expected a file, got a folder"),
        (("data", "show", "NONE"), "NONE: expected a finished data set, found no such folder"),
        (("data", "show", "FILE"), "FILE: expected the folder of a data set, got a file"),
        (
            ("data", "build", "--task", "sliding", "--count", "5", "--out", "FILE"),
            "FILE: expected a folder, got a file",
        ),
        (("data", "build", "--recipe", "NONE", "--out", "NEW"), "NONE: expected a recipe file, found none"),
        (("levels", "generate", "--task", "sliding", "--size", "9", "--out", "NEW"), "size: expected 2..5, got 9"),
    ],
)
def test_a_wrong_place_is_a_sentence_and_leaves_nothing(
    words: tuple[str, ...], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FILE").touch()
    places = ("FOLDER", "FILE", "NONE", "NEW")
    assert call(*(tmp_path / word if word in places else word for word in words)) == 2
    out, said = capsys.readouterr()
    assert said.replace(f"{tmp_path}{os.sep}", "").startswith(f"recommit: {sentence}")
    assert out == ""
    assert "Error" not in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["FILE", "FOLDER"]


@pytest.mark.parametrize(
    ("error", "sentence", "status"),
    [
        (OSError(errno.ENOSPC, "", "out"), "out: no room is left; make room and run the same command again", 1),
        (OSError(errno.EMFILE, "Too many open files"), "the system says: Too many open files", 1),
        (errors.WrongFolder("out: expected a folder"), "out: expected a folder", 2),
        (errors.FolderBusy("out: busy"), "out: busy", 1),
        (ValueError("cell: expected 4..112, got 3"), "cell: expected 4..112, got 3", 2),
        (recommit.LevelError("a.txt: line 3"), "a.txt: line 3", 1),
        (ValueError("no sentence of ours"), "ValueError: no sentence of ours", 1),
        (ConnectionError("refused"), "ConnectionError: refused", 1),
    ],
    ids=repr,
)
def test_what_is_said_of_an_error(error: Exception, sentence: str, status: int) -> None:
    """A class is named only where the sentence is not ours."""
    assert command_line.explained(error) == (sentence, status)
