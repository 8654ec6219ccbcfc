"""Reads a finished evaluation's folder for a report; raises if a file is missing or damaged."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data.parquet import columns, parsed
from recommit.evaluate import seeds, summaries
from recommit.evaluate.agent_names import CONTROLS, ORACLE, PRIVILEGED, AgentName, brief, readable, seed_of
from recommit.evaluate.metrics import until_lost
from recommit.results import intervals
from recommit.results.intervals import Interval
from recommit.results.table import best
from recommit.rollout.decision_rows import DecisionRows
from recommit.storage import errors, verified

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.results.table import Results

#: Fields that a page needs of the rows of summary.json and comparisons.json.
SUMMARY: verified.Fields = {
    **dict.fromkeys(("agent", "task", "budget"), str),
    "decisions": int,
    **dict.fromkeys(("solve_rate", "solve_low", "solve_high", "actions_per_episode"), verified.NUMBER),
    **dict.fromkeys(("decisions_per_episode", "spl", "lost", "mean_depth"), verified.PERHAPS),
}
_DIFFERENCE = {**dict.fromkeys(("mean", "p"), verified.NUMBER), **dict.fromkeys(("low", "high"), verified.PERHAPS)}
COMPARISON: verified.Fields = {
    "against": str,
    "budget": str,
    "solve_difference": _DIFFERENCE,
    "actions_difference": _DIFFERENCE,
    "dominates": bool,
    "dominates_significantly": bool,
}
#: Fields of an evaluation's plan: required ones, and optional ones.
PLAN: verified.Fields = {"agents": [str], "instances": int}
OPTIONS: verified.Fields = {
    "run": str,
    "budgets": [(str, int)],
    "length": [int],
    "task": str,
    "stop_on_deadlock": bool,
    **dict.fromkeys(("price_action", "price_observation"), verified.NUMBER),
}
#: Files of every finished evaluation.
PARTS = ("plan.json", "summary.json", "comparisons.json", "instances.parquet", "episodes.parquet")
#: Columns of instances.parquet.
INSTANCES = {"id": "string", "state": "binary", "length": "int32"}


@dataclass(frozen=True)
class Agent(AgentName):
    """An agent and its role in the figures."""

    label: str = ""  #: its name with its folder shortened
    role: str = ""  #: first, fixed, control, oracle, privileged or other
    words: str = ""  #: readable label, unique among the agents

    @property
    def name(self) -> str:
        """Name in the files of the evaluation."""
        return str(self)

    @property
    def brief(self) -> str:
        """Short label for figures."""
        return brief(AgentName.parse(self.label))

    @property
    def family(self) -> tuple[str, bool]:
        """Key of fixed depths that belong together: of one policy, or of runs that were trained for one depth each."""
        return self.run.replace(f"fixed-{self.depth}", "fixed-h"), self.samples_actions


def agents_of(names: list[str], seed: str = "") -> list[Agent]:
    """Parse agents. Labels name a policy by its folder, and by as many folders above it as make it unique; ``seed`` is
    that of the evaluation's own policy."""
    agents = [AgentName.parse(name) for name in names]
    folders = [PurePath(agent.run).parts for agent in agents]
    labels = [replace(agent, run=_telling(parts, folders)) for agent, parts in zip(agents, folders, strict=True)]
    every = zip(agents, labels, _words(labels, seed), strict=True)
    return [
        Agent(**asdict(agent), label=str(label), role=_role(i, agent), words=words)
        for i, (agent, label, words) in enumerate(every)
    ]


def _words(agents: list[AgentName], seed: str) -> list[str]:
    """Readable label of every agent. Duplicates get the seed, if it is another one, or else the folder."""
    plain = [readable(agent) for agent in agents]
    by_seed = [
        f"{words}, seed {own}" if (own := seed_of(agent.run)) not in ("", seed) and plain.count(words) > 1 else words
        for words, agent in zip(plain, agents, strict=True)
    ]
    return [
        f"{words} ({agent.run})" if agent.run and by_seed.count(words) > 1 else words
        for words, agent in zip(by_seed, agents, strict=True)
    ]


def _telling(parts: tuple[str, ...], folders: list[tuple[str, ...]]) -> str:
    """The shortest end of a path that tells it from the others."""
    for many in range(1, len(parts) + 1):
        if all(other == parts or other[-many:] != parts[-many:] for other in folders):
            return "/".join(parts[-many:])
    return ""


def _role(place: int, agent: AgentName) -> str:
    if place == 0:
        return "first"
    if agent.base.startswith("fixed-"):
        return "fixed"
    if agent.base == ORACLE:
        return "oracle"
    return "control" if agent.base in CONTROLS else "privileged" if agent.base in PRIVILEGED else "other"


@dataclass(frozen=True)
class AgentPoint:
    """An agent under one budget as a point of the plane of success and actions."""

    agent: Agent
    solved: Interval  #: per cent
    actions: Interval


class Folder:
    """An evaluation's folder."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if without := [name for name in PARTS if not self.has(name)]:
            raise ValueError(
                f"eval: expected the folder of a finished evaluation, got {self.path} without {without[0]}"
            )
        self.spec = verified.values(self.path, "plan.json", PLAN)
        options = {name: wanted for name, wanted in OPTIONS.items() if name in self.spec}
        verified.expect(self.path / "plan.json", self.spec, options)
        self.summary = verified.rows(self.path, "summary.json", SUMMARY)
        comparisons = verified.rows(self.path, "comparisons.json", COMPARISON)
        self.against = {(one["against"], one["budget"]): one for one in comparisons}
        if not self.summary:
            raise ValueError(f"{self.path / 'summary.json'}: expected a row for every agent and budget, got none")
        self.agents = agents_of(self.spec["agents"], self.seed)
        self.rows = {(row["agent"], row["budget"]): row for row in self.summary}
        self.budgets: dict[str, int] = {row["budget"]: row["decisions"] for row in self.summary}
        self.task: str = self.summary[0]["task"]
        missing = [(a.name, b) for a in self.agents for b in self.budgets if (a.name, b) not in self.rows]
        missing += [(a.name, b) for a in self.agents[1:] for b in self.budgets if (a.name, b) not in self.against]
        if self.spec["instances"] != (count := len(self.instances["id"])):
            plan = self.path / "plan.json"
            raise errors.Damaged(f"{plan}: instances: expected {count} that were played, got {self.spec['instances']}")
        if missing or not self.agents:
            raise ValueError(
                "eval: expected a row for every agent and budget in summary.json, and for every rival in "
                f"comparisons.json, {missing[:3]} missing"
            )

    @property
    def seed(self) -> str:
        """Seed of the evaluation's own policy; empty where its name has none."""
        return seed_of(str(self.spec.get("run", "")))

    @property
    def first(self) -> Agent:
        """The agent that is compared with the others."""
        return self.agents[0]

    @property
    def widest(self) -> str:
        """The largest budget, by name."""
        return max(self.budgets, key=lambda name: self.budgets[name])

    def agent(self, base: str) -> Agent | None:
        """Agent of the evaluation's own policy, with the first agent's augmentations; None if it was not played."""
        own = (a for a in self.agents if a.base == base and not a.run and a.augmentations == self.first.augmentations)
        return next(own, None)

    def best_fixed(self, budget: str) -> tuple[Agent, bool] | None:
        """The fixed depth that solves most, ties to the smaller; and whether it was chosen on validation instances.

        Chosen on the test instances themselves it looks better than it is, which is against the first agent. Runs of
        other seeds do not count: they may come from another warm start, which says nothing about the depth.
        """
        found = self._most_solved(budget, "validation_solve_rate")
        return (found, True) if found else None if (most := self.in_hindsight(budget)) is None else (most, False)

    def in_hindsight(self, budget: str) -> Agent | None:
        """The fixed depth that solves most of the test instances."""
        return self._most_solved(budget, "solve_rate")

    def _most_solved(self, budget: str, field: str) -> Agent | None:
        """The fixed depth of this seed with the highest ``field``; None if one of them lacks it."""
        every = (a for a in self.agents if a.depth and not a.samples_actions and a is not self.first)
        fixed = [a for a in every if not self.of_another_seed(a)]
        rates = {(agent.depth, i): self.row(agent, budget).get(field) for i, agent in enumerate(fixed)}
        known = {place: rate for place, rate in rates.items() if rate is not None}
        place = best(known) if len(known) == len(rates) else None
        return None if place is None else fixed[place[1]]

    def constant(self, budget: str) -> Agent | None:
        """The fixed depth of the first agent's own plans that its gain share is measured from."""
        name = self.row(self.first, budget).get("gain_fixed")
        return next((a for a in self.agents if a.name == name), None)

    def of_another_seed(self, agent: Agent) -> bool:
        """True if the agent's policy was trained with another seed than the evaluation's own."""
        return bool(self.seed) and seed_of(agent.run) not in ("", self.seed)

    def row(self, agent: Agent, budget: str) -> dict[str, Any]:
        """Summary row of an agent under a budget."""
        return self.rows[agent.name, budget]

    @cached_property
    def instances(self) -> dict[str, list[Any]]:
        """Columns id, state and length of the instances."""
        arrays = columns(self.path / "instances.parquet", self.table("instances.parquet"), INSTANCES)
        return {name: array.tolist() for name, array in arrays.items()}

    @cached_property
    def rooms(self) -> NDArray[np.int64] | None:
        """[instances] number of the room; None unless the data keeps rooms apart."""
        return seeds.rooms_of(self.path)

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns of the states, parsed from the instances' names; None if these do not contain them."""
        match = re.search(r"/(\d{1,2})x(\d{1,2})\b", str(self.instances["id"][0])) if self.instances["id"] else None
        shape = (int(match[1]), int(match[2])) if match else None
        return shape if shape and shape[0] * shape[1] == len(self.instances["state"][0]) else None

    @cached_property
    def _results(self) -> Results:
        return summaries.table(seeds.episodes(self.path, end="int32"))

    def values(self, agent: Agent, budget: str, column: str) -> NDArray[np.float64]:
        """[instances] solved, actions, lost and others of an agent, as means over its repetitions."""
        found, count = self._results.values(agent.name, budget, column), len(self.instances["id"])
        if len(found) != count:
            path = self.path / "episodes.parquet"
            raise errors.Damaged(f"{path}: expected {count} instances of {agent.name}, got {len(found)}")
        return found

    def decisions(self, agent: Agent) -> list[DecisionRows]:
        """Decisions under the largest budget, for every stored seed."""
        stem = f"{agent.stem}@{self.budgets[self.widest]}"
        names = [f"decisions/{name}.parquet" for name in (stem, *(f"{stem}-s{seed}" for seed in range(64)))]
        count = self.spec["instances"]
        found = [DecisionRows.of_table(self.path / name, self.table(name), count) for name in names if self.has(name)]
        return [until_lost(rows) for rows in found] if self.spec.get("stop_on_deadlock") else found

    def has(self, name: str) -> bool:
        """True if the file exists or is listed in the digests."""
        return verified.exists(self.path, name)

    def table(self, name: str) -> Any:
        """Read a Parquet file."""
        return parsed(self.path / name, verified.content(self.path, name))


#: Group of the results table that is open.
COMPARED = "The comparison"
#: The other groups, from the bottom, with their conditions; an agent is in the first group that fits.
GROUPS: dict[str, Callable[[Folder, Agent], bool]] = {
    "Privileged: with the exact distance": lambda _, agent: agent.base in PRIVILEGED,
    "Other seeds": lambda folder, agent: folder.of_another_seed(agent),
    "Plans of the warm start": lambda _, agent: agent.run.rstrip("/").endswith("/init"),
    "Plans trained in another way": lambda _, agent: bool(agent.run),
    "Fixed depths, same plans": lambda _, agent: bool(agent.depth),
    "Other depth rules, same plans": lambda *_: True,
}


def compared(folder: Folder, budget: str) -> dict[Agent, str]:
    """The agents in ``COMPARED``, and the reason for each of them."""
    best, constant = folder.best_fixed(budget), folder.constant(budget)
    why = {folder.first: ""}
    if best:
        why[best[0]] = f"best fixed depth, chosen on {'validation' if best[1] else 'these'} puzzles"
    if constant:
        why.setdefault(constant, "best fixed depth for the same plans")
    for base, words in (("shuffled", "ignores the state"), (ORACLE, "no choice of depths does better")):
        agent = folder.agent(base)
        if agent is not None:
            why.setdefault(agent, words)
    return why


def groups(folder: Folder, budget: str) -> dict[str, list[Agent]]:
    """Agents by group, each in one; empty groups are left out."""
    grouped: dict[str, list[Agent]] = {
        COMPARED: list(compared(folder, budget)),
        **{name: [] for name in reversed(GROUPS)},
    }
    for agent in folder.agents:
        if agent not in grouped[COMPARED]:
            grouped[next(name for name, fits in GROUPS.items() if fits(folder, agent))].append(agent)
    return {name: agents for name, agents in grouped.items() if agents}


def points(folder: Folder, budget: str) -> list[AgentPoint]:
    """A point per agent, with Wilson's interval of the solve rate and the t interval of mean actions."""
    result = []
    for agent in folder.agents:
        row = folder.row(agent, budget)
        solved = Interval(row["solve_rate"], row["solve_low"], row["solve_high"]).scaled(100.0)
        actions = intervals.mean(folder.values(agent, budget, "actions"), folder.rooms)
        result.append(AgentPoint(agent, solved, actions))
    return result
