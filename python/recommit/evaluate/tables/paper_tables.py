"""All or some of the paper's tables from one evaluation of a family of runs (see ``family``).

Each table lists the agents that it needs; only those are played. Cells of missing runs hold a dash.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from recommit.evaluate.tables import behaviour, main_results
from recommit.evaluate.tables.table import FILE, PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.evaluate.family import FamilyResults, Members
    from recommit.evaluate.store import EvaluationStore

_ORDER = (
    *(main_results.main, main_results.sweep, main_results.ablation, main_results.single),
    *(
        behaviour.state,
        behaviour.difficulty,
        behaviour.emergence,
        behaviour.efficiency,
        behaviour.depths,
        behaviour.entropy,
    ),
    *(behaviour.seeds, behaviour.budgets),
    *(
        main_results.oracle,
        main_results.pareto,
        main_results.heads,
        main_results.cumulative_ablation,
        main_results.zero_shot,
    ),
)
TABLES = {table.name: table for table in _ORDER}


def check(names: Sequence[str]) -> tuple[str, ...]:
    """Validate names of tables; an empty list stands for all of them."""
    wrong = [name for name in names if name not in TABLES]
    if wrong:
        raise ValueError(f"tables: expected names of {', '.join(TABLES)}, got {wrong[0]}")
    return tuple(names) or tuple(TABLES)


def agents_of(members: Members, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Agents that the tables need, adaptive first."""
    needed = (agent for name in check(names) for agent in TABLES[name].agents(members))
    return tuple(dict.fromkeys(("adaptive", *needed)))


def write(store: EvaluationStore, results: FamilyResults, names: Sequence[str] = ()) -> str:
    """Render the tables (no names: all) and write them into an evaluation's folder as JSON and Markdown; returns the
    Markdown."""
    filled = [(TABLES[name], TABLES[name].render(results)) for name in check(names)]
    title = f"{results.task.capitalize()}: the paper's tables, on {results.split}"
    text = "\n".join([f"# {title}\n", *(f"{table.markdown(content)}\n" for table, content in filled)])
    tables = [
        {"name": table.name, "title": table.title, "grids": [*map(asdict, content.grids)], "notes": content.notes}
        for table, content in filled
    ]
    store.write_json(FILE, {"title": title, "tables": tables})
    store.write_page(PAGE, text)
    return text


def write_plain(store: EvaluationStore, text: str) -> str:
    """Write the page of an evaluation without the paper's tables, remove those of an earlier call; returns the text."""
    store.remove(FILE)
    store.write_page(PAGE, text)
    return text
