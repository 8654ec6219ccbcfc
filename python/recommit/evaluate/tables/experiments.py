"""Every table of the paper from one evaluation of a family of runs (see ``members``), or some of them.

A table says which agents it needs; only those are played. What was not run is said to be missing, never filled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.evaluate import reported
from recommit.evaluate.tables.ablations import Ablation, CumulativeAblation
from recommit.evaluate.tables.behaviour import DepthShares, Efficiency, StateDependence
from recommit.evaluate.tables.pareto import Heads, Oracle, Pareto, ZeroShotModels
from recommit.evaluate.tables.solving import FixedDepths, Main, OneDepth
from recommit.evaluate.tables.table import FILE, PAGE, PaperTables
from recommit.evaluate.tables.training import Emergence, Entropy, Seeds, TrainingBudgets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.evaluate.family import FamilyResults, Members
    from recommit.evaluate.store import EvaluationStore
    from recommit.evaluate.tables.table import Table

_ORDER: tuple[type[Table], ...] = (
    Main,
    FixedDepths,
    Ablation,
    OneDepth,
    StateDependence,
    Emergence,
    Efficiency,
    DepthShares,
    Entropy,
    Seeds,
    TrainingBudgets,
    Oracle,
    Pareto,
    Heads,
    CumulativeAblation,
    ZeroShotModels,
)
TABLES = {table.name: table for table in _ORDER}
#: Those that need no other seed's runs, nor those that are made with one seed alone.
OF_ONE_SEED = tuple(n for n in TABLES if n not in ("single", "emergence", "seeds", "budgets", "zero-shot"))


def check(names: Sequence[str]) -> tuple[str, ...]:
    """Names of tables; all of them for none."""
    wrong = [name for name in names if name not in TABLES]
    if wrong:
        raise ValueError(f"tables: expected names of {', '.join(TABLES)}, got {wrong[0]}")
    return tuple(names) or tuple(TABLES)


def in_paper(members: Members) -> bool:
    """Whether the paper has figures for this family's puzzle."""
    return members.task in reported.ABLATION


def require_paper(members: Members) -> None:
    """Refuse a puzzle that the paper does not have, before anybody plays."""
    if not in_paper(members):
        raise ValueError(
            f"paper: expected runs of {' or '.join(reported.ABLATION)}, which the paper has, got {members.task}"
        )


def agents_of(members: Members, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Whom the tables need, adaptive first."""
    needed = (agent for name in check(names) for agent in TABLES[name](members).agents())
    return tuple(dict.fromkeys(("adaptive", *needed)))


def fill(results: FamilyResults, names: Sequence[str] = ()) -> PaperTables:
    """Fill the tables; all for no names."""
    filled = (TABLES[name](results.members).filled(results) for name in check(names))
    title = f"{results.task.capitalize()}: the paper's tables, on {results.split}"
    return PaperTables(title, tuple(filled))


def write(store: EvaluationStore, results: FamilyResults, names: Sequence[str] = ()) -> str:
    """Write the tables into an evaluation's folder, for programs and for people; the text."""
    tables = fill(results, names)
    store.write_json(FILE, tables.to_dict())
    store.write_page(PAGE, tables.markdown())
    return tables.markdown()


def write_plain(store: EvaluationStore, text: str) -> str:
    """Write what an evaluation says that is not compared with the paper's; tables of an earlier call go. The text."""
    store.remove(FILE)
    store.write_page(PAGE, text)
    return text
