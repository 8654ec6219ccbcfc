"""The paper's tables beside ours, from the Markdown that ``recommit evaluate --paper`` has written."""

from __future__ import annotations

import re

from recommit.report.embed import Html, joined, tag
from recommit.report.sections import MINUS, NONE, table


def tables(text: str | None) -> Html | None:
    """The tables; None if this evaluation was not made to be compared with the paper's."""
    if text is None or not re.match(r"# .*: the paper's tables\n", text):
        return None
    parts = []
    for block in text.split("\n## ")[1:]:
        name, _, body = block.partition("\n")
        grid = [_cells(line) for line in body.splitlines() if line.startswith("|")]
        if len(grid) > 2:  # a head, a rule, rows
            parts.append(table(grid[0], [("", cells) for cells in grid[2:]], name))
        points = [tag("li", line[2:]) for line in body.splitlines() if line.startswith("* ")]
        if points:
            parts.append(joined(tag("h3", name), tag("ul", *points)))
    return joined(*parts)


def _cells(line: str) -> list[str]:
    words = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [NONE if word == "-" else re.sub(r"(?<![\w.])-(?=\d)", MINUS, word) for word in words]
