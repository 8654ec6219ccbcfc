"""How deep an agent commits, by the exact distance to the goal."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recommit.report import axes, figures
from recommit.report.agents.agent import CEILING
from recommit.report.axes import Figure
from recommit.report.embed import Html, short, tag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.report.agents.agent import Agent
    from recommit.report.reading import Folder

#: Columns of a figure, at most.
COLUMNS = 32
#: Fewer decisions than this are drawn pale, and have no mean.
FEW = 10
Z95 = 1.96


@dataclass(frozen=True)
class DepthCounts:
    """Decisions of one agent, by distance and depth."""

    agent: Agent
    width: int  #: distances in one row
    counts: NDArray[np.int64]  #: [rows, 8]; row r has the distances r * width + 1 .. (r + 1) * width
    dead: int  #: decisions in states that nobody can solve any more

    @property
    def total(self) -> NDArray[np.int64]:
        """By row."""
        result: NDArray[np.int64] = self.counts.sum(axis=1)
        return result

    def middle(self, row: int) -> float:
        """Middle of the row's distances."""
        return row * self.width + (self.width + 1) / 2

    def name(self, row: int) -> str:
        """Name of the row: its distances."""
        first, last = row * self.width + 1, (row + 1) * self.width
        return str(first) if first == last else f"{first}..{last}"

    def mean(self, row: int) -> tuple[float, float]:
        """Mean depth, and half of its 95 % interval."""
        counts, many = self.counts[row], int(self.total[row])
        depths = np.arange(1, 9)
        mean = float(counts @ depths / many)
        spread = float(counts @ (depths - mean) ** 2 / max(many - 1, 1))
        return mean, Z95 * sqrt(spread / many)


def shown(folder: Folder) -> list[Agent]:
    """The first agent, the same depths whatever the state, and the ceiling."""
    wanted = [folder.first, folder.agent("shuffled"), folder.agent(CEILING)]
    return list(dict.fromkeys(a for a in wanted if a is not None))


def tables(folder: Folder) -> list[DepthCounts]:
    """Under the largest budget, all seeds together; agents whose decisions are not there are left out."""
    decisions_of = []
    for agent in shown(folder):
        rows = folder.decisions(agent)
        if rows:
            before = np.concatenate([r.before for r in rows])
            decisions_of.append((agent, before, np.concatenate([r.depth for r in rows])))
    furthest = max((int(before.max(initial=1)) for _, before, _ in decisions_of), default=1)
    width = ceil(furthest / COLUMNS)
    result = []
    for agent, before, depth in decisions_of:
        alive = (before > 0) & (depth > 0)  # an answer that could not be read has no depth
        row = (before[alive] - 1) // width
        place = row.astype(np.int64) * 8 + depth[alive] - 1
        counts = np.bincount(place, minlength=8 * ceil(furthest / width)).reshape(-1, 8)
        result.append(DepthCounts(agent, width, counts, int((before < 0).sum())))
    return result


def shares(table: DepthCounts) -> Figure:
    """One column per distance, filled by the shares of the depths."""
    rows = len(table.counts)
    frame = axes.frame(0.5, rows * table.width + 0.5, 0, 100)
    title = f"Shares of depths by distance: {table.agent.words}"
    parts = frame.lines("exact distance to the goal", "decisions, %", y_ticks=(0, 25, 50, 75, 100))
    for r in range(rows):
        if not table.total[r]:
            continue
        left, right = frame.x(r * table.width + 0.5), frame.x((r + 1) * table.width + 0.5)
        parts.append(_column(table, r, left + 0.5, right - 0.5, frame))
    head = ("agent", "distance", "decisions", *(f"h={d}" for d in range(1, 9)))
    content = tuple(
        (table.agent.label, table.name(r), int(table.total[r]), *(int(v) for v in table.counts[r])) for r in range(rows)
    )
    return Figure(f"depth-shares-{table.agent.base}", title, axes.drawing(title, parts), head, content)


def _column(table: DepthCounts, row: int, left: float, right: float, frame: axes.Frame) -> Html:
    parts, filled, shares_in_words = [], 0.0, []
    for depth in range(1, 9):
        share = 100 * float(table.counts[row, depth - 1] / table.total[row])
        if not share:
            continue
        top, bottom = frame.y(filled + share), frame.y(filled)
        parts.append(
            tag(
                "rect",
                class_=f"depth d{depth}",
                x=short(left),
                width=short(right - left),
                y=short(top),
                height=short(bottom - top),
            )
        )
        filled += share
        shares_in_words.append(f"h={depth} {share:.0f} %")
    says = f"distance {table.name(row)}: {', '.join(shares_in_words)} of {table.total[row]} decisions"
    few = " few" if table.total[row] < FEW else ""
    return tag("g", tag("title", says), *parts, class_=f"column{few}")


def means(counts_of: list[DepthCounts]) -> Figure:
    """Mean depth by distance, with intervals; a control that ignores the state is flat."""
    series = []
    for table in counts_of:
        rows = [r for r in range(len(table.counts)) if table.total[r] >= FEW]
        values = [table.mean(r) for r in rows]
        series.append(
            figures.Series(
                table.agent.brief,
                table.agent.role,
                [table.middle(r) for r in rows],
                [mean for mean, _ in values],
                [max(mean - half, 1.0) for mean, half in values],
                [min(mean + half, 8.0) for mean, half in values],
                name=table.agent.label,
            )
        )
    return figures.lines(
        "depth-means",
        "Mean depth by distance",
        "exact distance to the goal",
        "mean depth",
        series,
        y_range=(0.5, 8.5),
        y_ticks=tuple(range(1, 9)),
        whole=True,
    )


def legend(depths: list[int]) -> Html:
    """Which colour is which depth."""
    keys = [tag("li", tag("span", class_=f"key d{d}", aria_hidden="true"), f"h = {d}") for d in depths]
    return tag("ul", *keys, class_="legend")


def used(every: list[DepthCounts]) -> list[int]:
    """Depths that somebody took."""
    total = sum((t.counts.sum(axis=0) for t in every), np.zeros(8, np.int64))
    return [d for d in range(1, 9) if total[d - 1]]


def dead_in_words(every: list[DepthCounts]) -> str:
    """Decisions that no column counts, in words; nothing if there are none."""
    lost = [f"{t.agent.words} {t.dead}" for t in every if t.dead]
    return f" Decisions in lost states are left out: {', '.join(lost)}." if lost else ""
