"""The page that holds the paper against the project, read row by row; what is wrong is said with its line."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from tests.structure import checking
from tests.structure.commands import ROOT, Command, Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = ROOT / "docs" / "paper.md"
COLUMNS = ("paper", "here", "command", "test", "ours", "differs")
#: Cells that say nothing, a dash among them.
EMPTY = {"", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "?", "...", "n/a", "none", "todo", "tbd"}
_TICKED = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@dataclass(frozen=True)
class Row:
    """One line of a table: what the paper has, and what we have of it."""

    paper: str
    here: str
    command: str
    test: str
    ours: str
    differs: str


def rows(text: str) -> list[tuple[int, Row | None]]:
    """Every line of a table but its head and rule, by number; None for a line with too few cells or too many."""
    cells = ((number, _cells(line)) for number, line in enumerate(text.splitlines(), 1) if line.startswith("|"))
    return [(number, Row(*each) if len(each) == len(COLUMNS) else None) for number, each in cells if not _frame(each)]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _frame(cells: list[str]) -> bool:
    return tuple(cells) == COLUMNS or all(set(cell) <= set(":-") and "--" in cell for cell in cells)


def faults(text: str) -> list[str]:
    """What is wrong with a page."""
    return [f"line {number}: {fault}" for number, row in rows(text) for fault in _faults(row)]


def _faults(row: Row | None) -> Iterator[str]:
    if row is None:
        yield f"expected {len(COLUMNS)} cells"
        return
    for name, cell in zip(COLUMNS, astuple(row), strict=True):
        if cell.lower() in EMPTY:
            yield f"{name}: expected something, got {cell!r}"
        yield from (fault for text, target in _LINK.findall(cell) if (fault := _link(text, target)))
    yield from _places(row.here)
    yield from _commands(row.command)
    yield from _tests(row.test)


def _places(cell: str) -> Iterator[str]:
    """Files, perhaps with a name that stands in them: ``path::name``; or pages, as links."""
    for place in _TICKED.findall(cell):
        path, _, name = place.partition("::")
        if not (ROOT / path).exists():
            yield f"here: there is no {path}"
        elif name and not re.search(rf"\b{re.escape(name)}\b", _text(ROOT / path)):
            yield f"here: {path} has no {name}"
    if not _TICKED.search(cell) and not _LINK.search(cell):
        yield f"here: expected a file or a page, got {cell!r}"


def _commands(cell: str) -> Iterator[str]:
    """One or more, each in backticks and nothing beside them."""
    if _TICKED.sub("", cell).strip(" ,;") or not _TICKED.search(cell):
        yield f"command: expected commands in backticks, got {cell!r}"
    yield from (fault for command in _TICKED.findall(cell) if (fault := refused(command)))


@functools.cache
def refused(command: str) -> str:
    """What the parser of a command has against it; nothing if it takes it."""
    try:
        checking.check(Command(PAGE.name, 0, 0, command))
    except (Wrong, SystemExit) as wrong:
        return f"command: {wrong}"
    return ""


def _tests(cell: str) -> Iterator[str]:
    """Each as ``file::test``."""
    if _TICKED.sub("", cell).strip(" ,;") or not _TICKED.search(cell):
        yield f"test: expected tests in backticks, got {cell!r}"
    for test in _TICKED.findall(cell):
        path, _, name = test.partition("::")
        if not (ROOT / path).is_file() or name not in names(ROOT / path):
            yield f"test: there is no {test}"


@functools.cache
def names(path: Path) -> frozenset[str]:
    """Tests that a file defines, in Python or C++; nothing is imported."""
    if path.suffix == ".cpp":
        return frozenset(re.findall(r"^TEST\((\w+)\)", _text(path), re.MULTILINE))
    every = (node.name for node in ast.walk(ast.parse(_text(path))) if isinstance(node, ast.FunctionDef))
    return frozenset(name for name in every if name.startswith("test_"))


def _link(text: str, target: str) -> str:
    """What is wrong with a link: its page, its heading, or the entry of decisions.md that it names."""
    page, _, heading = target.partition("#")
    path = PAGE.parent / page if page else PAGE
    if not path.is_file():
        return f"{target}: there is no such page"
    if heading and heading not in headings(path):
        return f"{target}: there is no such heading"
    if target == "decisions.md" and f"**{text}.**" not in _text(path):
        return f"decisions.md has no entry {text!r}"
    return ""


@functools.cache
def headings(path: Path) -> frozenset[str]:
    """As addresses, in the way of the site's generator."""
    titles = re.findall(r"^#+ (.+)$", _text(path), re.MULTILINE)
    return frozenset(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles)


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def absent(text: str, wanted: tuple[str, ...]) -> list[str]:
    """Names that no row begins with; a row may begin with several, each in backticks."""
    named = {name for _, row in rows(text) if row for name in _TICKED.findall(row.paper)}
    return [name for name in wanted if name not in named]
