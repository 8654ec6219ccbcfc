"""What the depth rule is worth: how far it goes from the best constant depth of its plans to the perfect depths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report import axes
from recommit.report.agents.agent import CEILING
from recommit.report.embed import Html, joined, short, tag
from recommit.report.sections import number, percent

if TYPE_CHECKING:
    from recommit.report.axes import Scale
    from recommit.report.reading import Folder

_WIDTH, _HEIGHT, _MIDDLE = 360.0, 46.0, 16.0


def worth(folder: Folder, budget: str) -> Html | None:
    """The headline figure under one budget, with its interval; None where the evaluation has none."""
    row = folder.row(folder.first, budget)
    if row.get("gain") is None:
        return None
    low, high = row["gain_low"], row["gain_high"]
    judged = "beyond chance (95 %)" if low > 0 or high < 0 else "nothing beyond chance (95 %)"
    figure = tag("strong", number(row["gain"], 2))
    bounds = tag("span", f"{number(low, 2)} .. {number(high, 2)}, {judged}", class_="bounds")
    return tag(
        "div",
        tag("h3", "What the depth rule is worth"),
        tag("p", figure, " ", bounds, class_="figure"),
        _gauge(row),
        tag("p", _words(folder, budget), class_="quiet"),
        class_="worth",
    )


def in_words(row: dict[str, Any]) -> str:
    """The figure and its interval."""
    return f"{number(row['gain'], 2)} ({number(row['gain_low'], 2)} .. {number(row['gain_high'], 2)})"


def _words(folder: Folder, budget: str) -> str:
    """Say what 0 and 1 are."""
    constant, ceiling = folder.constant(budget), folder.agent(CEILING)
    priced = any(folder.spec.get(f"price_{what}") for what in ("action", "look"))
    figures = [
        "" if agent is None or priced else f" ({percent(folder.row(agent, budget)['solve_rate'])} %)"
        for agent in (constant, ceiling)
    ]
    named = f"always {constant.depth}" if constant else "the best constant depth"
    what = "value" if priced else "puzzles solved"
    return (
        f"Gain share: of the way in {what} from {named}{figures[0]} to perfect depths{figures[1]}, for the same plans."
    )


def _gauge(row: dict[str, Any]) -> Html:
    """A line from the constant to the ceiling, with the interval and the figure on it."""
    scale = axes.Scale(min(0.0, max(row["gain_low"], -1.0)), 1.0, 8, _WIDTH - 8)
    low, mean, high = (min(max(row[name], scale.low), 1.0) for name in ("gain_low", "gain", "gain_high"))
    says = f"gain share and its 95 % interval: {in_words(row)}"
    parts = [
        tag("line", class_="axis", x1=short(scale(scale.low)), x2=short(scale(1)), y1=_MIDDLE, y2=_MIDDLE),
        *_end(scale, 0.0, "fixed", "0: best constant", "start" if scale(0) < 100 else "middle"),
        *_end(scale, 1.0, "ceiling", "1: perfect depths", "end"),
        tag("line", class_="reach first", x1=short(scale(low)), x2=short(scale(high)), y1=_MIDDLE, y2=_MIDDLE),
        tag("circle", class_="first mark", cx=short(scale(mean)), cy=_MIDDLE, r=7),
    ]
    space = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {short(_WIDTH)} {short(_HEIGHT)}"'
    return Html(f'<svg {space} class="figure gauge" role="img" aria-label="{says}">{joined(*parts)}</svg>')


def _end(scale: Scale, at: float, role: str, text: str, anchor: str) -> list[Html]:
    x = scale(at)
    tick = tag("line", class_=f"end {role}", x1=short(x), x2=short(x), y1=_MIDDLE - 9, y2=_MIDDLE + 9)
    return [tick, axes.words(x, _MIDDLE + 24, text, "tick", anchor=anchor)]
