"""The figures of a report, one function each: a matplotlib figure with the numbers that it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate.agent_names import PRIVILEGED
from recommit.policy.config import PLAN_LENGTH
from recommit.report import by_distance, plotting, reading
from recommit.report.by_distance import FEW
from recommit.report.plotting import COLOURS, DEPTHS, SOFT
from recommit.results.table import csv_text
from recommit.results.table import pareto as pareto_front
from recommit.storage import files
from recommit.storage.terminal_text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recommit.report.by_distance import DepthCounts
    from recommit.report.reading import AgentPoint, Folder

#: Marker, size and legend text by role; the first agent's text is its own label.
MARKS = {
    "first": ("o", 9, ""),
    "control": ("^", 7, "ignores the state"),
    "oracle": ("D", 6.5, "oracle depth: the best for these plans"),
    "privileged": ("d", 6.5, "reads the exact distance"),
    "other": ("o", 5, "other depth rules"),
}
DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class ReportFigure:
    """A figure, and the numbers that it shows."""

    name: str  #: of its files
    title: str
    svg: bytes
    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    #: Draws the figure anew, for other formats.
    draw: Callable[[], Figure] = field(compare=False, repr=False)

    def csv(self) -> str:
        """The numbers, for a spreadsheet."""
        return csv_text(self.head, self.rows)

    def content(self, form: str) -> bytes:
        """The figure as pdf or png."""
        with plotting.style():
            return plotting.content(self.draw(), form)


def write_folder(every: Iterable[ReportFigure], folder: Path) -> None:
    """Make a folder of figures, each as SVG, PDF, PNG and CSV."""
    files.make_folders(files.Files(), folder.absolute())
    for one in every:
        name = re.sub(r"[/\\\0]", "_", one.name)  # it contains the budget's name from an untrusted file
        forms = {"svg": one.svg, "pdf": one.content("pdf"), "png": one.content("png"), "csv": one.csv().encode()}
        for ending, content in forms.items():
            files.replace(files.Files(), folder / f"{name}.{ending}", content)


def _made(
    name: str, title: str, draw: Callable[[], Figure], head: Sequence[str], rows: Iterable[tuple[object, ...]]
) -> ReportFigure:
    with plotting.style():
        svg = plotting.content(draw(), "svg")
    return ReportFigure(name, title, svg, tuple(head), tuple(rows), draw)


def pareto(folder: Folder, budget: str, *, compared_only: bool = False) -> ReportFigure:
    """Success against actions under one budget, and the Pareto front: of all agents, or with ``compared_only`` of the
    compared agents and of the policy's own fixed depths and depth rules."""
    points = reading.points(folder, budget)
    if compared_only:
        shown = reading.compared(folder, budget)
        own = [p for p in points if not (p.agent.run or p.agent.role == "privileged" or p.agent.samples_actions)]
        points = [p for p in points if p.agent in shown or p in own]
    head = ("agent", "budget", "solved %", "low", "high", "actions", "low", "high")
    rows = [
        (p.agent.label, budget, *(end for each in (p.solved, p.actions) for end in (each.mean, each.low, each.high)))
        for p in points
    ]
    title = f"Success against actions, at most {folder.budgets[budget]} observations"

    def draw() -> Figure:
        figure = plotting.figure(5.6, 4.6)
        axes = figure.subplots()
        _front(axes, points)
        families: dict[tuple[str, bool], list[AgentPoint]] = {}
        for point in sorted(points, key=lambda p: (bool(p.agent.run), p.agent.samples_actions, p.agent.depth)):
            if point.agent.depth:
                families.setdefault(point.agent.family, []).append(point)
        for number, family in enumerate(families.values()):
            _family(axes, family, number)
        for role in reversed(MARKS):
            _role(axes, role, [p for p in points if p.agent.role == role])
        lowest = min(p.solved.low for p in points)
        axes.set(xlabel="actions per episode", ylabel="solved, %", ylim=(max(0, 10 * ((lowest - 5) // 10)), 102))
        axes.set_xlim(left=0)
        entries = figure.legend(loc="outside lower left").legend_handles
        figure.set_figheight(3.8 + 0.17 * len(entries))  # a line each: two of the longest are wider than the figure
        return figure

    return _made(f"pareto-{budget}" + ("-compared" if compared_only else ""), title, draw, head, rows)


def _front(axes: Axes, points: Sequence[AgentPoint]) -> None:
    """Draw the Pareto front, without privileged agents, as a step line."""
    could = {p.agent.name: (p.solved.mean, p.actions.mean) for p in points if p.agent.base not in PRIVILEGED}
    if could:
        ys, xs = map(list, zip(*(could[name] for name in pareto_front(could)), strict=True))
        right = 1.05 * max(p.actions.high for p in points)
        axes.step([*xs, right], [*ys, ys[-1]], where="post", color=SOFT, lw=1.1, alpha=0.7, label="Pareto front")


def _family(axes: Axes, family: Sequence[AgentPoint], number: int) -> None:
    """Draw the fixed depths of one policy as a joined line; each mark holds its depth."""
    agent, colour = family[-1].agent, COLOURS["fixed"]
    words = agent.brief.replace(f"fixed {agent.depth}", "fixed depth h")
    inside, text = (colour, "white") if number == 0 else ("white", colour)
    look: dict[str, Any] = {
        "ls": DASHES[min(number, 3)],
        "lw": 1.2,
        "marker": "s",
        "ms": 8,
        "mfc": inside,
        "mec": colour,
    }
    _bars(axes, family, "fixed")
    axes.plot(*_places(family), color=colour, label=plain(words), **look)
    style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 6.5, "color": text, "clip_on": True}
    for point in family:
        axes.annotate(str(point.agent.depth), (point.actions.mean, point.solved.mean), **style)


def _role(axes: Axes, role: str, points: Sequence[AgentPoint]) -> None:
    """Draw the agents of one role (other than fixed depths) with one entry in the legend."""
    if not points:
        return
    mark, size, words = MARKS[role]
    names = [p.agent.brief for p in points]
    words = f"{words} ({', '.join(names)})" if role == "control" and len(names) < 4 else words
    inside = "white" if role in ("privileged", "other") else COLOURS[role]
    look: dict[str, Any] = {"ms": size, "color": COLOURS[role], "mfc": inside, "zorder": 5 if role == "first" else 3}
    _bars(axes, points, role)
    axes.plot(*_places(points), mark, label=plain(words or points[0].agent.words), **look)


def _places(points: Sequence[AgentPoint]) -> tuple[list[float], list[float]]:
    return [p.actions.mean for p in points], [p.solved.mean for p in points]


def _bars(axes: Axes, points: Sequence[AgentPoint], role: str) -> None:
    """Draw the 95 % intervals of solved and actions."""
    look: dict[str, Any] = {"color": COLOURS[role], "lw": 1.2, "alpha": 0.55}
    xs, ys = _places(points)
    axes.vlines(xs, [p.solved.low for p in points], [p.solved.high for p in points], **look)
    axes.hlines(ys, [p.actions.low for p in points], [p.actions.high for p in points], **look)


def depth_histogram(every: Sequence[DepthCounts]) -> ReportFigure:
    """Shares of the depths by distance: a panel per agent, a bar per distance."""
    many = max((one.counts.shape[1] for one in every), default=PLAN_LENGTH)
    head = ("agent", "distance", "decisions", *(f"h={d}" for d in range(1, many + 1)))
    rows = [
        (one.agent.label, by_distance.distances(r, one.width), int(one.total[r]), *map(int, one.counts[r]))
        for one in every
        for r in range(len(one.counts))
    ]

    def draw() -> Figure:
        figure = plotting.figure(3.6 * len(every) + 0.4, 3.5)
        panels = figure.subplots(1, len(every), sharey=True, squeeze=False)[0]
        used = sum((one.counts.sum(axis=0) for one in every), np.zeros(many, np.int64)) > 0
        for axes, one in zip(panels, every, strict=True):
            total = np.maximum(one.total, 1)
            pale = [1.0 if many >= FEW else 0.35 for many in one.total]
            for depth in np.flatnonzero(used).tolist():
                bottom = 100 * one.counts[:, :depth].sum(axis=1) / total
                label = f"h = {depth + 1}" if axes is panels[0] else "_"
                left, shares = one.width * np.arange(len(total)) + 0.5, 100 * one.counts[:, depth] / total
                look: dict[str, Any] = {"align": "edge", "color": DEPTHS[depth], "label": label}
                for bar, opacity in zip(axes.bar(left, shares, 0.92 * one.width, bottom, **look), pale, strict=True):
                    bar.set_alpha(opacity)
            axes.set(title=plain(one.agent.words), xlabel="exact distance to the goal", ylim=(0, 100))
            axes.grid(visible=False)
        panels[0].set_ylabel("decisions, %")
        figure.legend(loc="outside lower center", ncols=8)
        return figure

    return _made("depth-histogram", "Depths by distance to the goal", draw, head, rows)
