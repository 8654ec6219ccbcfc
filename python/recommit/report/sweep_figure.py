"""The figure of a sweep's card: success or return against queries per episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report import plotting

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure


def write(card: dict[str, Any], use: str, *paths: Path) -> None:
    """Draw the figure, with a ring around the row to ``use``, and write it to the files."""
    with plotting.style():
        plotting.save(drawn(card, use), *paths)


def drawn(card: dict[str, Any], use: str) -> Figure:
    """Figure with a mark and interval per row, filled on the Pareto frontier (a step line). Fixed depths are joined and
    drawn above the rules, their marks hold the depth; the row to ``use`` has a ring."""
    figure = plotting.figure(7.2, 4.4)
    axes = figure.subplots()
    scale = 100 if card["score"] == "success" else 1
    rows = []  # of one episode without intervals
    for each in card["summary"]:
        ends = (scale * (each["score"][0] if end is None else end) for end in each["score"])
        rows.append((each["name"], each["queries"][0], *ends, each["frontier"]))
    front = sorted((x, y) for _, x, y, _, _, best in rows if best)
    line: dict[str, Any] = {"color": plotting.COLOURS["fixed"], "alpha": 0.5, "zorder": 1}
    axes.step(*zip(*front, strict=True), where="post", label="Pareto frontier", **line)
    fixed = [row for row in rows if row[0].startswith("fixed-")]
    axes.plot([row[1] for row in fixed], [row[2] for row in fixed], color=plotting.RULE, zorder=1)
    rules = [row[0] for row in rows if row not in fixed]
    for name, x, y, low, high, best in rows:
        at = rules.index(name) if name in rules else -1
        colour = plotting.COLOURS["other"] if at < 0 else plotting.DEPTHS[at % len(plotting.DEPTHS)]
        axes.plot([x, x], [low, high], color=colour, alpha=0.2, linewidth=1, zorder=2)
        look: dict[str, Any] = {"color": colour, "markerfacecolor": colour if best else "white"}
        if name == use:
            axes.plot(x, y, "o", markersize=15, color=colour, fillstyle="none", label=f"to use: {name}", zorder=5)
        if at < 0:
            axes.plot(x, y, "s", markersize=8, label="_" if name != fixed[0][0] else "fixed depth", zorder=4, **look)
            ink = "white" if best else colour
            text = name.removeprefix("fixed-")
            axes.annotate(text, (x, y), ha="center", va="center_baseline", fontsize=6, color=ink, zorder=5)
        else:
            axes.plot(x, y, "oDv^"[at % 4], markersize=6, label=name, zorder=3, **look)
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
    figure.legend(loc="outside lower center", ncols=3)
    return figure
