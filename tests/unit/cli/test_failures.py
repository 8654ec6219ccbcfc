"""What the system says of a path reaches a person as a sentence with the path that the call had."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from recommit.cli import command_line, failures
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


def test_the_folder_itself_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(Path()) == 2
    assert capsys.readouterr().err == "recommit: .: expected a file, got a folder\n"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
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


def test_a_full_disk_is_no_wrong_call() -> None:
    sentence, status = failures.explained(OSError(errno.ENOSPC, "No space left on device", "out"))
    assert (sentence, status) == ("out: no room is left; make room and run the same command again", 1)


def test_an_error_of_ours_has_its_status_and_no_class_name() -> None:
    assert failures.explained(errors.WrongFolder("out: expected a folder")) == ("out: expected a folder", 2)
    assert failures.explained(errors.FolderBusy("out: busy")) == ("out: busy", 1)


def test_other_errors_keep_their_name() -> None:
    assert failures.explained(ZeroDivisionError("x")) == ("ZeroDivisionError: x", 1)
    assert failures.explained(ConnectionError("refused")) == ("ConnectionError: refused", 1)
