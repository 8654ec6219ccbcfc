"""Agents as points of a plane: what they solve and what they spend, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit import stats

if TYPE_CHECKING:
    from recommit.report.agents.agent import Agent
    from recommit.report.reading import Folder


@dataclass(frozen=True)
class PlottedAgent:
    """An agent under one budget, with 95 % intervals."""

    agent: Agent
    solved: float  #: per cent, as all of the next
    solved_low: float
    solved_high: float
    actions: float
    actions_low: float | None
    actions_high: float | None
    #: Actions and per cent solved of every threshold of its rule: in a plane it is a line.
    line: tuple[tuple[float, float], ...] = ()

    def says(self) -> str:
        """All of it, in words."""
        text = f"{self.agent.words}: {self.solved:.1f} % solved ({self.solved_low:.1f} .. {self.solved_high:.1f}), "
        text += f"{self.actions:.1f} actions"
        if self.actions_low is not None and self.actions_high is not None:
            text += f" ({self.actions_low:.1f} .. {self.actions_high:.1f})"
        return text


def points(folder: Folder, budget: str) -> list[PlottedAgent]:
    """Everybody: Wilson's interval of the share solved, the bootstrap's of the mean of actions."""
    plotted = []
    for agent in folder.agents:
        row = folder.row(agent, budget)
        low = high = None
        if folder.outcomes is not None:
            interval = stats.bootstrap(folder.outcomes[agent.name, budget]["actions"], folder.rooms)
            low, high = interval.low, interval.high
        solved, least, most = (100 * row[name] for name in ("solve_rate", "solve_low", "solve_high"))
        line = tuple((one["actions"], 100 * one["solve_rate"]) for one in folder.thresholds(agent, budget))
        plotted.append(PlottedAgent(agent, solved, least, most, float(row["actions_per_episode"]), low, high, line))
    return plotted
