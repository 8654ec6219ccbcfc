"""Depths of decisions, counted by the exact distance to the goal."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from recommit.evaluate.agent_names import ORACLE
from recommit.policy.config import PLAN_LENGTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.report.reading import Agent, Folder

#: Most columns of a figure.
COLUMNS = 32
#: Columns with fewer decisions are drawn pale.
FEW = 10


def distances(row: int, width: int) -> str:
    """Range of the distances in a row that covers ``width`` of them, in words."""
    first, last = row * width + 1, (row + 1) * width
    return str(first) if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class DepthCounts:
    """Decisions of one agent, by distance and depth."""

    agent: Agent
    width: int  #: distances in one row
    counts: NDArray[np.int64]  #: [rows, depths 1..8 or more]; row r has r * width + 1 .. (r + 1) * width
    dead: int  #: decisions in states that cannot be solved any more

    @property
    def total(self) -> NDArray[np.int64]:
        """Decisions of each row."""
        return self.counts.sum(axis=1)


def depth_counts(folder: Folder) -> list[DepthCounts]:
    """Depth counts of the first agent, the control that shuffles its depths, and the oracle, as far as their decisions
    were stored: under the largest budget, all seeds together."""
    decisions_of = []
    shown = (folder.first, folder.agent("shuffled"), folder.agent(ORACLE))
    for agent in dict.fromkeys(agent for agent in shown if agent is not None):
        rows = folder.decisions(agent)
        if rows:
            columns = [np.array([r.before, r.depth], np.int64) for r in rows]
            decisions_of.append((agent, np.concatenate(columns, axis=1)))
    furthest = max((int(before.max(initial=1)) for _, (before, _) in decisions_of), default=1)
    width = ceil(furthest / COLUMNS)
    deepest = max((int(depth.max(initial=0)) for _, (_, depth) in decisions_of), default=0)
    many, result = max(deepest, PLAN_LENGTH), []
    for agent, (before, depth) in decisions_of:
        alive = (before > 0) & (depth > 0)  # an unparsed answer has no depth
        row = (before[alive] - 1) // width
        place = row * many + depth[alive] - 1
        counts = np.bincount(place, minlength=many * ceil(furthest / width)).reshape(-1, many)
        result.append(DepthCounts(agent, width, counts, int((before < 0).sum())))
    return result
