"""Evaluations of several seeds of one family, taken together: one row per agent over all training seeds.

Every seed's adaptive policy is compared with the agents of its own seed, on the same instances. With several seeds,
intervals are about the method: t over training seeds, or over instances (rooms, where the data keeps rooms apart) where
that is wider. With one seed they are about that policy, over instances.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import parquet
from recommit.evaluate import summaries
from recommit.evaluate.agent_names import ORACLE, AgentName, readable, run_kind, seed_of
from recommit.evaluate.options import split_words
from recommit.prices import Prices
from recommit.results import intervals
from recommit.results.table import NO_ROOM, Grid, Results, number, percent, spread
from recommit.rollout.decision_rows import MOST_INSTANCES
from recommit.storage import verified

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def kind(agent: str, augmentations: int = 0) -> str:
    """An agent's name without the folder and the seed of its run, ``fixed-4@fixed-4``, and without ``augmentations``,
    the number that all agents of the evaluation share."""
    name = AgentName.parse(agent)
    own = 0 if (name.augmentations, name.distance) == (augmentations, 0) else name.augmentations
    return str(replace(name, run=run_kind(name.run), augmentations=own))


def read(folder: str | Path, number: int = 0) -> Results:
    """Results of an evaluation by kind of agent, as those of training seed ``number``; agents of other seeds than the
    evaluation's own are left out."""
    plan = _plan(folder)
    own, augmentations = seed_of(plan["run"]), _augmentations(plan)
    columns = episodes(Path(folder))
    kinds: dict[str, str] = {}  # the first agent of a kind counts
    for agent in dict.fromkeys(columns["agent"].tolist()):
        if not own or seed_of(AgentName.parse(agent).run) in ("", own):
            kinds.setdefault(kind(agent, augmentations), agent)
    names = {agent: name for name, agent in kinds.items()}
    rows = np.flatnonzero([agent in names for agent in columns["agent"].tolist()])
    columns = {name: values[rows] for name, values in columns.items()}
    columns["agent"] = np.array([names[agent] for agent in columns["agent"].tolist()], object)
    return summaries.table(columns, rooms_of(folder), _prices(plan), number)


def episodes(folder: Path, **more: str) -> dict[str, NDArray[Any]]:
    """Columns of an evaluation's episodes; ``more`` are further columns with their types."""
    path = folder / "episodes.parquet"
    columns = parquet.columns(path, _table(folder, path.name), EPISODES | more)
    parquet.within(path, "instance", columns["instance"], 0, MOST_INSTANCES - 1)
    return columns


def rooms_of(folder: str | Path) -> NDArray[np.int64] | None:
    """[instances] number of the room; None unless the data keeps rooms apart."""
    name = "instances.parquet"
    table = _table(folder, name)
    return parquet.columns(Path(folder) / name, table, ROOM)["room"] if "room" in table.column_names else None


def _augmentations(plan: dict[str, Any]) -> int:
    """Number of augmentations shared by all agents that use a policy; 0 if they differ."""
    every = {name.augmentations for name in map(AgentName.parse, plan["agents"]) if name.asks_policy}
    return every.pop() if len(every) == 1 else 0


def _prices(plan: dict[str, Any]) -> Prices:
    return Prices(plan.get("price_action", 0.0), plan.get("price_observation", 0.0))


def _plan(folder: str | Path) -> dict[str, Any]:
    return verified.values(Path(folder), "plan.json", {"run": str, "test_set": str, "agents": [str], "budgets": list})


def _table(folder: str | Path, name: str) -> Any:
    return parquet.parsed(Path(folder) / name, verified.content(Path(folder), name))


class Seeds:
    """Evaluations of one family's seeds on one test set, at the same prices."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        plans = [_plan(folder) for folder in folders]
        for what, same in (("on one test set", lambda plan: plan["test_set"]), ("at the same prices", _prices)):
            if any(same(plan) != same(plans[0]) for plan in plans):
                raise ValueError(f"folders: expected evaluations {what}, got {len(folders)} that differ")
        every = [read(folder, number) for number, folder in enumerate(folders)]
        self.plan, self.names = plans[0], [PurePath(folder).name for folder in folders]
        self.rows, self.priced = Results.joined(every), _prices(plans[0]) != Prices()
        #: Per seed, the best fixed depth and the oracle of the same plans, by kind of agent and budget.
        self.ends = [_ends(Path(folder), _augmentations(plan)) for folder, plan in zip(folders, plans, strict=True)]
        for folder, one in zip(folders, every, strict=True):
            if without := [budget for budget in self.plan["budgets"] if ("adaptive", budget) not in one.keys]:
                raise ValueError(
                    f"folders: expected evaluations of adaptive, got {folder} without it under {without[0]}"
                )

    def markdown(self) -> str:
        """Page in Markdown: a table per budget, and notes on missing columns."""
        count = len(self.names)
        title = "# One seed" if count == 1 else f"# {count} seeds together"
        split = split_words(self.plan.get("split", "test"), self.plan.get("fresh", 0))
        blocks = [f"## {budget.capitalize()} budget\n\n{grid.markdown()}" for budget, grid in self.grids().items()]
        return "\n\n".join([title, f"Figures are of {split}. {self.caption}", *blocks, *self.missing]) + "\n"

    @property
    def caption(self) -> str:
        """Sentence on what the intervals are about: the method, or this policy."""
        if len(self.names) == 1:
            return "Intervals are about this very policy, over instances: another training seed may differ by more."
        return (
            f"Intervals are about the method: t over {len(self.names)} training seeds, or over instances where that is "
            "wider; of an agent of one seed they are about that policy, over instances."
        )

    @property
    def missing(self) -> list[str]:
        """Notes on missing columns, and on the evaluations that lack the agents for them."""
        without = [name for name, ends in zip(self.names, self.ends, strict=True) if not ends]
        named = f"There are no gain shares: {', '.join(without)} lacks {ORACLE} or fixed depths of the same plans."
        unpriced = "Nothing has a price, so that the value is the share solved."
        return [named] * bool(without) + [unpriced] * (not self.priced)

    def grids(self) -> dict[str, Grid]:
        """The table under every budget."""
        return {budget: self._grid(budget) for budget in self.plan["budgets"]}

    def _grid(self, budget: str) -> Grid:
        """Table with a row per agent, over the seeds that have it; values and gain shares if some agent has them."""
        rows, played = self.rows, [agent for agent, own in self.rows.keys if own == budget]
        agents = [agent for row in ROWS for agent in played if re.fullmatch(row, agent)]
        gains = {agent: self._gain(agent, budget) for agent in agents}

        def ahead(agent: str, column: str, scale: float = 1.0) -> str:
            less = rows.difference("adaptive", agent, budget, column)
            return "" if agent == "adaptive" else spread(less, 1, scale, sign=True)

        columns: dict[str, Callable[[str], str]] = {
            "agent": lambda agent: readable(AgentName.parse(agent)),
            "seeds": lambda agent: str(len(rows.seeds(agent, budget))),
            "solved %": lambda agent: percent(rows.mean(agent, budget, "solved").mean),
            "actions": lambda agent: number(rows.mean(agent, budget, "actions").mean),
            "adaptive is ahead, points (95 %)": lambda agent: ahead(agent, "solved", 100.0),
            "by seed": lambda agent: self._by_seed(agent, budget),
            "its actions (95 %)": lambda agent: ahead(agent, "actions"),
        }
        if self.priced:
            columns["value, points (95 %)"] = lambda agent: spread(rows.mean(agent, budget, "returns"), 1, 100.0)
        if any(gains.values()):
            columns["gain share (95 %)"] = lambda agent: gains[agent]
        return Grid.by(columns, agents)

    def _gain(self, agent: str, budget: str) -> str:
        """Gain share over the seeds; empty where a seed that has the agent lacks its fixed depth or its oracle."""
        rows, values = self.rows, list[list[Any]]()
        for seed in rows.seeds(agent, budget):
            names = agent, *self.ends[seed].get((agent, budget), ())
            there = [name for name in names if (name, budget) in rows.keys and seed in rows.seeds(name, budget)]
            if len(there) < 3:
                return ""
            values.append([rows.values(name, budget, "returns", [seed]) for name in there])
        rule, fixed, oracle = (np.stack(column) for column in zip(*values, strict=True))
        share = intervals.gain(rule, fixed, oracle, rows.groups(agent, budget))
        return NO_ROOM if share is None else spread(share, 2)

    def _by_seed(self, agent: str, budget: str) -> str:
        """Lead of adaptive over an agent on each seed; for adaptive itself, its solve rate and actions."""
        each = []
        for seed in self.rows.seeds(agent, budget):
            one, its = (self.rows.values(name, budget, "solved", [seed]).mean() for name in ("adaptive", agent))
            at = number(self.rows.values(agent, budget, "actions", [seed]).mean())
            each.append(f"{percent(its)} at {at}" if agent == "adaptive" else number(one - its, 1, 100.0, sign=True))
        return ", ".join(each)


def _ends(folder: Path, augmentations: int) -> dict[tuple[str, str], tuple[str, str]]:
    """Kinds of the best fixed depth and of the oracle of the same plans, by kind of agent and budget."""
    rows = verified.rows(folder, "summary.json") if verified.exists(folder, "summary.json") else []
    ends = [
        (row["budget"], *(kind(row[name], augmentations) for name in ("agent", "gain_fixed", "gain_oracle")))
        for row in rows
        if row.get("gain_fixed")
    ]
    return {(agent, budget): (fixed, oracle) for budget, agent, fixed, oracle in ends}
