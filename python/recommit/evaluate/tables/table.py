"""A table of the paper: the agents that it needs, and what it shows of them.

A ``Table`` turns the figures of a family of runs into ``Content``. An evaluation prints that as Markdown and writes it
as ``tables.json`` for programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from recommit.results.table import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.evaluate.family import FamilyResults, Members

#: The file of an evaluation that holds the tables, and the same for a person.
FILE, PAGE = "tables.json", "tables.md"


class Content(NamedTuple):
    """What a table shows of the runs that are there: grids, in which a dash stands where nothing was played, and
    remarks."""

    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """One of the paper's tables, for any family of runs."""

    #: What ``--tables`` calls it.
    name: str
    title: str
    #: The agents that it needs.
    agents: Callable[[Members], Sequence[str]]
    render: Callable[[FamilyResults], Content]

    def markdown(self, content: Content) -> str:
        """Print what it shows below its title."""
        remarks = "\n".join(f"* {line}" for line in content.notes)
        grids = (grid.markdown() for grid in content.grids)
        return "\n\n".join([f"## {self.title}", *grids, *([remarks] if remarks else [])])


def table(
    name: str, title: str, agents: Callable[[Members], Sequence[str]]
) -> Callable[[Callable[[FamilyResults], Content]], Table]:
    """Make the function below a table: it fills the cells."""
    return lambda render: Table(name, title, agents, render)
