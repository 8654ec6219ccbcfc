"""Draws results-PUZZLE.svg from results-PUZZLE.csv, and writes that from what `recommit reproduce` left.

python docs/figures/results.py laptop/sliding laptop/sokoban --out docs/assets
python docs/figures/results.py --out docs/assets      # draws the points that are there
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

import numpy as np

from recommit.evaluate import seeds
from recommit.report import plotting

#: Puzzle -> its title, and K by budget.
PUZZLES = {
    "sliding": ("Sliding 3x3", {"loose": 15, "tight": 10}),
    "sokoban": ("Sokoban 7x7, one box", {"loose": 6, "tight": 4}),
}
#: Legend, pattern of agents, colour, marker, size, joined?
SERIES = (
    ("warm start, fixed depth (no RL)", r"fixed-[1-8]@init", "#b8b4ac", "s", 4, True),
    ("adaptive's plans, fixed depth", r"fixed-[1248]", "#d98a3d", "s", 5, True),
    ("fixed depth (RL)", r"fixed-[1-8]@fixed-[1-8]", "#a33d00", "s", 6, True),
    ("adaptive, depths shuffled", r"shuffled", "#a8407f", "^", 6, False),
    ("best state-independent mixture", r"mixture", "#a8407f", "v", 6, False),
    ("the paper's recipe", r"adaptive@paper", "#23232b", "x", 6, False),
    ("other prices of an action", r"adaptive@price-[0-9.]+", "#7ba4dd", "o", 5, True),
    ("adaptive (RL)", r"adaptive", "#1c5fb8", "o", 9, False),
    ("adaptive + memory", r"adaptive-memory", "#9cc3ff", "*", 7, False),
    ("oracle depth", r"oracle-dp", "#0b7a55", "D", 6, False),
)


def points(folders: list[Path]) -> dict[tuple[str, str], tuple[float, float]]:
    """(Actions, solved %) by agent and budget: means over the seeds that have the agent."""
    every: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for folder in folders:
        rows = seeds.read(folder)
        for key in rows.keys:
            actions, solved = (rows.mean(*key, column).mean for column in ("actions", "solved"))
            every.setdefault(key, []).append((actions, 100 * solved))
    return {key: tuple(np.mean(values, axis=0)) for key, values in every.items()}


def draw(axes, averages: dict[str, tuple[float, float]], title: str) -> None:
    for legend, pattern, color, marker, size, joined in SERIES:
        names = sorted((n for n in averages if re.fullmatch(pattern, n)), key=lambda n: averages[n])
        if not names:
            continue
        x, y = zip(*(averages[name] for name in names), strict=True)
        line = {"linestyle": "-" if joined else "", "linewidth": 1}
        axes.plot(x, y, color=color, marker=marker, markersize=size, label=legend, **line)
        for name in names:
            if depth := re.match(r"fixed-([1-8])", name):
                axes.annotate(depth[1], averages[name], (4, -9), textcoords="offset points", fontsize=7, color=color)
    axes.set(title=title, xlabel="actions per episode", ylabel="solved, %", ylim=(0, 105))
    axes.set_xlim(left=0)


def gather(folder: Path, out: Path) -> None:
    """The points of one puzzle of a reproduction."""
    folders = sorted(p.parent for where in (folder, folder / "front") for p in where.glob("eval-s*/plan.json"))
    with (out / f"results-{folder.name}.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["agent", "budget", "actions", "solved"])
        rows = sorted(points(folders).items())
        table.writerows([agent, budget, f"{x:.2f}", f"{y:.2f}"] for (agent, budget), (x, y) in rows)


def plot(name: str, out: Path) -> None:
    """The figure of a puzzle's points."""
    title, budgets = PUZZLES[name]
    with (out / f"results-{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure = plotting.figure(11, 4)
    *panels, key = figure.subplots(1, len(budgets) + 1, width_ratios=[*[1] * len(budgets), 0.62])
    for axes, (budget, decisions) in zip(panels, budgets.items(), strict=True):
        own = {row["agent"]: (float(row["actions"]), float(row["solved"])) for row in rows if row["budget"] == budget}
        draw(axes, own, f"{title}, K = {decisions}")
    key.axis("off")
    key.legend(*panels[0].get_legend_handles_labels(), fontsize=8, frameon=False, loc="center left", labelspacing=0.9)
    plotting.save(figure, out / f"results-{name}.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folders", nargs="*", type=Path, help="sliding and sokoban, with eval-s0, ... and front/eval-s0, ..."
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    for folder in options.folders:
        gather(folder, options.out)
    for name in PUZZLES:
        with plotting.style():
            plot(name, options.out)


if __name__ == "__main__":
    main()
