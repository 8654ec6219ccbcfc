"""Evaluations of several seeds of one family, taken together: one row per agent, whichever seed trained it.

Every seed's adaptive policy is compared with the agents of its own seed, on the same instances. The interval is over
instances (over rooms, where the data keeps rooms apart), of the mean over seeds; how far seeds lie apart stands beside
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import stats
from recommit.data.table import pa, parsed
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.text import Grid
from recommit.paper.agent_words import readable
from recommit.storage import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The agents of the table, in its order: a pattern of names without folders and seeds.
ROWS = (
    "adaptive",
    "adaptive-memory",
    "sampled",
    "shuffled",
    "mixture",
    "random",
    "fixed-[1248]",
    "fixed-[1-8]@fixed-[1-8]",
    "random@random",
    "adaptive@depth-only",
    "adaptive@paper",
    "shuffled@paper",
    "fixed-[1-8]@init",
    "oracle-dp",
)
HEAD = ("agent", "seeds", "solved %", "actions", "adaptive is ahead, points", "95 %", "by seed", "its actions", "95 %")


@dataclass(frozen=True)
class Seen:
    """One agent under one budget in one evaluation, per instance (means over its draws)."""

    solved: NDArray[np.float64]
    actions: NDArray[np.float64]
    rooms: NDArray[np.int64] | None  #: which instances are in the same room


def kind(agent: str) -> str:
    """An agent's name without the folder and the seed of the run whose policy it asks: ``fixed-4@fixed-4``."""
    name = AgentName.parse(agent)
    return str(replace(name, run=re.sub(r"-s[0-9]+$", "", PurePath(name.run).name)))


def seed_of(run: str) -> str:
    """At the end of a run's name; empty if there is none."""
    match = re.search(r"-s([0-9]+)$", PurePath(run).name)
    return match[1] if match else ""


def read(folder: str | Path) -> dict[tuple[str, str], Seen]:
    """By kind of agent and budget, without runs of other seeds than the evaluation's own."""
    own = seed_of(_spec(folder)["run"])
    rooms = rooms_of(folder)
    table = _table(folder, "episodes.parquet", ("seed", "instance", "solved", "actions", "agent", "budget"))
    columns = {name: table[name].to_numpy() for name in ("seed", "instance", "solved", "actions")}
    agents, budgets = (np.array(table[name].to_pylist(), object) for name in ("agent", "budget"))
    by_kind: dict[tuple[str, str], Seen] = {}
    for agent, budget in dict.fromkeys(zip(agents.tolist(), budgets.tolist(), strict=True)):
        if own and seed_of(AgentName.parse(agent).run) not in ("", own):
            continue
        rows = np.flatnonzero((agents == agent) & (budgets == budget))
        count = int(columns["instance"][rows].max()) + 1
        order = rows[np.lexsort((columns["instance"][rows], columns["seed"][rows]))]
        solved, actions = (
            columns[n][order].astype(np.float64).reshape(-1, count).mean(axis=0) for n in ("solved", "actions")
        )
        by_kind.setdefault((kind(agent), budget), Seen(solved, actions, rooms))
    return by_kind


def rooms_of(folder: str | Path) -> NDArray[np.int64] | None:
    """One number per instance, where the data keeps rooms apart."""
    table = _table(folder, "instances.parquet")
    return table["room"].to_numpy() if "room" in table.column_names else None


def _spec(folder: str | Path) -> dict[str, Any]:
    return reading.values(Path(folder), "plan.json", {"run": str, "test_set": str, "budgets": list})


def _table(folder: str | Path, name: str, columns: Sequence[str] = ()) -> pa.Table:
    path = Path(folder) / name
    table = parsed(path, reading.content(Path(folder), name))
    if missing := sorted(set(columns) - set(table.column_names)):
        raise ValueError(f"{path}: expected the column {missing[0]}, got {', '.join(table.column_names)}")
    return table


def together(folders: Sequence[str | Path]) -> str:
    """Print the table as Markdown: a block per budget."""
    title = "# One seed" if len(folders) == 1 else f"# {len(folders)} seeds together"
    blocks = [f"## {budget.capitalize()} budget\n\n{grid.markdown()}" for budget, grid in grids(folders).items()]
    return "\n\n".join([title, *blocks]) + "\n"


def grids(folders: Sequence[str | Path]) -> dict[str, Grid]:
    """The table under every budget."""
    specs = [_spec(folder) for folder in folders]
    if any(spec["test_set"] != specs[0]["test_set"] for spec in specs):
        raise ValueError(f"folders: expected evaluations on one test set, got {len(folders)} that differ")
    seen = [read(folder) for folder in folders]
    for folder, one in zip(folders, seen, strict=True):
        if missing := [budget for budget in specs[0]["budgets"] if ("adaptive", budget) not in one]:
            raise ValueError(f"folders: expected evaluations of adaptive, got {folder} without it under {missing[0]}")
    return {budget: _grid(seen, budget) for budget in specs[0]["budgets"]}


def _grid(seen: list[dict[tuple[str, str], Seen]], budget: str) -> Grid:
    paired = {agent: _pairs(seen, agent, budget) for agent in _order(seen)}
    return Grid.of(HEAD, [_line(agent, pairs) for agent, pairs in paired.items() if pairs])


def _order(seen: list[dict[tuple[str, str], Seen]]) -> list[str]:
    """Agents that have a row."""
    every = dict.fromkeys(agent for one in seen for agent, _ in one)
    return [agent for row in ROWS for agent in every if re.fullmatch(row, agent)]


def _pairs(seen: list[dict[tuple[str, str], Seen]], agent: str, budget: str) -> list[tuple[Seen, Seen]]:
    """Adaptive and the other, of every seed that has both."""
    return [(one["adaptive", budget], one[agent, budget]) for one in seen if (agent, budget) in one]


def _line(agent: str, pairs: list[tuple[Seen, Seen]]) -> list[str]:
    words = readable(AgentName.parse(agent))
    shown = [f"{value:.1f}" for value in (100 * _mean(pairs, "solved"), _mean(pairs, "actions"))]
    if agent == "adaptive":
        rates = ", ".join(f"{100 * own.solved.mean():.1f} at {own.actions.mean():.1f}" for own, _ in pairs)
        return [words, str(len(pairs)), *shown, "", "", rates, "", ""]
    points, more = (_ahead(pairs, name) for name in ("solved", "actions"))
    by_seed = ", ".join(f"{100 * (own.solved - other.solved).mean():+.1f}" for own, other in pairs)
    return [words, str(len(pairs)), *shown, *_interval(points, 100), by_seed, *_interval(more, 1)]


def _mean(pairs: list[tuple[Seen, Seen]], name: str) -> float:
    return float(np.mean([getattr(other, name).mean() for _, other in pairs]))


def _ahead(pairs: list[tuple[Seen, Seen]], name: str) -> stats.Interval:
    each = np.mean([getattr(own, name) - getattr(other, name) for own, other in pairs], axis=0)
    return stats.bootstrap(each, pairs[0][0].rooms)


def _interval(interval: stats.Interval, times: float) -> list[str]:
    return [f"{times * interval.mean:+.1f}", f"{times * interval.low:+.1f} .. {times * interval.high:+.1f}"]
