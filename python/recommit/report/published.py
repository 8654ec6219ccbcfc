"""Tables that evaluation writes as Markdown: the paper's beside ours, and several seeds together."""

from __future__ import annotations

import re
from itertools import groupby

from recommit.report.embed import Html, joined, tag
from recommit.report.sections import MINUS, NONE, table

#: Of what was not run.
MISSING = "Empty cells, and the commands that fill them"


def seeds(text: str) -> Html:
    """One table per budget, of ``recommit.paper.seeds``."""
    parts = []
    for block in text.split("\n## ")[1:]:
        name, _, body = block.partition("\n")
        parts += [table(grid[0], [("", cells) for cells in grid[2:]], name) for grid in _grids(body.splitlines())]
    return joined(*parts)


def tables(text: str | None) -> Html | None:
    """The tables; None if this evaluation was not made to be compared with the paper's."""
    if text is None or not re.match(r"# .*: the paper's tables\n", text):
        return None
    parts = []
    for block in text.split("\n## ")[1:]:
        name, _, body = block.partition("\n")
        grids = [grid for grid in _grids(body.splitlines()) if len(grid) > 2]  # a head, a rule, rows
        for i, grid in enumerate(grids):
            parts.append(table(grid[0], [("", cells) for cells in grid[2:]], name if not i else f"{name}, continued"))
        points = [line[2:] for line in body.splitlines() if line.startswith("* ")]
        said = [tag("li", _with_code(line)) for line in points if not line.startswith("No ")]
        gone = [tag("li", _with_code(line)) for line in points if line.startswith("No ")]
        parts += [] if grids else [tag("h3", name)]
        parts += [tag("ul", *said)] if said else []
        parts += [tag("details", tag("summary", MISSING), tag("ul", *gone))] if gone else []
    return joined(*parts)


def _with_code(line: str) -> Html:
    """What stands between backticks, as code."""
    return joined(*(tag("code", part) if i % 2 else tag("span", part) for i, part in enumerate(line.split("`"))))


def _grids(lines: list[str]) -> list[list[list[str]]]:
    """The cells of every table."""
    blocks = groupby(lines, lambda line: line.startswith("|"))
    return [[_cells(line) for line in block] for inside, block in blocks if inside]


def _cells(line: str) -> list[str]:
    words = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [NONE if word == "-" else re.sub(r"(?<![\w.])-(?=\d)", MINUS, word) for word in words]
