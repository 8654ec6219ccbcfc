"""Draws docs/assets/growth-*.svg from the tables of growth beside them (needs matplotlib).

python bench/solving/sliding.py --growth docs/assets/growth-sliding.csv
python bench/solving/sokoban_table.py --growth docs/assets/growth-sokoban.csv
python docs/figures/growth.py
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

ASSETS = Path(__file__).resolve().parents[1] / "assets"


def curves(name: str, key: str, x: str, y: str, scale: float = 1) -> dict[str, tuple[list[float], list[float]]]:
    found: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with (ASSETS / name).open() as file:
        for row in csv.DictReader(file):
            found[row[key]][0].append(float(row[x]))
            found[row[key]][1].append(float(row[y]) * scale)
    return found


def draw(axes, lines, title: str, x: str, y: str, legend: str, log_x: bool = False) -> None:
    for marker, (name, (across, up)) in zip("osv^Dx*", lines.items(), strict=False):
        points = sorted(zip(across, up, strict=True))
        axes.plot(*zip(*points, strict=True), marker=marker, markersize=4, linewidth=1.2, label=f"{name}{legend}")
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    if log_x:
        axes.set_xscale("log")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8, frameon=False)


def save(figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(ASSETS / name, metadata={"Date": None})
    plt.close(figure)


def main() -> int:
    mpl.rcParams.update(
        {"svg.hashsalt": "recommit", "font.size": 9, "svg.fonttype": "path", "savefig.facecolor": "white"}
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    name = "growth-sliding.csv"
    draw(left, curves(name, "shape", "length", "us_median"), "Time of one call", "length", "median us", "")
    draw(right, curves(name, "shape", "length", "nodes_mean"), "Search", "length", "mean nodes", "")
    save(figure, "growth-sliding.svg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    name, cells = "growth-sokoban.csv", "free cells of an open hall"
    draw(left, curves(name, "boxes", "free_cells", "ms"), "Making a table", cells, "ms", " boxes", log_x=True)
    sizes = curves(name, "boxes", "free_cells", "bytes", 2**-20)
    draw(right, sizes, "Size of a table", cells, "MiB", " boxes", log_x=True)
    save(figure, "growth-sokoban.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
