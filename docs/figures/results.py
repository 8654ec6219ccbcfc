"""Draws results-PUZZLE.svg, with a table of its points, from what `recommit reproduce` left (needs matplotlib).

python docs/figures/results.py laptop/sliding laptop/sokoban --out docs/assets
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from pathlib import Path

import numpy as np

from recommit.evaluate import seeds
from recommit.report import plotting

#: Legend, pattern of agents, colour, marker, size, joined?
SERIES = (
    ("warm start, fixed depth", r"fixed-[1-8]@init", "#b8b4ac", "s", 4, True),
    ("adaptive's plans, fixed depth", r"fixed-[1248]", "#d98a3d", "s", 5, True),
    ("trained for one fixed depth", r"fixed-[1-8]@fixed-[1-8]", "#a33d00", "s", 6, True),
    ("adaptive's depths, shuffled", r"shuffled", "#a8407f", "^", 6, False),
    ("best mixture that ignores the state", r"mixture", "#a8407f", "v", 6, False),
    ("the paper's recipe", r"adaptive@paper", "#23232b", "x", 6, False),
    ("other prices of an action", r"adaptive@price-[0-9.]+", "#7ba4dd", "o", 5, True),
    ("adaptive", r"adaptive", "#1c5fb8", "o", 9, False),
    ("with a memory of where it has been", r"adaptive-memory", "#9cc3ff", "*", 7, False),
    ("oracle depth for its plans", r"oracle-dp", "#0b7a55", "D", 6, False),
)


def points(folders: list[Path]) -> dict[tuple[str, str], tuple[float, float]]:
    """(Actions, solved %) by agent and budget: means over the seeds that have the agent."""
    every: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for folder in folders:
        for key, seen in seeds.read(folder).items():
            every.setdefault(key, []).append((seen.actions.mean(), 100 * seen.solved.mean()))
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


def plot(folder: Path, out: Path) -> None:
    folders = sorted(p.parent for where in (folder, folder / "front") for p in where.glob("eval-s*/plan.json"))
    rows = json.loads((folders[0] / "summary.json").read_text(encoding="utf-8"))
    budgets = {row["budget"]: row["decisions"] for row in rows}
    averages, name = points(folders), f"results-{rows[0]['task']}"
    figure = plotting.figure(11, 4)
    *panels, key = figure.subplots(1, len(budgets) + 1, width_ratios=[*[1] * len(budgets), 0.62])
    for axes, (budget, decisions) in zip(panels, budgets.items(), strict=True):
        draw(
            axes, {agent: at for (agent, b), at in averages.items() if b == budget}, f"at most {decisions} observations"
        )
    key.axis("off")
    key.legend(*panels[0].get_legend_handles_labels(), fontsize=8, frameon=False, loc="center left", labelspacing=0.9)
    out.mkdir(parents=True, exist_ok=True)
    plotting.save(figure, out / f"{name}.svg")
    with (out / f"{name}.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["agent", "budget", "actions", "solved"])
        table.writerows([agent, budget, f"{x:.2f}", f"{y:.2f}"] for (agent, budget), (x, y) in sorted(averages.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folders", nargs="+", type=Path, help="of one puzzle each, with eval-s0, ... and front/eval-s0, ..."
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    for folder in options.folders:
        with plotting.style():
            plot(folder, options.out)


if __name__ == "__main__":
    main()
