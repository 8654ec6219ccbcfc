"""Every table of the paper from one evaluation of a family of runs (see ``members``), or some of them.

A table says which agents it needs; only those are played. What was not run is said to be missing, never filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.evaluate import behaviour_tables, paper, results_tables, training_tables
from recommit.evaluate.members import Found, Members
from recommit.evaluate.results_tables import DRAWN
from recommit.train.rundir import recipe_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Table:
    """One of them."""

    title: str
    make: Callable[[Found], str]
    agents: Callable[[Members], Sequence[str]]


TABLES = {
    "main": Table("Main table", results_tables.main_table, results_tables.fixed),
    "sweep": Table("Sweep of fixed depths", results_tables.sweep, results_tables.sweeping),
    "ablation": Table("Ablation", results_tables.ablation, results_tables.reduced),
    "single": Table("Trained at one depth alone", results_tables.single, results_tables.lonely),
    "state": Table(
        "Depth by distance", behaviour_tables.state_dependence, lambda _members: ("adaptive", DRAWN, "shuffled")
    ),
    "emergence": Table("Depths in the course of training", training_tables.emergence, training_tables.growing),
    "efficiency": Table("Efficiency", behaviour_tables.efficiency, results_tables.fixed),
    "depths": Table("Shares of the depths", behaviour_tables.shares, lambda _members: ("adaptive", DRAWN)),
    "entropy": Table("Entropy", training_tables.entropy, lambda _members: ("adaptive",)),
    "seeds": Table("Seeds", training_tables.seeds, training_tables.sown),
    "budgets": Table("Training budgets", training_tables.training_budgets, training_tables.budgeted),
    "oracle": Table("Oracle", results_tables.oracle, results_tables.knowing),
    "pareto": Table("Pareto", results_tables.fronts, results_tables.frontier),
    "zero-shot": Table("Zero-shot models", results_tables.zero_shot, results_tables.asked),
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
    return recipe_of(members.adaptive).task in paper.ABLATION


def require_paper(members: Members) -> None:
    """Refuse a puzzle that the paper does not have, before anybody plays."""
    if not in_paper(members):
        known, task = " or ".join(paper.ABLATION), recipe_of(members.adaptive).task
        raise ValueError(f"paper: expected runs of {known}, which the paper has, got {task}")


def agents_of(members: Members, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Whom the tables need, adaptive first."""
    needed = (agent for name in check(names) for agent in TABLES[name].agents(members))
    return tuple(dict.fromkeys(("adaptive", *needed)))


def write(found: Found, names: Sequence[str] = ()) -> str:
    """The tables, as Markdown."""
    parts = [f"# {found.task.capitalize()}: the paper's tables\n"]
    parts += [f"## {TABLES[name].title}\n\n{TABLES[name].make(found)}\n" for name in check(names)]
    return "\n".join(parts)
