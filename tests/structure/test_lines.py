"""Lines end at 120 columns, in sources and on pages; ruff holds the Python to it, this test the rest."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
MOST = 120
SOURCES = ("CMakeLists.txt", "cpp/**/*.[chi]*", "bench/**/*.[ch]pp", "tests/**/*.[ch]pp", "scripts/*")
PAGES = ("*.md", "docs/**/*.md")
#: Written by a program, to be read by one.
GENERATED = {"docs/reliability/figures.md"}


def long_lines(text: str) -> Iterator[str]:
    """What is too long, by number; a line that cannot be broken anywhere is not."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST and len(line.split()) > 1:
            yield f"{number}: expected at most {MOST} columns, got {len(line)}"


def prose(page: str) -> str:
    """A page with its tables and blocks of code as empty lines."""
    lines, fenced = [], False
    for line in page.splitlines():
        fence = re.match(r"\s*(```|~~~)", line) is not None
        fenced ^= fence
        lines.append("" if fenced or fence or line.lstrip().startswith("|") else line)
    return "\n".join(lines)


def files(patterns: tuple[str, ...]) -> list[Path]:
    paths = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(path for path in paths if path.relative_to(ROOT).as_posix() not in GENERATED)


@pytest.mark.parametrize("path", files(SOURCES), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_of_sources(path: Path) -> None:
    assert list(long_lines(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", files(PAGES), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_of_pages(path: Path) -> None:
    assert list(long_lines(prose(path.read_text(encoding="utf-8")))) == []


def test_a_long_line_is_noticed() -> None:
    words = "word " * 25
    page = f"{words}\n\n| {words} |\n\n```text\n{words}\n```\n\n  * {words}\n{'x' * 130}\n"
    assert [line.partition(":")[0] for line in long_lines(prose(page))] == ["1", "9"]
    assert len(list(long_lines(page))) == 4


def first_sentence(text: str) -> str:
    """The comment on the first lines of a C++ file."""
    lines = itertools.takewhile(lambda line: line.startswith("//"), text.splitlines())
    return " ".join(line.removeprefix("//").strip() for line in lines)


@pytest.mark.parametrize(
    "path",
    files(("cpp/**/*.[ch]pp", "bench/**/*.[ch]pp", "tests/**/*.[ch]pp")),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_a_file_of_cpp_begins_with_a_sentence(path: Path) -> None:
    """Headers and sources alike, before anything is included."""
    assert re.search(r"\w\W*\s\w.*[.?:]", first_sentence(path.read_text(encoding="utf-8")))


def test_a_file_that_says_nothing_first_is_noticed() -> None:
    assert first_sentence("// The table\n// itself.\n#include <array>\n// Later.\n") == "The table itself."
    assert first_sentence("#pragma once\n// The table.\n") == ""
