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
from recommit.evaluate.agent_words import readable
from recommit.evaluate.spec import split_words
from recommit.evaluate.text import Grid
from recommit.graph.gain import gain_interval
from recommit.graph.prices import Prices
from recommit.storage import verified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Who has the best depths for its plans.
CEILING = "oracle-dp"
#: The agents of the table, in its order: a pattern of names without folders and seeds.
ROWS = (
    "adaptive",
    "adaptive@stakes",
    "adaptive@foresight",
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
    "confidence-entropy(@foresight)?",
    "fixed-[1-8]@foresight",
    "oracle-dp(@foresight)?",
)
HEAD = ("agent", "seeds", "solved %", "actions", "adaptive is ahead, points", "95 %", "by seed", "its actions", "95 %")
#: Further columns, where every seed's evaluation has what they need.
VALUE, GAIN = ("value", "95 %"), ("gain share", "95 %")


@dataclass(frozen=True)
class Seen:
    """One agent under one budget in one evaluation, per instance (means over its draws)."""

    solved: NDArray[np.float64]
    actions: NDArray[np.float64]
    rooms: NDArray[np.int64] | None  #: which instances are in the same room
    worth: NDArray[np.float64]  #: value at the evaluation's prices; solved where nothing has a price
    priced: bool
    #: The constant and the ceiling that gain share is between, by kind; None where the evaluation has none.
    ends: tuple[str, str] | None = None


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
    spec, rooms, ends = _spec(folder), rooms_of(folder), _ends(folder)
    own, prices = seed_of(spec["run"]), _prices(spec)
    names = ("seed", "instance", "solved", "actions", *(("decisions",) if prices.observation else ()))
    table = _table(folder, "episodes.parquet", (*names, "agent", "budget"))
    columns = {name: table[name].to_numpy() for name in names}
    agents, budgets = (np.array(table[name].to_pylist(), object) for name in ("agent", "budget"))
    by_kind: dict[tuple[str, str], Seen] = {}
    for agent, budget in dict.fromkeys(zip(agents.tolist(), budgets.tolist(), strict=True)):
        if own and seed_of(AgentName.parse(agent).run) not in ("", own):
            continue
        rows = np.flatnonzero((agents == agent) & (budgets == budget))
        count = int(columns["instance"][rows].max()) + 1
        order = rows[np.lexsort((columns["instance"][rows], columns["seed"][rows]))]
        means = {n: columns[n][order].astype(np.float64).reshape(-1, count).mean(axis=0) for n in names[2:]}
        worth = prices.returns(means["solved"], means["actions"], means.get("decisions", 0.0))
        seen = Seen(means["solved"], means["actions"], rooms, worth, prices != Prices(), ends.get((agent, budget)))
        by_kind.setdefault((kind(agent), budget), seen)
    return by_kind


def _prices(spec: dict[str, Any]) -> Prices:
    return Prices(spec.get("price_action", 0.0), spec.get("price_observation", 0.0))


def _ends(folder: str | Path) -> dict[tuple[str, str], tuple[str, str]]:
    """By agent and budget: the kinds of the constant and of the ceiling of its plans, where the summary names them."""
    if not verified.exists(Path(folder), "summary.json"):
        return {}
    rows = [row for row in verified.rows(Path(folder), "summary.json") if row.get("gain_constant")]
    return {(row["agent"], row["budget"]): (kind(row["gain_constant"]), kind(_ceiling(row))) for row in rows}


def _ceiling(row: dict[str, Any]) -> str:
    """That of its plans; older summaries say none, where it was of the same run."""
    return str(row.get("gain_ceiling") or replace(AgentName.parse(row["agent"]), base=CEILING))


def rooms_of(folder: str | Path) -> NDArray[np.int64] | None:
    """One number per instance, where the data keeps rooms apart."""
    table = _table(folder, "instances.parquet")
    return table["room"].to_numpy() if "room" in table.column_names else None


def _spec(folder: str | Path) -> dict[str, Any]:
    return verified.values(Path(folder), "plan.json", {"run": str, "test_set": str, "budgets": list})


def _table(folder: str | Path, name: str, columns: Sequence[str] = ()) -> pa.Table:
    path = Path(folder) / name
    table = parsed(path, verified.content(Path(folder), name))
    if missing := sorted(set(columns) - set(table.column_names)):
        raise ValueError(f"{path}: expected the column {missing[0]}, got {', '.join(table.column_names)}")
    return table


def together(folders: Sequence[str | Path]) -> str:
    """Print the table as Markdown: a block per budget, and what is missing in it."""
    title = "# One seed" if len(folders) == 1 else f"# {len(folders)} seeds together"
    blocks = [f"## {budget.capitalize()} budget\n\n{grid.markdown()}" for budget, grid in grids(folders).items()]
    spec = _spec(folders[0])
    split = f"Figures are of {split_words(spec.get('split', 'test'), spec.get('fresh', 0))}."
    return "\n\n".join([title, split, *blocks, *missing(folders)]) + "\n"


def missing(folders: Sequence[str | Path]) -> list[str]:
    """Which columns some evaluations keep from being there, in words."""
    without = [str(PurePath(folder).name) for folder in folders if not _ends(folder)]
    lines = []
    if without:
        lines.append(
            f"There are no gain shares: {', '.join(without)} has none. They need {CEILING} and fixed depths of the "
            "same plans, and a summary of today, which the same command of recommit evaluate writes."
        )
    if not any(_prices(_spec(folder)) != Prices() for folder in folders):
        lines.append("Nothing has a price, so that the value is the share solved.")
    return lines


def grids(folders: Sequence[str | Path]) -> dict[str, Grid]:
    """The table under every budget."""
    specs = [_spec(folder) for folder in folders]
    if any(spec["test_set"] != specs[0]["test_set"] for spec in specs):
        raise ValueError(f"folders: expected evaluations on one test set, got {len(folders)} that differ")
    if any(_prices(spec) != _prices(specs[0]) for spec in specs):
        raise ValueError(f"folders: expected evaluations at the same prices, got {len(folders)} that differ")
    seen = [read(folder) for folder in folders]
    for folder, one in zip(folders, seen, strict=True):
        if missing := [budget for budget in specs[0]["budgets"] if ("adaptive", budget) not in one]:
            raise ValueError(f"folders: expected evaluations of adaptive, got {folder} without it under {missing[0]}")
    return {budget: _grid(seen, budget) for budget in specs[0]["budgets"]}


def _grid(seen: list[dict[tuple[str, str], Seen]], budget: str) -> Grid:
    paired = {agent: pairs for agent in _order(seen) if (pairs := _pairs(seen, agent, budget))}
    lines = [_line(agent, pairs) for agent, pairs in paired.items()]
    head: tuple[str, ...] = HEAD
    values = [_value(pairs) for pairs in paired.values()]
    gains = [_gain(seen, agent, budget) for agent in paired]
    for names, cells in ((VALUE, values), (GAIN, gains)):
        if any(any(each) for each in cells):
            head, lines = head + names, [[*line, *each] for line, each in zip(lines, cells, strict=True)]
    return Grid.of(head, lines)


def _value(pairs: list[tuple[Seen, Seen]]) -> list[str]:
    """What its episodes are worth; empty where nothing has a price."""
    if not pairs[0][1].priced:
        return ["", ""]
    worth = stats.bootstrap(np.mean([other.worth for _, other in pairs], axis=0), pairs[0][1].rooms)
    return [f"{worth.mean:.3f}", f"{worth.low:.3f} .. {worth.high:.3f}"]


def _gain(seen: list[dict[tuple[str, str], Seen]], agent: str, budget: str) -> list[str]:
    """Gain share of the mean over seeds; empty where a seed that has the agent lacks its constant or its ceiling."""
    each = [[one.get((name, budget)) for name in (agent, *_ends_of(one, agent, budget))] for one in seen]
    three = [[s.worth for s in row if s] for row in each if row[0]]
    if not three or any(len(row) < 3 for row in three):
        return ["", ""]
    rule, constant, ceiling = (np.mean(column, axis=0) for column in zip(*three, strict=True))
    rooms = next(row[0].rooms for row in each if row[0])
    share = gain_interval(rule, constant, ceiling, rooms)
    return [f"{share.mean:.2f}", f"{share.low:.2f} .. {share.high:.2f}"] if share else ["-", "-"]


def _ends_of(one: dict[tuple[str, str], Seen], agent: str, budget: str) -> tuple[str, ...]:
    seen = one.get((agent, budget))
    return (seen.ends or ()) if seen else ()


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
