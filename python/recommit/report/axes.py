"""Coordinates and frames of figures, and SVG files that stand alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from recommit.report.embed import Html, csv_text, escaped, joined, short, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 460.0, 330.0
#: Space for ticks and names: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 14.0, 46.0
#: What a letter of a label takes, on average, in figures' units.
LETTER = 6.9


@dataclass(frozen=True)
class Scale:
    """A straight map from values to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The coordinate."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class Figure:
    """A picture, and the numbers that it shows."""

    name: str  #: of its files
    title: str
    svg: Html
    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def csv(self) -> str:
        """The numbers, for a spreadsheet."""
        return csv_text(self.head, self.rows)

    def alone(self) -> str:
        """The picture as a file: with its colours, those of the light page."""
        head, _, rest = self.svg.partition(">")
        title = tag("title", self.title)
        return f"{head}>{title}<style>{asset('figure.css')}</style>{rest}\n"


@cache
def asset(name: str) -> str:
    """A file of the package."""
    return (files("recommit.report") / "assets" / name).read_text(encoding="utf-8")


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two others, about so many."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= 0.9 * rough)
    count = floor((high - ceil(low / step) * step) / step + 1e-9) + 1
    return [round((ceil(low / step) + i) * step, 10) for i in range(count)]


@dataclass(frozen=True)
class Frame:
    """Both scales of a figure."""

    x: Scale
    y: Scale

    def lines(
        self, x_name: str, y_name: str, x_ticks: Sequence[float] | None = None, y_ticks: Sequence[float] | None = None
    ) -> list[Html]:
        """Faint rules, ticks and names."""
        parts = []
        bottom = self.y.start
        for value in ticks(self.y.low, self.y.high) if y_ticks is None else y_ticks:
            at = short(self.y(value))
            parts.append(tag("line", class_="rule", x1=short(self.x.start), x2=short(self.x.end), y1=at, y2=at))
            parts.append(words(self.x.start - 6, self.y(value) + 4, short(value, 3), "tick", anchor="end"))
        for value in ticks(self.x.low, self.x.high, 6) if x_ticks is None else x_ticks:
            parts.append(words(self.x(value), bottom + 17, short(value, 3), "tick", anchor="middle"))
        axis = {"x1": short(self.x.start), "x2": short(self.x.end), "y1": short(bottom), "y2": short(bottom)}
        parts.append(tag("line", **axis, class_="axis"))
        middle = (self.y.start + self.y.end) / 2
        parts.append(words((self.x.start + self.x.end) / 2, bottom + 37, x_name, "name", anchor="middle"))
        turned = f"rotate(-90 13 {short(middle)})"
        parts.append(tag("text", y_name, class_="name", x=13, y=short(middle), text_anchor="middle", transform=turned))
        return parts


def frame(x_low: float, x_high: float, y_low: float, y_high: float, *, right: float = RIGHT) -> Frame:
    """A figure of the usual size; an empty range is made wider, since it has no scale."""
    x_high = x_high if x_high > x_low else x_low + 1
    y_high = y_high if y_high > y_low else y_low + 1
    return Frame(Scale(x_low, x_high, LEFT, WIDTH - right), Scale(y_low, y_high, HEIGHT - BOTTOM, TOP))


def words(x: float, y: float, text: str, class_: str, *, anchor: str | None = None) -> Html:
    """A label."""
    return tag("text", text, class_=class_, x=short(x), y=short(y), text_anchor=anchor)


def path(points: Sequence[tuple[float, float]], class_: str) -> Html:
    """A line through points."""
    return tag("polyline", class_=class_, points=" ".join(f"{short(x)},{short(y)}" for x, y in points))


def drawing(label: str, parts: Sequence[Html], *, role: str = "img") -> Html:
    """The picture; ``label`` says what it shows to those who do not see it; a ``group`` has parts to point at."""
    space = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {short(WIDTH)} {short(HEIGHT)}"'
    return Html(f'<svg {space} class="figure" role="{role}" aria-label="{escaped(label)}">{joined(*parts)}</svg>')


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places of labels in the order given: at least ``gap`` apart, as near to where they belong as that allows."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = [min(max(places[i], low), high) for i in order]
    for k in range(1, len(moved)):
        moved[k] = max(moved[k], moved[k - 1] + gap)
    if moved and moved[-1] > high:
        moved[-1] = high
        for k in range(len(moved) - 2, -1, -1):
            moved[k] = min(moved[k], moved[k + 1] - gap)
    result = [0.0] * len(places)
    for k, i in enumerate(order):
        result[i] = moved[k]
    return result


@dataclass(frozen=True)
class Box:
    """A rectangle that a label takes."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Do they overlap?"""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def beside(x: float, y: float, text: str, taken: list[Box], inside: Box) -> tuple[float, float, str] | None:
    """Where a point's label fits: x, y, anchor; the box is added to ``taken``. None where it fits nowhere."""
    width = LETTER * len(text)
    for dx, dy, anchor in (
        (9, 4, "start"),
        (-9, 4, "end"),
        (0, -10, "middle"),
        (0, 18, "middle"),
        (8, -8, "start"),
        (8, 16, "start"),
        (-8, -8, "end"),
        (-8, 16, "end"),
    ):
        left = x + dx - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        box = Box(left, y + dy - 10, left + width, y + dy + 3)
        fits = box.left >= inside.left and box.right <= inside.right
        if fits and box.top >= inside.top and box.bottom <= inside.bottom and not any(box.meets(o) for o in taken):
            taken.append(box)
            return x + dx, y + dy, anchor
    return None
