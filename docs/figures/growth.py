"""Draws docs/assets/growth-*.svg from the tables of growth beside them (needs matplotlib).

python docs/figures/growth.py
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

from recommit.report import plotting

ASSETS = Path(__file__).resolve().parents[1] / "assets"


def curves(name: str, key: str, x: str, y: str, scale: float = 1) -> dict[str, tuple[list[float], list[float]]]:
    series: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with (ASSETS / name).open() as file:
        for row in csv.DictReader(file):
            series[row[key]][0].append(float(row[x]))
            series[row[key]][1].append(float(row[y]) * scale)
    return series


def draw(axes, lines, title: str, x: str, y: str, legend: str, log_x: bool = False) -> None:
    for marker, (name, (across, up)) in zip("osv^Dx*", lines.items(), strict=False):
        points = sorted(zip(across, up, strict=True))
        axes.plot(*zip(*points, strict=True), marker=marker, markersize=4, linewidth=1.2, label=f"{name}{legend}")
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    if log_x:
        axes.set_xscale("log")
    axes.legend()


RATES = {"look": "observations alone", "build": "building a graph"}
#: Columns of growth-graphs.csv, and what a legend calls them.
COSTS = {"read": "reading", "best": "best values", "prices16": "best values, 16 prices", "rule": "one rule"}


def graphs() -> None:
    """Costs over the states of every board, and over the size of Sokoban's rooms."""
    with (ASSETS / "growth-graphs.csv").open() as file:
        rows = list(csv.DictReader(file))
    figure = plotting.figure(12, 3.6)
    left, middle, right = figure.subplots(1, 3)
    boards, rooms = ([row for row in rows if row["puzzle"] == name] for name in ("sliding", "sokoban"))
    across = [float(row["states"]) for row in boards]
    costs = {name: (across, [1000 * float(row[key]) for row in boards]) for key, name in COSTS.items()}
    draw(left, costs, "Sliding, every state, K = 15", "states", "CPU ms", "", log_x=True)
    sides = [float(row["size"].split("x")[0]) for row in rooms]
    nodes = {"states per start": (sides, [float(row["states"]) / float(row["starts"]) for row in rooms])}
    draw(middle, nodes, "Sokoban, one policy", "side of the room", "states per start", "")
    rates = {name: (sides, [float(row[key]) for row in rooms]) for key, name in RATES.items()}
    draw(right, rates, "Sokoban, states per CPU second", "side of the room", "states per CPU second", "")
    for axes in (middle, right):
        axes.set_xticks(sides, [str(int(side)) for side in sides])
    plotting.save(figure, ASSETS / "growth-graphs.svg")


#: Columns of growth-boxoban.csv, and what a legend calls them.
SHARES = {"median": "median level", "q99": "99 % of the levels", "most": "largest level"}
PARTS = {
    "policy_ms": "plans of the policy",
    "rest_ms": "nodes",
    "labels_ms": "labels",
    "scores_ms": "six rules",
}


def boxoban() -> None:
    """Tables by set of levels, states with a plan over the budget, and what the largest budget costs."""
    sets: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (ASSETS / "growth-boxoban.csv").open() as file:
        for row in csv.DictReader(file):
            sets[row["set"].split("-")[0]].append(row)
    last, places = [rows[-1] for rows in sets.values()], list(range(len(sets)))
    figure = plotting.figure(12, 4.2)
    left, middle, right = figure.subplots(1, 3)
    for marker, (key, name) in zip("osv", SHARES.items(), strict=True):
        left.plot(places, [float(row[f"bytes_{key}"]) for row in last], marker, markersize=5, label=name)
    left.set(title="Complete tables", ylabel="bytes, one per state", yscale="log")
    bottom = [0.0] * len(last)
    for key, name in PARTS.items():
        heights = [float(row[key]) for row in last]
        right.bar(places, heights, bottom=bottom, label=name)
        bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
    right.set(title=f"A graph, K = {last[0]['budget']}", ylabel="CPU ms per level")
    for axes in (left, right):
        axes.set_xticks(places, [name.replace(", ", "\n") for name in sets], fontsize=5.5)
        axes.legend()
    planned = {
        name: ([float(row["budget"]) for row in rows], [float(row["planned"]) for row in rows])
        for name, rows in sets.items()
    }
    for marker, (name, points) in zip("osv^Dx*P+", planned.items(), strict=True):
        middle.plot(*points, marker=marker, markersize=4, linewidth=1.2, label=name)
    middle.set(title="States with a plan, per level", xlabel="observations, K", yscale="log", ylim=(1, None))
    middle.set_xticks([float(row["budget"]) for row in next(iter(sets.values()))])
    middle.legend(fontsize=6.5)
    plotting.save(figure, ASSETS / "growth-boxoban.svg")


def solvers() -> None:
    """Time and size of the solvers' tables."""
    figure = plotting.figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    name = "growth-sliding.csv"
    draw(left, curves(name, "shape", "length", "us_median"), "Time of one call", "length", "median us", "")
    draw(right, curves(name, "shape", "length", "nodes_mean"), "Search", "length", "mean nodes", "")
    plotting.save(figure, ASSETS / "growth-sliding.svg")
    figure = plotting.figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    name, cells = "growth-sokoban.csv", "free cells of an open hall"
    draw(left, curves(name, "boxes", "free_cells", "ms"), "Making a table", cells, "ms", " boxes", log_x=True)
    sizes = curves(name, "boxes", "free_cells", "bytes", 2**-20)
    draw(right, sizes, "Size of a table", cells, "MiB", " boxes", log_x=True)
    plotting.save(figure, ASSETS / "growth-sokoban.svg")


def main() -> int:
    with plotting.style(**{"text.parse_math": True}):
        solvers()
        graphs()
        boxoban()
    return 0


if __name__ == "__main__":
    sys.exit(main())
