"""Every table of the paper from one evaluation of a family of runs (see ``members``), or some of them.

A table says which agents it needs; only those are played. What was not run is said to be missing, never filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.paper import printed
from recommit.paper.family import FamilyResults, Members
from recommit.paper.tables import behaviour, results, training
from recommit.paper.tables.results import DRAWN
from recommit.runs.directory import recipe_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Table:
    """One of them."""

    title: str
    make: Callable[[FamilyResults], str]
    agents: Callable[[Members], Sequence[str]]


TABLES = {
    "main": Table("Main table", results.main_table, results.fixed),
    "sweep": Table("Sweep of fixed depths", results.sweep, results.sweeping),
    "ablation": Table("Ablation", results.ablation, results.reduced),
    "single": Table("Trained at one depth alone", results.single, results.lonely),
    "state": Table("Depth by distance", behaviour.state_dependence, lambda _members: ("adaptive", DRAWN, "shuffled")),
    "emergence": Table("Depths in the course of training", training.emergence, training.growing),
    "efficiency": Table("Efficiency", behaviour.efficiency, results.fixed),
    "depths": Table("Shares of the depths", behaviour.shares, lambda _members: ("adaptive", DRAWN)),
    "entropy": Table("Entropy", training.entropy, lambda _members: ("adaptive",)),
    "seeds": Table("Seeds", training.seeds, training.sown),
    "budgets": Table("Training budgets", training.training_budgets, training.budgeted),
    "oracle": Table("Oracle", results.oracle, results.knowing),
    "pareto": Table("Pareto", results.fronts, results.frontier),
    "zero-shot": Table("Zero-shot models", results.zero_shot, results.asked),
}
#: Those that need no other seed's runs, nor those that are made with one seed alone.
OF_ONE_SEED = ("main", "sweep", "ablation", "state", "efficiency", "depths", "entropy", "oracle", "pareto")


def check(names: Sequence[str]) -> tuple[str, ...]:
    """Names of tables; all of them for none."""
    wrong = [name for name in names if name not in TABLES]
    if wrong:
        raise ValueError(f"tables: expected names of {', '.join(TABLES)}, got {wrong[0]}")
    return tuple(names) or tuple(TABLES)


def in_paper(members: Members) -> bool:
    """Whether the paper has figures for this family's puzzle."""
    return recipe_of(members.adaptive).task in printed.ABLATION


def require_paper(members: Members) -> None:
    """Refuse a puzzle that the paper does not have, before anybody plays."""
    if not in_paper(members):
        puzzles, task = " or ".join(printed.ABLATION), recipe_of(members.adaptive).task
        raise ValueError(f"paper: expected runs of {puzzles}, which the paper has, got {task}")


def agents_of(members: Members, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Whom the tables need, adaptive first."""
    needed = (agent for name in check(names) for agent in TABLES[name].agents(members))
    return tuple(dict.fromkeys(("adaptive", *needed)))


def write(found: FamilyResults, names: Sequence[str] = ()) -> str:
    """The tables, as Markdown."""
    parts = [f"# {found.task.capitalize()}: the paper's tables\n"]
    parts += [f"## {TABLES[name].title}\n\n{TABLES[name].make(found)}\n" for name in check(names)]
    return "\n".join(parts)
