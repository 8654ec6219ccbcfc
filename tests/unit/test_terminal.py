"""Text of files, pipes and encodings at the terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from recommit.data.builder import build
from recommit.data.spec import DataSpec

pytest.importorskip("tyro")
pytest.importorskip("pyarrow")

LEVEL = "#####\n#@$.#\n#####\n"


def recommit(*words, lines=None, **env):
    """Exit status, and what it said on standard error; its output ends behind so many lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recommit.cli", *map(os.fsencode, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **env},
    )
    if lines == 0:
        process.stdout.close()
    out = process.stdout.read() if lines is None else b""
    error = process.stderr.read()
    process.stderr.close()
    process.stdout.close()
    return process.wait(), out, error


@pytest.mark.parametrize("words", [["--help"], ["levels", "check", "--help"]], ids=" ".join)
def test_help_without_docstrings(words):
    status, out, error = recommit(*words, PYTHONOPTIMIZE="2")
    assert (status, error) == (0, b"")
    assert out.startswith(b"usage: recommit")


@pytest.mark.skipif(sys.platform == "win32", reason="no poll there")
@pytest.mark.parametrize("words", [["--help"], ["levels", "check", "PACK"]], ids=" ".join)
def test_a_reader_that_has_gone_is_no_failure(words, tmp_path):
    (tmp_path / "pack.txt").write_text(f"{LEVEL}Title: a\n{LEVEL}", encoding="utf-8")
    status, _, error = recommit(*(str(tmp_path / "pack.txt") if w == "PACK" else w for w in words), lines=0)
    assert (status, error) == (141, b"")


@pytest.mark.parametrize("encoding", ["ascii", "ascii:surrogateescape"])  # the second is Python's own where LC_ALL is C
def test_titles_go_where_only_ascii_does(encoding, tmp_path):
    (tmp_path / "pack.txt").write_text(f"{LEVEL}Title: Gr\u00f6\u00dfe \u65e5\n", encoding="utf-8")
    status, out, error = recommit("levels", "check", tmp_path / "pack.txt", PYTHONIOENCODING=encoding)
    assert (status, error) == (0, b"")
    assert b"Gr\\xf6\\xdfe \\u65e5" in out


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there")
def test_a_folder_whose_name_is_no_text_is_verified(tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")
    build(
        DataSpec.from_dict({"task": "sliding", "size": [2, 3], "count": 4, "difficulties": [{"length": [2, 4]}]}),
        folder,
    )
    status, out, error = recommit("data", "show", folder, "--verify")
    assert (status, error) == (0, b"")
    assert b"rows, all as they should be" in out
