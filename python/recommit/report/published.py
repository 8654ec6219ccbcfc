"""The paper's tables beside ours, and several seeds together, as an evaluation's ``tables.json`` and rows have them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recommit.evaluate.seeds import seed_of
from recommit.evaluate.tables.table import FILE, PAGE, PaperTables
from recommit.report.embed import Html, joined, tag
from recommit.report.sections import MINUS, NONE, table
from recommit.storage import verified
from recommit.storage.errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recommit.evaluate.tables.table import FilledTable
    from recommit.evaluate.text import Grid
    from recommit.report.reading import Folder

#: Of what was not run.
MISSING = "Empty cells, and the commands that fill them"
#: Of an evaluation that an older version made, where its family of runs is gone.
NO_FAMILY = (
    f"{FILE} is not there, and the family of runs cannot be read. Where it can, `recommit evaluate FAMILY --paper "
    "--seed SEED --out EVAL` writes the file; nothing is played again."
)
_GRID: verified.Fields = {"head": [str], "rows": [[str]]}
_TABLE: verified.Fields = {"name": str, "title": str, "grids": [_GRID], "notes": [str], "missing": [str]}


def seeds(grids: Mapping[str, Grid]) -> Html:
    """One table per budget, of ``recommit.evaluate.seeds``."""
    return joined(*(_shown(grid, f"{budget.capitalize()} budget") for budget, grid in grids.items()))


def tables(folder: Folder) -> Html | None:
    """The tables; None if this evaluation was not made to be compared with the paper's."""
    if not folder.has(FILE):
        return _older(folder)
    values = verified.values(folder.path, FILE, {"title": str, "tables": [_TABLE]})
    for grid in (grid for each in values["tables"] for grid in each["grids"]):
        if any(len(row) != len(grid["head"]) for row in grid["rows"]):
            raise Damaged(f"{folder.path / FILE}: expected rows of as many cells as their head, got others")
    return joined(*(_table(each) for each in PaperTables.from_dict(values).tables))


def _older(folder: Folder) -> Html | None:
    """Fill the tables of a folder that an older version left; its page says which they are."""
    page = folder.text(PAGE) or ""
    if not re.match(r"# .*: the paper's tables(, on .*)?\n", page):
        return None
    try:
        return joined(*(_table(each) for each in _filled(folder, re.findall(r"^## (.+)$", page, re.MULTILINE))))
    except (ValueError, ImportError):
        return tag("p", _with_code(NO_FAMILY), class_="missing")


def _filled(folder: Folder, titles: list[str]) -> tuple[FilledTable, ...]:
    """The tables of these titles, from an evaluation's figures and the family that its run is of."""
    from recommit.evaluate.family import FamilyResults, Members  # torch comes with it
    from recommit.evaluate.tables.experiments import TABLES, fill

    results = FamilyResults(folder.summary, Members(folder.run.parent, int(seed_of(str(folder.run)) or 0)))
    return fill(results, [name for name, each in TABLES.items() if each.title in titles]).tables


def _table(each: FilledTable) -> Html:
    grids = [grid for grid in each.grids if _measured(grid)]
    if each.grids and not grids:
        return _not_here(each)
    parts = [_shown(grid, each.title if not i else f"{each.title}, continued") for i, grid in enumerate(grids)]
    parts += [] if grids else [tag("h3", each.title)]
    remarks, commands = ([tag("li", _with_code(line)) for line in lines] for lines in (each.notes, each.missing))
    parts += [tag("ul", *remarks)] if remarks else []
    parts += [tag("details", tag("summary", MISSING), tag("ul", *commands))] if commands else []
    return joined(*parts)


def _measured(grid: Grid) -> bool:
    """Has it a figure of ours? The paper's own, differences and the first column do not count."""
    ours = [i for i, name in enumerate(grid.head) if i and not re.match(r"paper|diff|agent", name)]
    return any(row[i] not in ("-", "") for row in grid.rows for i in ours)


def _not_here(each: FilledTable) -> Html:
    """A table of which nothing was run: its title, and the commands that fill it."""
    commands = [tag("li", _with_code(line)) for line in each.missing]
    return (
        tag("details", tag("summary", f"Not measured here: {each.title}"), tag("ul", *commands)) if commands else Html()
    )


def _shown(grid: Grid, label: str) -> Html:
    return table(grid.head, [("", [_cell(cell) for cell in row]) for row in grid.rows], label)


def _with_code(line: str) -> Html:
    """What stands between backticks, as code."""
    return joined(*(tag("code", part) if i % 2 else tag("span", part) for i, part in enumerate(line.split("`"))))


def _cell(word: str) -> str:
    """A number as the page writes it."""
    return NONE if word == "-" else re.sub(r"(?<![\w.])-(?=\d)", MINUS, word)
