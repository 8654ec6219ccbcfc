"""Which agents a page compares, in what groups, and where they lie in the plane of success and actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit import stats
from recommit.evaluate.agent_names import ORACLE, PRIVILEGED

if TYPE_CHECKING:
    from recommit.report.agents import Agent
    from recommit.report.reading import Folder

#: Groups of the results table, in order; the first one is open.
COMPARED, RULES, FIXED, TRAINED, WARM, SEEDS, PRIVILEGED_GROUP = GROUPS = (
    "The comparison",
    "Other depth rules, same plans",
    "Fixed depths, same plans",
    "Plans trained in another way",
    "Plans of the warm start",
    "Other seeds",
    "Privileged: with the exact distance",
)


def compared(folder: Folder, budget: str) -> dict[Agent, str]:
    """The agents that the result is about, and why each of them is."""
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
    """Every agent in one group; groups without any are left out."""
    first = list(compared(folder, budget))
    grouped: dict[str, list[Agent]] = {name: [] for name in GROUPS}
    grouped[COMPARED] = first
    for agent in folder.agents:
        if agent not in first:
            grouped[_group(folder, agent)].append(agent)
    return {name: agents for name, agents in grouped.items() if agents}


def _group(folder: Folder, agent: Agent) -> str:
    if agent.base in PRIVILEGED:
        return PRIVILEGED_GROUP
    if folder.of_another_seed(agent):
        return SEEDS
    if agent.run:
        return WARM if agent.run.rstrip("/").endswith("/init") else TRAINED
    return FIXED if agent.depth else RULES


@dataclass(frozen=True)
class AgentPoint:
    """An agent under one budget as a point of the plane of success and actions, with 95 % intervals."""

    agent: Agent
    solved: float  #: per cent, as the next two
    solved_low: float
    solved_high: float
    actions: float
    actions_low: float
    actions_high: float
    #: Actions and per cent solved at every threshold of its rule.
    sweep: tuple[tuple[float, float], ...] = ()


def points(folder: Folder, budget: str) -> list[AgentPoint]:
    """Every agent: Wilson's interval of the share solved, the bootstrap's of the mean of actions."""
    result = []
    for agent in folder.agents:
        row = folder.row(agent, budget)
        spent = stats.bootstrap(folder.outcomes[agent.name, budget]["actions"], folder.rooms)
        solved, least, most = (100 * row[name] for name in ("solve_rate", "solve_low", "solve_high"))
        sweep = tuple((one["actions"], 100 * one["solve_rate"]) for one in folder.thresholds(agent, budget))
        actions = float(row["actions_per_episode"]), spent.low, spent.high
        result.append(AgentPoint(agent, solved, least, most, *actions, sweep))
    return result
