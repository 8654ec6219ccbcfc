"""Agents by what they are, so that a page with many of them can be folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.report.agents.agent import CEILING, KNOWING

if TYPE_CHECKING:
    from recommit.report.agents.agent import Agent
    from recommit.report.reading import Folder

#: In the order of the page; those of the first group are shown at once.
COMPARED, RULES, FIXED, TRAINED, WARM, SEEDS, KNOW = GROUPS = (
    "The comparison",
    "Other ways to choose the depth, the same plans",
    "Fixed depths, the same plans",
    "Plans trained in another way",
    "Plans of the warm start",
    "Other seeds",
    "With the exact distance, which no policy has",
)


def compared(folder: Folder, budget: str) -> dict[Agent, str]:
    """Those that the result is about, and why each of them is."""
    best, constant = folder.best_fixed(budget), folder.constant(budget)
    why = {folder.first: ""}
    if best:
        why[best[0]] = f"best fixed depth, chosen on {'validation' if best[1] else 'these'} puzzles"
    if constant:
        why.setdefault(constant, "best constant for the same plans")
    for base, words in (("shuffled", "whatever the state"), (CEILING, "no choice of depths does better")):
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
    if agent.base in KNOWING:
        return KNOW
    if folder.of_another_seed(agent):
        return SEEDS
    if agent.run:
        return WARM if agent.run.rstrip("/").endswith("/init") else TRAINED
    return FIXED if agent.depth else RULES
