"""The paper's tables beside ours, and several seeds together, as an evaluation's ``tables.json`` and rows have them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recommit.evaluate.tables.table import FILE, FilledTable
from recommit.report.html import Html, joined, tag, with_code
from recommit.storage import verified
from recommit.storage.errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recommit.report.reading import Folder
    from recommit.results.grid import Grid

_GRID: verified.Fields = {"head": [str], "rows": [[str]]}
_TABLE: verified.Fields = {"name": str, "title": str, "grids": [_GRID], "notes": [str]}


def seeds(grids: Mapping[str, Grid]) -> Html:
    """One table per budget, of ``recommit.evaluate.seeds``."""
    return joined(*(_shown(grid, f"{budget.capitalize()} budget") for budget, grid in grids.items()))


def tables(folder: Folder) -> list[Html]:
    """The tables, folded; none if this evaluation was not made to be compared with the paper's."""
    if not folder.has(FILE):
        return []
    values = verified.values(folder.path, FILE, {"title": str, "tables": [_TABLE]})
    for grid in (grid for each in values["tables"] for grid in each["grids"]):
        if any(len(row) != len(grid["head"]) for row in grid["rows"]):
            raise Damaged(f"{folder.path / FILE}: expected rows of as many cells as their head, got others")
    papers = (_table(FilledTable.from_dict(each)) for each in values["tables"])
    return [tag("details", tag("summary", "The paper's tables, with our figures"), *papers, class_="paper")]


def _table(each: FilledTable) -> Html:
    """Its grids and remarks; of a table of which nothing was run nothing."""
    grids = [grid for grid in each.grids if _measured(grid)]
    if each.grids and not grids:
        return Html()
    parts = [_shown(grid, each.title if not i else f"{each.title}, continued") for i, grid in enumerate(grids)]
    parts += [] if grids else [tag("h3", each.title)]
    parts += [tag("ul", *(tag("li", with_code(line)) for line in each.notes))] if each.notes else []
    return joined(*parts)


def _measured(grid: Grid) -> bool:
    """Has it a figure of ours? The paper's own, differences and the first column do not count."""
    ours = [i for i, name in enumerate(grid.head) if i and not re.match(r"paper|diff|agent", name)]
    return any(row[i] not in ("-", "") for row in grid.rows for i in ours)


def _shown(grid: Grid, label: str) -> Html:
    return Html(grid.html(label))
