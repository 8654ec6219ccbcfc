"""Where regret falls: what commitments gave away, by the exact distance to the goal and by cause."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from recommit.evaluate.agent_names import AgentName, file_name
from recommit.graph.regret import CAUSES
from recommit.policy.config import MAX_ACTIONS
from recommit.report import axes
from recommit.report.axes import Figure
from recommit.report.depths import COLUMNS
from recommit.report.embed import Html, joined, short, tag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.report.agents.agent import Agent
    from recommit.report.reading import AgentDecisions, Folder

#: How the names of files of regrets end; see ``recommit.evaluate.regrets``, which needs torch.
SUFFIX = "-regret"
#: What each cause means, for a legend.
MEANING = {
    "last look": "nothing could be solved any more",
    "lost level": "it made the level unsolvable",
    "round": "it led back to where the episode had been",
    "too deep": "a shallower depth was best",
    "too shallow": "a deeper depth was best",
}


@dataclass(frozen=True)
class LostByDistance:
    """What somebody's commitments gave away, in solved episodes."""

    label: str
    name: str  #: of the figure's files
    width: int  #: distances in one row
    lost: NDArray[np.float64]  #: [rows, causes]; row r has the distances r * width + 1 .. (r + 1) * width
    elsewhere: float  #: in states that nobody can solve any more
    episodes: int

    @property
    def per_hundred(self) -> NDArray[np.float64]:
        """[rows, causes] of a hundred episodes."""
        return 100 * self.lost / max(self.episodes, 1)

    def distances(self, row: int) -> str:
        """The row's distances, in words."""
        first, last = row * self.width + 1, (row + 1) * self.width
        return str(first) if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class AgentRegrets:
    """What the decisions of ``AgentDecisions`` cost against the best depth, row by row."""

    regret: NDArray[np.float64]  #: in solved episodes
    best: NDArray[np.int8]  #: the nearest depth that was best
    cause: NDArray[np.int8]  #: place in ``CAUSES``, -1 where the depth was one of the best


def read(folder: Folder, agent: Agent, rows: AgentDecisions) -> AgentRegrets | None:
    """Regrets of an agent's first seed under the largest budget; None where there are none."""
    name = f"decisions/{file_name(AgentName.parse(agent.name), folder.budgets[folder.widest], 0)}{SUFFIX}.parquet"
    columns = folder.table(name)
    if columns is None:
        return None
    try:
        same = all(np.array_equal(columns[key].to_numpy(), getattr(rows, key)) for key in ("instance", "turn"))
        regrets = AgentRegrets(*(columns[key].to_numpy() for key in ("regret", "best", "cause")))
    except KeyError as error:
        raise ValueError(f"eval: {name} cannot be read: {error}") from None
    if not same or not _plausible(regrets):
        raise ValueError(f"eval: {name}: expected a regret and a cause for each of {len(rows.turn)} decisions")
    return regrets


def _plausible(rows: AgentRegrets) -> bool:
    inside = (rows.cause >= -1) & (rows.cause < len(CAUSES)) & (rows.best >= 1) & (rows.best <= MAX_ACTIONS)
    return bool((inside & np.isfinite(rows.regret)).all())


def table(
    label: str,
    name: str,
    distance: NDArray[np.integer],
    cause: NDArray[np.integer],
    regret: NDArray[np.floating],
    episodes: int,
    furthest: int = 0,
) -> LostByDistance:
    """Sums of regret; ``furthest`` is the longest distance of the figure if it is not in these rows."""
    furthest = max(furthest, int(distance.max(initial=1)))
    width = ceil(furthest / COLUMNS)
    rows, counts = ceil(furthest / width), cause >= 0
    alive = counts & (distance > 0)
    place = (distance[alive].astype(np.int64) - 1) // width * len(CAUSES) + cause[alive]
    sums = np.bincount(place, regret[alive], rows * len(CAUSES))
    lost = sums.astype(np.float64).reshape(rows, len(CAUSES))
    return LostByDistance(label, name, width, lost, float(regret[counts & (distance <= 0)].sum()), episodes)


def figures(every: list[LostByDistance]) -> list[Figure]:
    """One each, all to the same scale."""
    highest = max((float(one.per_hundred.sum(axis=1).max(initial=0.0)) for one in every), default=0.0)
    return [figure(one, highest) for one in every]


def figure(lost: LostByDistance, highest: float) -> Figure:
    """One column per distance, as high as what is lost there in a hundred episodes, filled by cause."""
    each = lost.per_hundred
    rows = len(each)
    frame = axes.frame(0.5, rows * lost.width + 0.5, 0, 1.05 * highest)
    title = f"Where regret falls: {lost.label}"
    parts = frame.lines("exact distance to the goal", "given away, per 100 episodes")
    parts += [_column(lost, each[row], row, frame) for row in np.flatnonzero(each.any(axis=1)).tolist()]
    head = ("agent", "distance", *CAUSES)
    content = tuple((lost.label, lost.distances(r), *map(float, each[r])) for r in range(rows))
    return Figure(f"regret-{lost.name}", title, axes.drawing(title, parts), head, content)


def _column(lost: LostByDistance, each: NDArray[np.float64], row: int, frame: axes.Frame) -> Html:
    left, right = (frame.x((row + side) * lost.width + 0.5) for side in (0, 1))
    parts, filled = [], 0.0
    for cause in np.flatnonzero(each).tolist():
        top, bottom = frame.y(filled + each[cause]), frame.y(filled)
        size = {"width": short(right - left - 1), "height": short(bottom - top, 2)}
        parts.append(tag("rect", class_=f"cause c{cause}", x=short(left + 0.5), y=short(top, 2), **size))
        filled += float(each[cause])
    named = ", ".join(f"{CAUSES[cause]} {each[cause]:.2f}" for cause in np.flatnonzero(each).tolist())
    return tag("g", tag("title", f"distance {lost.distances(row)}: {named} per 100 episodes"), *parts)


def legend() -> Html:
    """Which colour is which cause, and what it means."""
    keys = [
        tag("li", tag("span", class_=f"key c{i}", aria_hidden="true"), f"{cause}: {MEANING[cause]}")
        for i, cause in enumerate(CAUSES)
    ]
    return tag("ul", *keys, class_="legend")


def in_words(lost: LostByDistance) -> Html:
    """The total, and the causes that it is made of, the largest first."""
    sums = lost.lost.sum(axis=0)
    total = float(sums.sum()) + lost.elsewhere
    if not total:
        return tag("p", f"{lost.label} gives nothing away: every depth is one of the best.", class_="quiet")
    shares = [f"{CAUSES[i]} {sums[i] / total:.0%}" for i in np.argsort(-sums, kind="stable").tolist() if sums[i]]
    shares += [f"in states that nobody can solve {lost.elsewhere / total:.0%}"] if lost.elsewhere else []
    each = 100 * total / max(lost.episodes, 1)
    return tag("p", f"{lost.label} gives away {each:.1f} of 100 episodes: {', '.join(shares)}.", class_="quiet")


def of_agents(folder: Folder) -> list[LostByDistance]:
    """Under the largest budget: the first agent, the fixed depth that solves most, and what ignores the state; those
    that have regrets."""
    best = folder.best_fixed(folder.widest)
    shown = [folder.first, best[0] if best else None, folder.agent("shuffled")]
    each = []
    for agent in dict.fromkeys(agent for agent in shown if agent is not None):
        rows = next(iter(folder.decisions(agent)), None)
        regrets = None if rows is None else read(folder, agent, rows)
        if rows is not None and regrets is not None:
            each.append((agent, rows.before, regrets))
    furthest = max((int(before.max(initial=1)) for _, before, _ in each), default=1)
    count = int(folder.spec["instances"])
    return [
        table(agent.words, _file_name(agent), before, own.cause, own.regret, count, furthest)
        for agent, before, own in each
    ]


def _file_name(agent: Agent) -> str:
    return agent.base if not agent.run else f"{agent.base}-other"


def paragraphs(every: list[LostByDistance]) -> Html:
    """All of them in words."""
    return joined(*map(in_words, every))
