"""The figure of a sweep's card: success or return against queries per episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report import plotting

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        axes.plot([x, x], [low, high], color=colour, alpha=0.25, linewidth=1, zorder=2)
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
    labels(axes, [(name.removeprefix("fixed "), x, y) for name, x, y, *_ in rows])
    return figure


def _frontier(axes: Axes, points: list[tuple[float, float]]) -> None:
    look = {"color": plotting.COLOURS["fixed"], "alpha": 0.5, "zorder": 1}
    axes.step([x for x, _ in points], [y for _, y in points], where="post", **look)


#: Where a label may stand beside its mark: a direction, tried at growing distances.
AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def labels(axes: Axes, points: list[tuple[str, float, float]]) -> None:
    """A name beside each mark, in the first place around it where it covers neither a mark nor another name; far ones
    get a line."""
    figure: Any = axes.figure
    figure.draw_without_rendering()
    pixel = figure.dpi / 72
    marks = [tuple(axes.transData.transform((x, y))) for _, x, y in points]
    taken = [(u - 4 * pixel, v - 4 * pixel, u + 4 * pixel, v + 4 * pixel) for u, v in marks]
    frame = axes.get_window_extent()
    for (name, x, y), (u, v) in zip(points, marks, strict=True):
        width, height = (0.6 * 7 * len(name) + 2) * pixel, 9 * pixel
        spots = [(far, dx, dy) for far in (5, 14, 24, 36, 50, 66, 84) for dx, dy in AROUND]
        for far, dx, dy in spots:
            left = u + dx * far * pixel - (width if dx < 0 else 0 if dx > 0 else width / 2)
            low = v + dy * far * pixel - height / 2 + (dy * height / 4)
            box = (left, low, left + width, low + height)
            inside = frame.x0 <= box[0] and box[2] <= frame.x1 and frame.y0 <= box[1] and box[3] <= frame.y1
            if inside and not any(_meet(box, other) for other in taken):
                break
        taken.append(box)
        line = {"arrowstyle": "-", "color": plotting.RULE, "shrinkB": 3} if far > 14 else None
        place = ((left + width / 2 - u) / pixel, (low + height / 2 - v) / pixel)
        axes.annotate(
            name, (x, y), place, textcoords="offset points", fontsize=7, ha="center", va="center", arrowprops=line
        )


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
