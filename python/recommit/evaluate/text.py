"""Figures as text that a person reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.options import split_words
from recommit.storage import verified
from recommit.storage.terminal_text import cell, grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Column heads and how a summary row fills them.
_COLUMNS = ("agent", "solved %", "95 %", "actions", "observations", "SPL", "lost %", "depth")
#: Further ones where actions or observations have a price.
_VALUE = ("value", "95 %")


@dataclass(frozen=True)
class Grid:
    """A table: its head and its rows, all text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, head: str | Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
        """Take any sequences, or a head as it is printed: ``a | b``."""
        return cls(tuple(head.split(" | ") if isinstance(head, str) else head), tuple(map(tuple, rows)))

    def markdown(self) -> str:
        """Print it."""
        return grid(self.head, self.rows)


def summary_text(summary: list[dict[str, Any]], folder: Path) -> str:
    """What an evaluation says."""
    compared = verified.rows(folder, "comparisons.json")
    run = verified.values(folder, "plan.json")["run"]
    costs = verified.values(folder, "compute.json") if (folder / "compute.json").is_file() else {}
    return main_table([_with_compute(row, costs, run) for row in summary]) + "\n" + comparisons(compared)


def _with_compute(row: dict[str, Any], costs: dict[str, Any], own: str) -> dict[str, Any]:
    """A row and what an observation costs its policy, where that was measured."""
    agent = AgentName.parse(row["agent"])
    name = str(AgentName("", agent.run or own, agent.augmentations))
    return {**row, "mflops": costs[name]["flops"] / 1e6} if agent.asks_policy and name in costs else row


def main_table(summary: list[dict[str, Any]]) -> str:
    """One block per budget."""
    blocks = []
    for budget in dict.fromkeys(row["budget"] for row in summary):
        rows = [row for row in summary if row["budget"] == budget]
        first = rows[0]
        title = f"{first['task']}, {budget} budget: K = {first['decisions']}, {first['instances']} instances of "
        title += first.get("split", split_words())
        extra = [(names, fill) for names, key, fill in _SOMETIMES if any(key in row for row in rows)]
        head = [*_COLUMNS, *(name for names, _ in extra for name in names)]
        cells = [[*_cells(row), *(text for _, fill in extra for text in fill(row))] for row in rows]
        blocks.append(title + "\n\n" + grid(head, cells) + "\n\n" + limits(rows))
    return "\n\n".join(blocks) + "\n"


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        row["agent"],
        percent(row["solve_rate"]),
        f"{percent(row['solve_low'])} .. {percent(row['solve_high'])}",
        number(row["actions_per_episode"]),
        number(row["decisions_per_episode"]),
        percent(row["spl"]),
        percent(row["lost"]),
        number(row["mean_depth"]),
    ]


def with_interval(row: dict[str, Any] | None, key: str, digits: int) -> tuple[str, str]:
    """A figure and its interval; dashes where the row has none."""
    if row is None or row.get(key) is None:
        return "-", "-"
    return f"{row[key]:.{digits}f}", f"{row[f'{key}_low']:.{digits}f} .. {row[f'{key}_high']:.{digits}f}"


#: Column heads that stand only where some row has the figure, the figure, and how a row fills them.
_SOMETIMES = (
    (_VALUE, "value", lambda row: with_interval(row, "value", 3)),
    (("gain share", "95 %"), "gain", lambda row: with_interval(row, "gain", 2)),
    (("threshold",), "threshold", lambda row: [f"{row['threshold']:.3g}" if "threshold" in row else "-"]),
    (("cell px",), "model", lambda row: [str(row.get("cell", "-"))]),  # where a model sees pictures of its own size
    (("MFLOP / observation",), "mflops", lambda row: [f"{row['mflops']:,.3g}" if "mflops" in row else "-"]),
)


def limits(rows: list[dict[str, Any]]) -> str:
    """Which fixed depths the first agent cannot dominate, by arithmetic alone, and the Pareto front."""
    first = rows[0]
    never = metrics.undominated(first["decisions"], first["actions_per_episode"], tuple(range(1, 9)))
    spared = ", ".join(f"h={depth}" for depth in never) or "none"
    points = [metrics.ParetoPoint(r["agent"], r["solve_rate"], r["actions_per_episode"]) for r in rows]
    return (
        f"Fixed depths that {cell(first['agent'])} cannot dominate, since they never spend as many actions: {spared}.\n"
        f"Pareto front: {', '.join(cell(point.name) for point in metrics.pareto_front(points))}."
    )


def comparisons(compared: list[dict[str, Any]]) -> str:
    """Paired differences of the first agent."""
    head = ("against", "budget", "solved, points", "95 %", "actions", "95 %", "McNemar p", "dominates")
    rows = []
    for one in compared:
        solved, actions, p = one["solve_difference"], one["actions_difference"], one["mcnemar_p"]
        rows.append(
            (
                one["against"],
                one["budget"],
                f"{100 * solved['mean']:+.1f}",
                f"{100 * solved['low']:+.1f} .. {100 * solved['high']:+.1f}",
                f"{actions['mean']:+.1f}",
                f"{actions['low']:+.1f} .. {actions['high']:+.1f}",
                "-" if p is None else f"{p:.2g}",
                dominance(one),
                *_value_difference(one.get("value_difference")),
            )
        )
    priced = any("value_difference" in one for one in compared)
    return grid((*head, *(_VALUE if priced else ())), rows) + "\n" + (f"\n{_DIFFERENCES}\n" if rows else "")


_DIFFERENCES = (
    "against: the first agent minus the row; dominates: not worse in either and better in one, and a yes alone has "
    "both intervals on its side."
)


def dominance(one: dict[str, Any]) -> str:
    """Does the first agent dominate another, and how many of the two intervals leave that open?"""
    if not one["dominates"]:
        return "no"
    if one["dominates_significantly"]:
        return "yes"
    include = (one["solve_difference"]["low"] <= 0) + (one["actions_difference"]["high"] >= 0)
    return ("yes, of one instance or room", "yes, one interval includes 0", "yes, both intervals include 0")[include]


def _value_difference(difference: dict[str, float] | None) -> tuple[str, ...]:
    """Nothing where nothing has a price."""
    if difference is None:
        return ()
    return (f"{difference['mean']:+.3f}", f"{difference['low']:+.3f} .. {difference['high']:+.3f}")


def percent(value: float | None) -> str:
    """One digit after the point."""
    return "-" if value is None else f"{100 * value:.1f}"


def number(value: float | None) -> str:
    """One digit after the point."""
    return "-" if value is None else f"{value:.1f}"


def beside(reported: float | None, ours: float | None, digits: int = 1) -> list[str]:
    """paper, ours, difference; a dash where there is none."""
    cells = ["-" if value is None else f"{value:.{digits}f}" for value in (reported, ours)]
    return [*cells, "-" if reported is None or ours is None else f"{ours - reported:+.{digits}f}"]


def short(row: dict[str, Any] | None) -> str:
    """An agent's name without its folder and its augmentations."""
    return "no run" if row is None else AgentName.parse(row["agent"]).base


def of(row: dict[str, Any] | None, *path: str) -> Any:
    """A figure, None of a row that is not there."""
    for key in path:
        row = None if row is None else row[key]
    return row


def hundred(row: dict[str, Any] | None, field: str = "solve_rate") -> float | None:
    """Per cent."""
    return None if row is None or row[field] is None else 100 * float(row[field])


def less(one: float | None, other: float | None) -> float | None:
    """The difference, None unless both are there."""
    return None if one is None or other is None else one - other
