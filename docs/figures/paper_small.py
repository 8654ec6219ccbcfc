"""Draws paper-small-PUZZLE.svg, the paper's figures of one puzzle, from what `recommit reproduce` left (matplotlib).

python docs/figures/paper_small.py OUT/*/eval*-s42 --out docs/assets
"""

from __future__ import annotations

import argparse
import json
import re
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate import metrics
from recommit.evaluate.family import DEPTHS, EVERY, STAGES, FamilyResults, Members, best, depth_of
from recommit.evaluate.tables.behaviour import steps_of
from recommit.report import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEED = 42
BLUE, RED, SAND, GREEN, INK = "#1c5fb8", "#a33d00", "#b8b4ac", "#0b7a55", "#23232b"
#: Depths, from short to long.
SHADES = dict(zip(DEPTHS, ("#c9dcf5", "#8fb6e8", "#4a86d0", "#153f7d"), strict=True))


def solved(row: dict[str, Any] | None) -> float:
    return float("nan") if row is None else 100 * row["solve_rate"]


def sweep(axes: Axes, results: FamilyResults) -> None:
    for kind, color, label in (("SFT", SAND, "warm start, fixed"), ("RL", RED, "trained, fixed")):
        rows = results.kind(kind, "loose")
        axes.plot([r["actions_per_episode"] for r in rows], [solved(r) for r in rows], "s-", color=color, label=label)
        for row in rows:
            at = (row["actions_per_episode"], solved(row))
            axes.annotate(str(depth_of(row)), at, (3, -9), textcoords="offset points", fontsize=7, color=color)
    for agent, color, mark, label in (
        ("adaptive", BLUE, "o", "adaptive"),
        ("sampled", BLUE, "x", "adaptive, sampled"),
        ("oracle-dp", GREEN, "D", "oracle depth"),
    ):
        if row := results.row(agent, "loose"):
            axes.plot(row["actions_per_episode"], solved(row), mark, color=color, label=label, markersize=8)
    axes.set(title="fixed depths and adaptive", xlabel="actions per episode", ylabel="solved, %", ylim=(0, 105))
    axes.set_xlim(left=0)
    axes.legend(fontsize=7, frameon=False, loc="upper right")


def distance(axes: Axes, results: FamilyResults) -> None:
    row = results.row("adaptive", "loose")
    cells = {bucket: (row or {}).get("by_distance_solved", {}).get(bucket) for bucket in metrics.BUCKETS}
    cells = {bucket: cell for bucket, cell in cells.items() if cell and cell["count"]}
    base = np.zeros(len(cells))
    for depth in DEPTHS:
        share = np.array([100 * cell["depth_shares"].get(str(depth), 0.0) for cell in cells.values()])
        axes.bar(list(cells), share, bottom=base, color=SHADES[depth], label=f"h={depth}")
        base += share
    twin = axes.twinx()
    twin.plot(list(cells), [cell["mean_depth"] for cell in cells.values()], "D-", color=RED)
    twin.set(ylim=(0, 8), ylabel="mean depth")
    axes.set(title="depths by distance, solved", ylabel="decisions, %", ylim=(0, 100))
    axes.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=len(DEPTHS))


def progress(axes: Axes, results: FamilyResults) -> None:
    row = results.row("adaptive", "loose")
    cells = {bucket: (row or {}).get("by_distance_solved", {}).get(bucket) for bucket in metrics.BUCKETS}
    cells = {bucket: cell for bucket, cell in cells.items() if cell and cell["count"]}
    axes.bar(list(cells), [100 * cell["failure_rate"] for cell in cells.values()], color=SAND)
    axes.set(title="no closer (bars), progress (diamonds)", ylabel="decisions that fail, %", ylim=(0, 100))
    twin = axes.twinx()
    mean, spread = ([cell[key] for cell in cells.values()] for key in ("mean_progress", "progress_sd"))
    twin.errorbar(list(cells), mean, yerr=spread, fmt="D", color=INK, capsize=3)
    twin.set(ylabel="progress per decision, one deviation each way")


def emergence(axes: Axes, results: FamilyResults) -> None:
    for stage, color in zip(STAGES, ("#9cc3ff", "#4a86d0", "#153f7d"), strict=True):
        rows = results.of(results.members.at_stage(stage), "loose")
        axes.plot([depth_of(row) for row in rows], [solved(row) for row in rows], "o-", color=color, label=stage)
    axes.set(title="adaptive's plans at a fixed depth", xlabel="depth", ylabel="solved, %", ylim=(0, 105), xticks=EVERY)
    axes.legend(fontsize=7, frameon=False)


def entropy(axes: Axes, results: FamilyResults) -> None:
    lines = steps_of(results.members.adaptive)
    for field, color, label in (("entropy_depth", BLUE, "depth head"), ("entropy_actions", RED, "actions")):
        steps, values = zip(*((line["step"], line[field]) for line in lines if field in line), strict=True)
        axes.plot(steps, smooth(np.array(values)), color=color, label=label)
    axes.axhline(log(4), color=SAND, linestyle="--", label="a draw among four")
    axes.set(title="entropy while training, nats", xlabel="step", ylim=(0, 1.5))
    axes.legend(fontsize=7, frameon=False)


def smooth(values: np.ndarray) -> np.ndarray:
    """Means of the last five."""
    return np.array([values[max(0, i - 4) : i + 1].mean() for i in range(len(values))])


def budgets(axes: Axes, results: FamilyResults) -> None:
    ours, fixed = [], []
    for suffix in results.members.budgets.values():
        ours.append(
            solved(next(iter(results.of(results.members.other("adaptive", f"adaptive{suffix}"), "loose")), None))
        )
        fixed.append(solved(best(results.of(results.members.trained(suffix), "loose"))))
    ticks = [str(budget) for budget in results.members.budgets]
    axes.plot(ticks, ours, "o-", color=BLUE, label="adaptive")
    axes.plot(ticks, fixed, "s-", color=RED, label="best fixed depth")
    axes.set(
        title="observation budget while training", xlabel="observations per episode", ylabel="solved, %", ylim=(0, 105)
    )
    axes.legend(fontsize=7, frameon=False)


def read(evaluation: Path) -> FamilyResults:
    rows = json.loads((evaluation / "summary.json").read_text(encoding="utf-8"))
    return FamilyResults(rows, Members(evaluation.parent / "family", SEED))


def plot(results: FamilyResults, file: Path) -> None:
    figure = plotting.figure(12, 7)
    for axes, draw in zip(
        figure.subplots(2, 3).flat, (sweep, distance, progress, emergence, entropy, budgets), strict=True
    ):
        draw(axes, results)
    file.parent.mkdir(parents=True, exist_ok=True)
    plotting.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluations", nargs="+", type=Path, help="folders of one puzzle and size each")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    for folder in arguments.evaluations:
        puzzle = folder.parent.name + re.sub(rf"^eval|-s{SEED}$", "", folder.name)
        with plotting.style():
            plot(read(folder), arguments.out / f"paper-small-{puzzle}.svg")


if __name__ == "__main__":
    main()
