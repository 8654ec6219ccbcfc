"""Depths and regrets of decisions, counted by the exact distance to the goal."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from recommit.evaluate.agent_names import ORACLE
from recommit.graph.regret import CAUSES
from recommit.policy.config import PLAN_LENGTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.report.reading import Agent, Folder

#: Columns of a figure, at most.
COLUMNS = 32
#: Fewer decisions than this are drawn pale.
FEW = 10


def distances(row: int, width: int) -> str:
    """The distances of a row of ``width`` of them, in words."""
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
        result: NDArray[np.int64] = self.counts.sum(axis=1)
        return result


def depth_counts(folder: Folder) -> list[DepthCounts]:
    """Of the first agent, the control that shuffles its depths, and the oracle, as far as their decisions were kept:
    under the largest budget, all seeds together."""
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
        alive = (before > 0) & (depth > 0)  # an answer that could not be read has no depth
        row = (before[alive] - 1) // width
        place = row * many + depth[alive] - 1
        counts = np.bincount(place, minlength=many * ceil(furthest / width)).reshape(-1, many)
        result.append(DepthCounts(agent, width, counts, int((before < 0).sum())))
    return result


@dataclass(frozen=True)
class RegretByDistance:
    """Regret of an agent's or a rule's commitments, in solved episodes."""

    label: str
    width: int  #: distances in one row
    lost: NDArray[np.float64]  #: [rows, causes]; row r has the distances r * width + 1 .. (r + 1) * width
    elsewhere: float  #: in states that cannot be solved any more
    episodes: int

    @property
    def per_hundred(self) -> NDArray[np.float64]:
        """[rows, causes] of a hundred episodes."""
        return 100 * self.lost / max(self.episodes, 1)

    def __str__(self) -> str:
        """The total, and the share of each cause, the largest first."""
        sums = self.lost.sum(axis=0)
        total = float(sums.sum()) + self.elsewhere
        if not total:
            return f"{self.label} has no regret: every depth is one of the best."
        shares = [f"{CAUSES[i]} {sums[i] / total:.0%}" for i in np.argsort(-sums, kind="stable").tolist() if sums[i]]
        shares += [f"in states that cannot be solved {self.elsewhere / total:.0%}"] if self.elsewhere else []
        each = 100 * total / max(self.episodes, 1)
        return f"{self.label} loses {each:.1f} of 100 episodes by its depths: {', '.join(shares)}."


def regret_by_distance(
    label: str,
    distance: NDArray[np.integer],
    cause: NDArray[np.integer],
    regret: NDArray[np.floating],
    episodes: int,
    furthest: int = 0,
) -> RegretByDistance:
    """Sums of regret; ``furthest`` is the longest distance of the figure if it is not in these rows."""
    furthest = max(furthest, int(distance.max(initial=1)))
    width = ceil(furthest / COLUMNS)
    rows, counts = ceil(furthest / width), cause >= 0
    alive = counts & (distance > 0)
    place = (distance[alive].astype(np.int64) - 1) // width * len(CAUSES) + cause[alive]
    sums = np.bincount(place, regret[alive], rows * len(CAUSES))
    lost = sums.astype(np.float64).reshape(rows, len(CAUSES))
    return RegretByDistance(label, width, lost, float(regret[counts & (distance <= 0)].sum()), episodes)


def agent_regrets(folder: Folder) -> list[RegretByDistance]:
    """Under the largest budget: of the first agent, the best fixed depth, and the control that shuffles its depths, as
    far as their regrets were kept."""
    best = folder.best_fixed(folder.widest)
    shown = [folder.first, best[0] if best else None, folder.agent("shuffled")]
    each = []
    for agent in dict.fromkeys(agent for agent in shown if agent is not None):
        rows = next(iter(folder.decisions(agent)), None)
        regrets = None if rows is None else folder.regrets(agent, rows)
        if rows is not None and regrets is not None:
            each.append((agent, rows.before, regrets))
    furthest = max((int(before.max(initial=1)) for _, before, _ in each), default=1)
    count = int(folder.spec["instances"])
    return [
        regret_by_distance(agent.words, before, own.cause, own.regret, count, furthest) for agent, before, own in each
    ]
