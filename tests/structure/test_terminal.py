"""Only ``recommit.storage.terminal_text`` writes to a terminal, so that nothing passes its filter by."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "recommit"
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


def writes(tree):
    """Lines that print, or write to a stream of the process."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id == "print":
            yield node.lineno
        if isinstance(function, ast.Attribute) and function.attr in ("write", "writelines"):
            stream = function.value
            if getattr(stream, "attr", getattr(stream, "id", "")) in STREAMS:
                yield node.lineno


def test_nothing_else_writes_to_the_terminal():
    files = [path for path in PACKAGE.rglob("*.py") if path.name != "terminal_text.py"]
    assert len(files) > 100
    places = [f"{path.name}:{line}" for path in files for line in writes(ast.parse(path.read_text(encoding="utf-8")))]
    assert places == []


@pytest.mark.parametrize("text", ["print(x)", "sys.stderr.write(x)", "from sys import stdout\nstdout.write(x)"])
def test_a_planted_write_is_seen(text):
    assert list(writes(ast.parse(text)))
