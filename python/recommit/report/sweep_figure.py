"""The figure of a sweep's card: success or return against queries per episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.text import Text

from recommit.report import plotting

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Box = tuple[float, float, float, float]


def write(card: dict[str, Any], path: Path) -> None:
    """Draw it."""
    with plotting.style():
        plotting.save(drawn(card), path)


def drawn(card: dict[str, Any]) -> Figure:
    """Every row as a mark with its interval; fixed depths are joined, and the Pareto frontier is a step line."""
    figure = plotting.figure(7.2, 4.4)
    axes = figure.subplots()
    scale = 100 if card["score"] == "success" else 1
    rows = [
        (each["name"], each["queries"][0], *(scale * value for value in each["score"]), each["frontier"])
        for each in card["summary"]
    ]
    _frontier(axes, sorted((x, y) for _, x, y, _, _, best in rows if best))
    fixed = [row for row in rows if row[0].startswith("fixed")]
    axes.plot([row[1] for row in fixed], [row[2] for row in fixed], "-", color=plotting.RULE, zorder=1)
    for name, x, y, low, high, best in rows:
        colour = plotting.COLOURS["other" if name.startswith("fixed") else "first"]
        axes.plot([x, x], [low, high], color=colour, alpha=0.2, linewidth=1, zorder=2)
        face = colour if best else "white"
        mark = "s" if name.startswith("fixed") else "o"
        axes.plot(x, y, mark, color=colour, markerfacecolor=face, markersize=5, zorder=3)
    axes.set(xlabel="queries per episode", ylabel="success, %" if scale == 100 else "return", xscale="log")
    ticks = [10**power * digit for power in range(5) for digit in (1, 1.5, 2, 3, 5, 7)]
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in ticks if low <= tick <= high])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")
    settings = card["settings"]
    latency = f", latency {settings['latency']}, {settings['mode']}" if settings["latency"] else ""
    title = f"{card['env']['name']}, {card['policy']['name']}{latency}; filled marks: Pareto frontier"
    axes.set_title(title, loc="left")
    labels(axes, [(name.removeprefix("fixed-"), x, y) for name, x, y, *_ in rows])
    return figure


def _frontier(axes: Axes, points: list[tuple[float, float]]) -> None:
    look = {"color": plotting.COLOURS["fixed"], "alpha": 0.5, "zorder": 1}
    axes.step([x for x, _ in points], [y for _, y in points], where="post", **look)


#: Distances that are tried, in points; up to the last near one a label needs no line.
FAR, NEAR = (5, 9, *range(14, 200, 10)), 9
#: Where a label may stand beside its mark: a direction, tried at growing distances.
AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def labels(axes: Axes, points: list[tuple[str, float, float]]) -> None:
    """A name beside each mark, in the first place around it where it covers neither a mark nor another name; far ones
    get a line, and marks that cover each other one label."""
    figure: Any = axes.figure
    figure.draw_without_rendering()
    pixel = figure.dpi / 72
    groups: dict[tuple[float, float], list[str]] = {}
    for name, x, y in points:
        u, v = axes.transData.transform((x, y))
        near = (each for each in groups if max(abs(each[0] - u), abs(each[1] - v)) < 3 * pixel)
        groups.setdefault(next(near, (u, v)), []).append(name)
    taken = [(u - 4 * pixel, v - 4 * pixel, u + 4 * pixel, v + 4 * pixel) for u, v in groups]
    frame = axes.get_window_extent()
    for (u, v), names in groups.items():
        label: Any = axes.annotate(
            ", ".join(names),
            tuple(axes.transData.inverted().transform((u, v))),
            (0, 0),
            textcoords="offset points",
            fontsize=7,
            arrowprops={"arrowstyle": "-", "color": plotting.SOFT, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 3},
        )
        label.set_in_layout(False)
        size = Text.get_window_extent(label)  # without its line
        far, box = _place((size.width, size.height), (u, v), pixel, taken, frame.extents)
        taken.append(box)
        label.set_position(((box[0] - u) / pixel + 1, (box[1] - v) / pixel + 1))
        label.arrow_patch.set_visible(far > NEAR)


def _place(
    size: tuple[float, float], mark: tuple[float, float], pixel: float, taken: list[Box], frame: Box
) -> tuple[int, Box]:
    """How far from its mark a label stands, in points, and the room it takes."""
    (u, v), (width, height) = mark, size
    for far in FAR:
        for dx, dy in AROUND:
            left = u + dx * far * pixel - (1 - dx) / 2 * width
            low = v + dy * far * pixel - (1 - dy) / 2 * height
            box = (left - pixel, low - pixel, left + width + pixel, low + height + pixel)
            inside = frame[0] <= box[0] and box[2] <= frame[2] and frame[1] <= box[1] and box[3] <= frame[3]
            if inside and not any(_meet(box, other) for other in taken):
                return far, box
    return far, box


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
