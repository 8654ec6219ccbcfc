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
from recommit.data import parquet
from recommit.evaluate.agent_names import ORACLE, AgentName, readable, run_kind, seed_of
from recommit.evaluate.options import split_words
from recommit.evaluate.text import Grid
from recommit.prices import Prices
from recommit.rollout.decision_rows import MOST_INSTANCES
from recommit.stats import gain_interval
from recommit.storage import verified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Columns of episodes.parquet that are read, and of instances.parquet where the data keeps rooms apart.
EPISODES = {
    **dict.fromkeys(("agent", "budget"), "string"),
    **dict.fromkeys(("seed", "instance", "actions", "decisions"), "int64"),
    "solved": "bool",
}
ROOM = {"room": "int64"}
#: The agents of the table, in its order: a pattern of names without folders and seeds.
ROWS = (
    "adaptive",
    "adaptive@conditioned",
    "adaptive@world-model",
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
    "confidence-entropy(@world-model)?",
    "fixed-[1-8]@world-model",
    "oracle-dp(@world-model)?",
)
HEAD: tuple[str, ...] = (
    "agent",
    "seeds",
    "solved %",
    "actions",
    "adaptive is ahead, points",
    "95 %",
    "by seed",
    "its actions",
    "95 %",
)
#: Further columns, where every seed's evaluation has what they need.
VALUE, GAIN = ("value", "95 %"), ("gain share", "95 %")


@dataclass(frozen=True)
class Played:
    """One agent under one budget in one evaluation, per instance (means over what it samples)."""

    solved: NDArray[np.float64]
    actions: NDArray[np.float64]
    rooms: NDArray[np.int64] | None  #: which instances are in the same room
    value: NDArray[np.float64]  #: at the evaluation's prices; solved where nothing has a price
    #: The kinds of the best fixed depth and of the oracle that its gain share is between; empty where there are none.
    ends: tuple[str, ...] = ()


def kind(agent: str, augmentations: int = 0) -> str:
    """An agent's name without the folder and the seed of the run whose policy it asks, ``fixed-4@fixed-4``, and without
    the augmentations that are the whole evaluation's."""
    name = AgentName.parse(agent)
    own = 0 if name.augmentations == augmentations else name.augmentations
    return str(replace(name, run=run_kind(name.run), augmentations=own))


def read(folder: str | Path) -> dict[tuple[str, str], Played]:
    """By kind of agent and budget, without runs of other seeds than the evaluation's own."""
    plan, rooms, ends = _plan(folder), rooms_of(folder), _ends(folder)
    own, prices, augmentations = seed_of(plan["run"]), _prices(plan), _augmentations(plan)
    path, table = Path(folder) / "episodes.parquet", _table(folder, "episodes.parquet")
    columns = parquet.columns(path, table, EPISODES)
    parquet.within(path, "instance", columns["instance"], 0, MOST_INSTANCES - 1)
    agents, budgets = columns["agent"], columns["budget"]
    by_kind: dict[tuple[str, str], Played] = {}
    for agent, budget in dict.fromkeys(zip(agents.tolist(), budgets.tolist(), strict=True)):
        if own and seed_of(AgentName.parse(agent).run) not in ("", own):
            continue
        rows = np.flatnonzero((agents == agent) & (budgets == budget))
        count = int(columns["instance"][rows].max()) + 1
        if len(rows) % count:
            raise ValueError(f"{path}: expected all {count} instances of {agent} for every seed, got {len(rows)} rows")
        order = rows[np.lexsort((columns["instance"][rows], columns["seed"][rows]))]
        solved, actions, decisions = (
            columns[name][order].astype(np.float64).reshape(-1, count).mean(axis=0)
            for name in ("solved", "actions", "decisions")
        )
        value = prices.returns(solved, actions, decisions)
        played = Played(solved, actions, rooms, value, ends.get((agent, budget), ()))
        by_kind.setdefault((kind(agent, augmentations), budget), played)
    return by_kind


def _augmentations(plan: dict[str, Any]) -> int:
    """As many as every agent that asks a policy has; 0 where they differ."""
    every = {name.augmentations for name in map(AgentName.parse, plan["agents"]) if name.asks_policy}
    return every.pop() if len(every) == 1 else 0


def _prices(plan: dict[str, Any]) -> Prices:
    return Prices(plan.get("price_action", 0.0), plan.get("price_observation", 0.0))


def _ends(folder: str | Path) -> dict[tuple[str, str], tuple[str, str]]:
    """By agent and budget: the kinds of the best fixed depth and of the oracle of its plans."""
    if not verified.exists(Path(folder), "summary.json"):
        return {}
    augmentations = _augmentations(_plan(folder))
    return {
        (row["agent"], row["budget"]): (kind(row["gain_fixed"], augmentations), kind(row["gain_oracle"], augmentations))
        for row in verified.rows(Path(folder), "summary.json")
        if row.get("gain_fixed")
    }


def rooms_of(folder: str | Path) -> NDArray[np.int64] | None:
    """One number per instance, where the data keeps rooms apart."""
    name = "instances.parquet"
    table = _table(folder, name)
    return parquet.columns(Path(folder) / name, table, ROOM)["room"] if "room" in table.column_names else None


def _plan(folder: str | Path) -> dict[str, Any]:
    return verified.values(Path(folder), "plan.json", {"run": str, "test_set": str, "agents": [str], "budgets": list})


def _table(folder: str | Path, name: str) -> Any:
    return parquet.parsed(Path(folder) / name, verified.content(Path(folder), name))


def together(folders: Sequence[str | Path]) -> str:
    """Print the table as Markdown: a block per budget, and what is missing in it."""
    title = "# One seed" if len(folders) == 1 else f"# {len(folders)} seeds together"
    blocks = [f"## {budget.capitalize()} budget\n\n{grid.markdown()}" for budget, grid in grids(folders).items()]
    plan = _plan(folders[0])
    split = f"Figures are of {split_words(plan.get('split', 'test'), plan.get('fresh', 0))}."
    return "\n\n".join([title, split, *blocks, *missing(folders)]) + "\n"


def missing(folders: Sequence[str | Path]) -> list[str]:
    """Which columns some evaluations keep from being there, in words."""
    lines, without = [], [PurePath(folder).name for folder in folders if not _ends(folder)]
    if without:
        lines.append(
            f"There are no gain shares: {', '.join(without)} lacks {ORACLE} or fixed depths of the same plans."
        )
    if all(_prices(_plan(folder)) == Prices() for folder in folders):
        lines.append("Nothing has a price, so that the value is the share solved.")
    return lines


def grids(folders: Sequence[str | Path]) -> dict[str, Grid]:
    """The table under every budget."""
    plans = [_plan(folder) for folder in folders]
    if any(plan["test_set"] != plans[0]["test_set"] for plan in plans):
        raise ValueError(f"folders: expected evaluations on one test set, got {len(folders)} that differ")
    if any(_prices(plan) != _prices(plans[0]) for plan in plans):
        raise ValueError(f"folders: expected evaluations at the same prices, got {len(folders)} that differ")
    every = [read(folder) for folder in folders]
    for folder, one in zip(folders, every, strict=True):
        if without := [budget for budget in plans[0]["budgets"] if ("adaptive", budget) not in one]:
            raise ValueError(f"folders: expected evaluations of adaptive, got {folder} without it under {without[0]}")
    priced = _prices(plans[0]) != Prices()
    return {budget: _grid([_under(one, budget) for one in every], priced) for budget in plans[0]["budgets"]}


def _under(one: dict[tuple[str, str], Played], budget: str) -> dict[str, Played]:
    return {agent: played for (agent, own), played in one.items() if own == budget}


def _grid(every: list[dict[str, Played]], priced: bool) -> Grid:
    """A row per agent, over the seeds that have it; values and gain shares where some agent has them."""
    agents = [
        agent for row in ROWS for agent in dict.fromkeys(a for one in every for a in one) if re.fullmatch(row, agent)
    ]
    head, lines, having = HEAD, [], {agent: [one for one in every if agent in one] for agent in agents}
    gains = {agent: _gain(seeds, agent) for agent, seeds in having.items()}
    head += (VALUE if priced else ()) + (GAIN if any(any(cells) for cells in gains.values()) else ())
    for agent, seeds in having.items():
        cells = _cells(agent, seeds)
        if priced:
            value = stats.bootstrap(np.mean([one[agent].value for one in seeds], axis=0), seeds[0][agent].rooms)
            cells += [f"{value.mean:.3f}", f"{value.low:.3f} .. {value.high:.3f}"]
        lines.append([*cells, *gains[agent]][: len(head)])
    return Grid.of(head, lines)


def _gain(having: list[dict[str, Played]], agent: str) -> list[str]:
    """Gain share of the mean over seeds; empty where a seed that has the agent lacks its fixed depth or its oracle."""
    three = [[one.get(name) for name in (agent, *one[agent].ends)] for one in having]
    values = [[played.value for played in row if played] for row in three]
    if any(len(row) < 3 for row in values):
        return ["", ""]
    rule, fixed, oracle = (np.mean(column, axis=0) for column in zip(*values, strict=True))
    share = gain_interval(rule, fixed, oracle, having[0][agent].rooms)
    return [f"{share.mean:.2f}", f"{share.low:.2f} .. {share.high:.2f}"] if share else ["-", "-"]


def _cells(agent: str, having: list[dict[str, Played]]) -> list[str]:
    solved, actions = (np.mean([getattr(one[agent], n).mean() for one in having]) for n in ("solved", "actions"))
    shown = [readable(AgentName.parse(agent)), str(len(having)), f"{100 * solved:.1f}", f"{actions:.1f}"]
    pairs = [(one["adaptive"], one[agent]) for one in having]
    if agent == "adaptive":
        rates = ", ".join(f"{100 * own.solved.mean():.1f} at {own.actions.mean():.1f}" for own, _ in pairs)
        return [*shown, "", "", rates, "", ""]
    by_seed = ", ".join(f"{100 * (own.solved - other.solved).mean():+.1f}" for own, other in pairs)
    return [*shown, *_ahead(pairs, "solved", 100), by_seed, *_ahead(pairs, "actions", 1)]


def _ahead(pairs: list[tuple[Played, Played]], name: str, times: float) -> list[str]:
    each = np.mean([getattr(own, name) - getattr(other, name) for own, other in pairs], axis=0)
    ahead = stats.bootstrap(each, pairs[0][0].rooms)
    return [f"{times * ahead.mean:+.1f}", f"{times * ahead.low:+.1f} .. {times * ahead.high:+.1f}"]
