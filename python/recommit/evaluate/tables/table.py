"""What every table of the paper is here: who is played for it, what it shows, and how to make the runs that it lacks.

A ``Table`` turns the figures of a family of runs into a ``FilledTable``. An evaluation prints those as Markdown and
writes them as ``tables.json``, which a report reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from recommit.evaluate.text import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.evaluate.family import FamilyResults, Members

#: The file of an evaluation that holds the tables, and the same for a person.
FILE, PAGE = "tables.json", "tables.md"


class Content(NamedTuple):
    """What a table shows of the runs that are there."""

    grids: tuple[Grid, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FilledTable:
    """One table with its figures, as text."""

    name: str
    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    #: Which runs it lacks, and the commands that make them.
    missing: tuple[str, ...]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> FilledTable:
        """Read a table of ``tables.json``."""
        grids = tuple(Grid.of(grid["head"], grid["rows"]) for grid in values["grids"])
        return cls(values["name"], values["title"], grids, tuple(values["notes"]), tuple(values["missing"]))

    def to_dict(self) -> dict[str, Any]:
        """Write it for ``tables.json``."""
        return asdict(self)

    def markdown(self) -> str:
        """Print it below its title."""
        remarks = "\n".join(f"* {line}" for line in (*self.notes, *self.missing))
        return "\n\n".join(
            [f"## {self.title}", *(grid.markdown() for grid in self.grids), *([remarks] if remarks else [])]
        )


@dataclass(frozen=True)
class PaperTables:
    """The tables of one evaluation."""

    title: str
    tables: tuple[FilledTable, ...]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PaperTables:
        """Read ``tables.json``."""
        return cls(values["title"], tuple(FilledTable.from_dict(table) for table in values["tables"]))

    def to_dict(self) -> dict[str, Any]:
        """Write ``tables.json``."""
        return {"title": self.title, "tables": [table.to_dict() for table in self.tables]}

    def markdown(self) -> str:
        """Print them."""
        return "\n".join([f"# {self.title}\n", *(f"{table.markdown()}\n" for table in self.tables)])


class Table(ABC):
    """One of the paper's tables, for one family of runs."""

    #: What ``--tables`` calls it.
    name: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, members: Members) -> None:
        self.members = members

    @abstractmethod
    def agents(self) -> Sequence[str]:
        """Who has to be played for it."""

    @abstractmethod
    def render(self, results: FamilyResults) -> Content:
        """Write its cells and remarks; a dash stands where nothing was played."""

    def missing(self) -> list[str]:
        """Name the runs that it lacks, each with the command that makes it."""
        return []

    def filled(self, results: FamilyResults) -> FilledTable:
        """Everything that there is to see of it."""
        content = self.render(results)
        return FilledTable(self.name, self.title, content.grids, content.notes, tuple(self.missing()))
