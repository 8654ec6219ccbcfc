"""Solved against actions, and lines over budgets, distances or steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.evaluate import reported as paper
from recommit.report import axes
from recommit.report.agents import groups, marks
from recommit.report.agents.plotted import PlottedAgent, points
from recommit.report.axes import Figure, words
from recommit.report.embed import Html, short, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recommit.report.reading import Folder


def pareto(folder: Folder, budget: str) -> list[Figure]:
    """Solved against actions for one budget, up is better, left is better: all of it, and what is near the first
    agent."""
    plotted = points(folder, budget)
    printed = paper.MAIN.get((folder.task, budget), {})
    most = max([p.actions_high or p.actions for p in plotted] + [cell.actions or 0 for cell in printed.values()])
    title = f"Solved against actions, {budget} budget (K = {folder.budgets[budget]})"
    whole = _plane(f"pareto-{budget}", title, budget, plotted, axes.frame(0, most * 1.06, 0, 104), printed)
    near = neighbours(plotted)
    if len(near) < 2 or len(near) == len(plotted):
        return [whole]
    x = [v for p in near for v in (p.actions, p.actions_low, p.actions_high) if v is not None]
    y = [v for p in near for v in (p.solved_low, p.solved_high)]
    room = 0.06 * (max(x) - min(x)), 0.06 * (max(y) - min(y))
    frame = axes.frame(min(x) - room[0], max(x) + room[0], min(y) - room[1], max(y) + room[1])
    return [whole, _plane(f"pareto-{budget}-near", f"The same, near {near[0].agent.words}", budget, near, frame, {})]


def front(folder: Folder, budget: str) -> Figure:
    """The same of the policy's own depths and of those that it is compared with alone."""
    compared = groups.compared(folder, budget)
    plotted = [
        p for p in points(folder, budget) if p.agent in compared or not (p.agent.run or p.agent.role == "knowing")
    ]
    plotted = [p for p in plotted if p.agent in compared or not p.agent.drawn]
    most = max(p.actions_high or p.actions for p in plotted)
    title = f"Solved against actions, at most {folder.budgets[budget]} looks"
    return _plane(f"pareto-{budget}-front", title, budget, plotted, axes.frame(0, most * 1.06, 0, 104), {})


def neighbours(plotted: list[PlottedAgent]) -> list[PlottedAgent]:
    """Those with which the first agent has to be compared closely, itself the first of them."""
    own = plotted[0]
    return [
        p for p in plotted if abs(p.solved - own.solved) <= 12 and abs(p.actions - own.actions) <= 0.3 * own.actions
    ]


def _plane(
    name: str,
    title: str,
    budget: str,
    plotted: list[PlottedAgent],
    frame: axes.Frame,
    printed: Mapping[str, paper.Printed],
) -> Figure:
    parts = frame.lines("actions per episode", "solved, %")
    parts += marks.front(plotted, frame) + marks.families(plotted, frame) + marks.thresholds(plotted, frame)
    places = [(frame.x(p.actions), frame.y(p.solved)) for p in plotted]
    labels = marks.labels(plotted, places, frame)
    for i in sorted(range(len(plotted)), key=lambda i: -marks.ORDER.index(plotted[i].agent.role)):
        point, (x, y) = plotted[i], places[i]
        drawn = [tag("title", point.says()), *marks.bars(point, frame), marks.mark(x, y, point.agent.role)]
        says = {"tabindex": 0, "role": "img", "aria_label": point.says()}
        parts.append(tag("g", *drawn, class_=f"point {point.agent.role}", **says))
    parts += labels  # above all marks
    parts += [_printed(word, cell, frame) for word, cell in printed.items()]
    head = ("agent", "budget", "solved %", "low", "high", "actions", "low", "high")
    rows = tuple(
        (p.agent.label, budget, p.solved, p.solved_low, p.solved_high, p.actions, p.actions_low, p.actions_high)
        for p in plotted
    )
    return Figure(name, title, axes.drawing(title, parts, role="group"), head, rows)


def _printed(name: str, cell: paper.Printed, frame: axes.Frame) -> Html:
    """A number of the paper, a cross; shown only if it is asked for."""
    assert cell.solved is not None
    assert cell.actions is not None
    x, y = frame.x(cell.actions), frame.y(cell.solved)
    says = f"printed in the paper, {name}: {cell.solved:.1f} % solved, {cell.actions:.0f} actions"
    lines = [
        tag("line", x1=short(x - 5), y1=short(y - 5), x2=short(x + 5), y2=short(y + 5)),
        tag("line", x1=short(x - 5), y1=short(y + 5), x2=short(x + 5), y2=short(y - 5)),
    ]
    text = f"paper: {name}"
    fits = x + 8 + axes.LETTER * len(text) <= axes.WIDTH
    label = words(x + 8 if fits else x - 8, y + 4, text, "label", anchor=None if fits else "end")
    return tag("g", tag("title", says), *lines, label, class_="point paper", tabindex=0, role="img", aria_label=says)


@dataclass(frozen=True)
class Series:
    """A line of a figure."""

    label: str
    class_: str
    xs: Sequence[float]
    ys: Sequence[float]
    #: Below and above, where there is an interval.
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    #: Marks without a line between them.
    loose: bool = False
    #: In the figure's numbers; empty where it is the label.
    name: str = ""


def lines(
    name: str,
    title: str,
    x_name: str,
    y_name: str,
    series: Sequence[Series],
    *,
    y_range: tuple[float, float] | None = None,
    upright: Sequence[tuple[float, str]] = (),
    y_ticks: Sequence[float] | None = None,
    whole: bool = False,
) -> Figure:
    """Lines with their names at their right ends; ``upright`` are values of x that are pointed out. ``whole`` values of
    x have no ticks between them."""
    series = [one for one in series if len(one.xs)]
    all_x = [x for one in series for x in one.xs]
    all_y = [y for one in series for values in (one.ys, one.low, one.high) for y in values]
    low, high = y_range or (min([0.0, *all_y]), max(all_y, default=1.0) * 1.05)
    longest = max((len(one.label) for one in series), default=0)
    frame = axes.frame(min(all_x, default=0), max(all_x, default=1), low, high, right=12 + axes.LETTER * longest)
    steps = [value for value in axes.ticks(frame.x.low, frame.x.high, 6) if value == int(value)] if whole else None
    parts = frame.lines(x_name, y_name, steps, y_ticks)
    for value, text in upright:
        at = short(frame.x(value))
        parts.append(tag("line", class_="upright", x1=at, x2=at, y1=short(frame.y.start), y2=short(frame.y.end)))
        parts.append(words(frame.x(value) - 4, frame.y.start - 6, text, "tick halo", anchor="end"))
    parts += [tag("g", tag("title", one.label or title), *_line(one, frame), class_=one.class_) for one in series]
    named = [one for one in series if one.label]
    ends = axes.spread([frame.y(one.ys[-1]) for one in named], 13, frame.y.end + 4, frame.y.start)
    for one, end in zip(named, ends, strict=True):
        parts.append(tag("g", words(frame.x(one.xs[-1]) + 7, end + 4, one.label, "label"), class_=one.class_))
    head = ("series", x_name, y_name, "low", "high")
    rows = tuple(
        (one.name or one.label or title, x, y, one.low[i] if one.low else None, one.high[i] if one.high else None)
        for one in series
        for i, (x, y) in enumerate(zip(one.xs, one.ys, strict=True))
    )
    return Figure(name, title, axes.drawing(title, parts), head, rows)


def _line(one: Series, frame: axes.Frame) -> list[Html]:
    spots = [(frame.x(x), frame.y(y)) for x, y in zip(one.xs, one.ys, strict=True)]
    parts = []
    if one.low:
        edge = [(frame.x(x), frame.y(y)) for x, y in zip(one.xs, one.low, strict=True)]
        edge += [(frame.x(x), frame.y(y)) for x, y in zip(reversed(one.xs), reversed(one.high), strict=True)]
        corners = " ".join(f"{short(x)},{short(y)}" for x, y in edge)
        parts.append(tag("polygon", class_="band", points=corners))
    if one.loose:
        return parts + [tag("circle", class_="mark", cx=short(x), cy=short(y), r=3) for x, y in spots]
    return [*parts, axes.path(spots, "line")]


def curves(folder: Folder) -> list[Figure]:
    """What every agent has solved after 1, 2, ... decisions, and what it has spent."""
    assert folder.curves is not None
    candidates = [
        a
        for a in folder.agents
        if a.name in folder.curves and (a.role not in ("other", "knowing") or len(folder.agents) <= 8)
    ]
    own = [a for a in candidates if not a.run and not a.drawn]
    shown = own if len(candidates) > marks.MANY else candidates
    upright = [(k, f"{name}, K = {k}") for name, k in folder.budgets.items()]
    figures = []
    for name, title, key, y_name, factor in (
        ("curve-solved", "Solved within K decisions", "solve_rate", "solved, %", 100.0),
        ("curve-actions", "Actions spent within K decisions", "actions", "actions per episode", 1.0),
    ):
        series = [
            Series(
                a.brief,
                a.role,
                [p["budget"] for p in folder.curves[a.name]],
                [factor * p[key] for p in folder.curves[a.name]],
                name=a.label,
            )
            for a in reversed(shown)
        ]
        fits = (0.0, 104.0) if factor > 1 else None
        figures.append(
            lines(name, title, "budget K, decisions", y_name, series, y_range=fits, upright=upright, whole=True)
        )
    return figures
