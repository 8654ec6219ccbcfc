"""Tables of an evaluation as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.options import split_words
from recommit.results.intervals import Interval
from recommit.results.table import NONE, Grid, ends, figure, number, pareto, percent, spread, undominated
from recommit.storage import verified
from recommit.storage.terminal_text import cell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Row = dict[str, Any]

#: Columns of an evaluation's table.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "agent": lambda row: row["agent"],
    "solved %": lambda row: percent(row["solve_rate"]),
    "95 %": lambda row: ends(row["solve_low"], row["solve_high"], scale=100.0),
    "actions": lambda row: number(row["actions_per_episode"]),
    "observations": lambda row: number(row["decisions_per_episode"]),
    "SPL": lambda row: percent(row["spl"]),
    "lost %": lambda row: percent(row["lost"]),
    "depth": lambda row: number(row["mean_depth"]),
}
#: Columns that appear only if some row has the field: the field, and the function that fills the cell.
SOMETIMES: dict[str, tuple[str, Callable[[Row], str]]] = {
    "value, points (95 %)": ("value", lambda row: figure(row, "value", 1, 100.0)),
    "gain share (95 %)": ("gain", lambda row: figure(row, "gain", 2)),
    "threshold": ("threshold", lambda row: f"{row['threshold']:.3g}" if "threshold" in row else NONE),
    "cell px": ("model", lambda row: str(row.get("cell", NONE))),  # where a model sees pictures of its own size
    "MFLOP / observation": ("mflops", lambda row: f"{row['mflops']:,.3g}" if "mflops" in row else NONE),
    "MFLOP / episode": (
        "mflops",
        lambda row: number(row["mflops"] * row["decisions_per_episode"]) if "mflops" in row else NONE,
    ),
}
_DIFFERENCES = (
    "against: the first agent minus the row, of these very policies: intervals are over instances, and p is that of "
    "the interval of solved; dominates: not worse in either and better in one, and a yes alone has both intervals on "
    "its side."
)


def summary_text(summary: list[Row], folder: Path) -> str:
    """The tables of an evaluation."""
    return main_table(summary) + "\n" + comparisons(verified.rows(folder, "comparisons.json"))


def main_table(summary: list[Row]) -> str:
    """Main table of an evaluation, one block per budget."""
    blocks = []
    for budget in dict.fromkeys(row["budget"] for row in summary):
        rows = [row for row in summary if row["budget"] == budget]
        first = rows[0]
        title = f"{first['task']}, {budget} budget: K = {first['decisions']}, {first['instances']} instances of "
        title += first.get("split", split_words())
        extra = {name: fill for name, (key, fill) in SOMETIMES.items() if any(key in row for row in rows)}
        blocks.append(f"{title}\n\n{Grid.by({**_COLUMNS, **extra}, rows).markdown()}\n\n{limits(rows)}")
    return "\n\n".join(blocks) + "\n"


def limits(rows: list[Row]) -> str:
    """Fixed depths that the first agent cannot dominate, by arithmetic alone, and the Pareto front."""
    first = rows[0]
    never = undominated(first["decisions"], first["actions_per_episode"], tuple(range(1, 9)))
    spared = ", ".join(f"h={depth}" for depth in never) or "none"
    front = pareto({row["agent"]: (row["solve_rate"], row["actions_per_episode"]) for row in rows})
    return (
        f"Fixed depths that {cell(first['agent'])} cannot dominate, since they never spend as many actions: {spared}.\n"
        f"Pareto front: {', '.join(map(cell, front))}."
    )


def comparisons(compared: list[Row]) -> str:
    """Paired differences of the first agent."""
    columns: dict[str, Callable[[Row], str]] = {
        "against": lambda one: one["against"],
        "budget": lambda one: one["budget"],
        "solved, points (95 %)": lambda one: _less(one, "solve", 1, 100.0),
        "actions (95 %)": lambda one: _less(one, "actions"),
        "p of solved": lambda one: f"{one['solve_difference']['p']:.2g}",
        "dominates": dominance,
    }
    if any("value_difference" in one for one in compared):
        columns["value, points (95 %)"] = lambda one: _less(one, "value", 1, 100.0)
    return Grid.by(columns, compared).markdown() + "\n" + (f"\n{_DIFFERENCES}\n" if compared else "")


def _less(one: Row, name: str, digits: int = 1, scale: float = 1.0) -> str:
    return spread(Interval.of(one[f"{name}_difference"]), digits, scale, sign=True)


def dominance(one: Row) -> str:
    """Whether the first agent dominates the other one, and how many of the two intervals include 0."""
    if not one["dominates"]:
        return "no"
    solved, actions = (Interval.of(one[f"{name}_difference"]) for name in ("solve", "actions"))
    include = (solved.sign <= 0) + (actions.sign >= 0)
    return ("yes", "yes, one interval includes 0", "yes, both intervals include 0")[include]


def beside(reported: float | None, ours: float | None, digits: int = 1) -> list[str]:
    """Cells: paper, ours, difference; a dash for a missing value."""
    return [number(reported, digits), number(ours, digits), number(less(ours, reported), digits, sign=True)]


def short(row: Row | None) -> str:
    """An agent's name without its folder and its augmentations."""
    return "no run" if row is None else AgentName.parse(row["agent"]).base


def of(row: Row | None, *path: str) -> Any:
    """Nested field of a row; None if the row or a level is None."""
    for key in path:
        row = None if row is None else row[key]
    return row


def hundred(row: Row | None, field: str = "solve_rate") -> float | None:
    """Field of a row in per cent; None if it is missing."""
    return None if row is None or row[field] is None else 100 * float(row[field])


def less(one: float | None, other: float | None) -> float | None:
    """Difference ``one - other``; None if either is None."""
    return None if one is None or other is None else one - other
