"""A table of the paper: the agents that it needs, and the function that fills it.

A ``Table`` turns the figures of a family of runs into ``Content``. An evaluation prints this as Markdown and writes it
as ``tables.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from recommit.results.table import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.evaluate.family import FamilyResults, Members

#: Files of an evaluation that hold the tables, as JSON and as Markdown.
FILE, PAGE = "tables.json", "tables.md"


class Content(NamedTuple):
    """Content of a table: grids, with a dash where nothing was played, and remarks."""

    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """One of the paper's tables, for any family of runs."""

    #: Its name in ``--tables``.
    name: str
    title: str
    #: The agents that it needs.
    agents: Callable[[Members], Sequence[str]]
    render: Callable[[FamilyResults], Content]

    def markdown(self, content: Content) -> str:
        """Title, grids and remarks as Markdown."""
        remarks = "\n".join(f"* {line}" for line in content.notes)
        grids = (grid.markdown() for grid in content.grids)
        return "\n\n".join([f"## {self.title}", *grids, *([remarks] if remarks else [])])


def table(
    name: str, title: str, agents: Callable[[Members], Sequence[str]]
) -> Callable[[Callable[[FamilyResults], Content]], Table]:
    """Decorator: make a ``Table`` of the function that fills its cells."""
    return lambda render: Table(name, title, agents, render)
