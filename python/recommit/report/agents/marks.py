"""Marks of agents in a plane, their bars and names, and the lines that join them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from recommit.evaluate import metrics
from recommit.report import axes
from recommit.report.agents.agent import KNOWING
from recommit.report.axes import Box, words
from recommit.report.embed import Html, short, tag

if TYPE_CHECKING:
    from recommit.report.agents.agent import Agent
    from recommit.report.agents.plotted import PlottedAgent

#: With more agents than this, figures leave some unnamed or out.
MANY = 16
#: Corners of the marks, around a point.
_MARKS = {
    "fixed": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    "control": ((0, -6), (5.5, 4), (-5.5, 4)),
    "ceiling": ((0, -7), (6, 0), (0, 7), (-6, 0)),
    "knowing": ((0, -5), (4.5, 0), (0, 5), (-4.5, 0)),
}
_RADIUS = {"first": 7.0, "other": 4.0}


def mark(x: float, y: float, role: str) -> Html:
    """Roles differ in shape, not by colour alone."""
    if role in _MARKS:
        corners = " ".join(f"{short(x + dx)},{short(y + dy)}" for dx, dy in _MARKS[role])
        return tag("polygon", class_="mark", points=corners)
    return tag("circle", class_="mark", cx=short(x), cy=short(y), r=short(_RADIUS[role]))


#: Who gets the first choice of places for its label.
ORDER = ("first", "ceiling", "control", "fixed", "other", "knowing")


def _word(agent: Agent, plotted: list[PlottedAgent]) -> str:
    """What stands beside a mark: of the fixed depths of another policy, the deepest is named after it."""
    if not agent.depth:
        return "" if agent.role in ("other", "knowing") and len(plotted) > MANY else agent.brief
    family = [p.agent.depth for p in plotted if p.agent.family == agent.family]
    own = not agent.run and not agent.drawn
    return agent.brief if own or agent.depth == max(family) else ""


def labels(plotted: list[PlottedAgent], places: list[tuple[float, float]], frame: axes.Frame) -> list[Html]:
    """Names beside the marks, where there is room for them."""
    taken = [Box(x - 7, y - 7, x + 7, y + 7) for x, y in places]
    taken += [box for point in plotted for box in _reach(point, frame)]
    lines = [box for line in (_front(plotted, frame), *_families(plotted, frame)) for box in _along(line)]
    inside = Box(frame.x.start, frame.y.end - 10, frame.x.end + 8, frame.y.start)
    placed = []
    for i in sorted(range(len(plotted)), key=lambda i: ORDER.index(plotted[i].agent.role)):
        agent = plotted[i].agent
        text = _word(agent, plotted)
        if not 0 < len(text) <= 24:
            continue
        spot = _place(*places[i], text, taken, lines, inside)
        if spot:
            placed.append(tag("g", words(*spot[:2], text, "label", anchor=spot[2]), class_=f"over {agent.role}"))
    return placed


def _place(
    x: float, y: float, text: str, taken: list[Box], lines: list[Box], inside: Box
) -> tuple[float, float, str] | None:
    """Beside the mark, clear of the lines too where that can be."""
    spot = axes.beside(x, y, text, [*taken, *lines], inside) or axes.beside(x, y, text, taken, inside)
    if spot:
        left = spot[0] - {"start": 0.0, "middle": 0.5, "end": 1.0}[spot[2]] * axes.LETTER * len(text)
        taken.append(Box(left, spot[1] - 10, left + axes.LETTER * len(text), spot[1] + 3))
    return spot


def _along(line: list[tuple[float, float]]) -> list[Box]:
    """Small boxes on a line, near enough to each other that no label fits between."""
    boxes = []
    for (x, y), (to_x, to_y) in itertools.pairwise(line):
        many = int(max(abs(to_x - x), abs(to_y - y)) / 6) + 1
        spots = [(x + (to_x - x) * i / many, y + (to_y - y) * i / many) for i in range(many + 1)]
        boxes += [Box(a - 1, b - 1, a + 1, b + 1) for a, b in spots]
    return boxes


def _reach(point: PlottedAgent, frame: axes.Frame) -> list[Box]:
    """What the bars of both intervals take, so that no label is struck through."""
    x, y = frame.x(point.actions), frame.y(point.solved)
    upright = Box(x - 2, frame.y(point.solved_high), x + 2, frame.y(point.solved_low))
    if point.actions_low is None or point.actions_high is None:
        return [upright]
    return [upright, Box(frame.x(point.actions_low), y - 2, frame.x(point.actions_high), y + 2)]


def families(plotted: list[PlottedAgent], frame: axes.Frame) -> list[Html]:
    """Fixed depths of one policy, joined in the order of the depths."""
    return [
        axes.path(spots, f"family f{min(i, 3)}" if i else "family") for i, spots in enumerate(_families(plotted, frame))
    ]


def _families(plotted: list[PlottedAgent], frame: axes.Frame) -> list[list[tuple[float, float]]]:
    """Their places; those of the evaluation's own policy first."""
    lines: dict[tuple[str, bool], list[PlottedAgent]] = {}
    for point in sorted(plotted, key=lambda point: (bool(point.agent.run), point.agent.drawn, point.agent.depth)):
        if point.agent.depth:
            lines.setdefault(point.agent.family, []).append(point)
    return [[(frame.x(p.actions), frame.y(p.solved)) for p in line] for line in lines.values()]


def thresholds(plotted: list[PlottedAgent], frame: axes.Frame) -> list[Html]:
    """A line over the thresholds of each rule, once for the agents that differ in which of them they take; as far as
    it is in the frame."""
    lines = {point.line: point.agent for point in reversed(plotted) if point.line}
    drawn = []
    for line, agent in lines.items():
        inside = [(x, y) for x, y in line if frame.x.low <= x <= frame.x.high and frame.y.low <= y <= frame.y.high]
        if len(inside) > 1:
            path = axes.path([(frame.x(x), frame.y(y)) for x, y in inside], "family")
            drawn.append(tag("g", tag("title", f"{agent.words}, over its thresholds"), path, class_="thresholds"))
    return drawn


def bars(point: PlottedAgent, frame: axes.Frame) -> list[Html]:
    """Both intervals."""
    x, y = short(frame.x(point.actions)), short(frame.y(point.solved))
    low, high = short(frame.y(point.solved_low)), short(frame.y(point.solved_high))
    drawn = [tag("line", class_="bar", x1=x, x2=x, y1=low, y2=high)]
    if point.actions_low is not None and point.actions_high is not None:
        left, right = short(frame.x(point.actions_low)), short(frame.x(point.actions_high))
        drawn.append(tag("line", class_="bar", x1=left, x2=right, y1=y, y2=y))
    return drawn


def front(plotted: list[PlottedAgent], frame: axes.Frame) -> list[Html]:
    """A step through those that nobody dominates, of all that could be played."""
    corners = _front(plotted, frame)
    return [axes.path(corners, "front-line")] if corners else []


def _front(plotted: list[PlottedAgent], frame: axes.Frame) -> list[tuple[float, float]]:
    could = [metrics.ParetoPoint(p.agent.name, p.solved, p.actions) for p in plotted if p.agent.base not in KNOWING]
    corners: list[tuple[float, float]] = []
    for point in metrics.front(could):
        x, y = frame.x(point.actions), frame.y(point.solve_rate)
        corners += [(x, corners[-1][1])] if corners else []
        corners.append((x, y))
    return [*corners, (frame.x.end, corners[-1][1])] if corners else []
