"""Bias and variance of the gradients of advantage estimators, as a table, as numbers and as a figure.

recommit graph build run --split train --starts 64 --features --out graph
python bench/pages/gradient_bias.py graph --episodes 16 64 --repeats 4 --out gradients
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import torch
from matplotlib.figure import Figure

from recommit.graph import files
from recommit.prices import Prices
from recommit.storage.terminal_text import grid
from recommit.train.baselines.gradient_bias import ESTIMATORS, GradientBias, GradientRow
from recommit.train.head import problem_of
from recommit.train.heads import fitted
from recommit.train.heads.network import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

COLORS = ("#1c5fb8", "#0b7a55", "#d98a3d", "#a33d00", "#23232b", "#a8407f", "#7ba4dd")


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path, help="written by recommit graph build with --features")
    parser.add_argument(
        "--head", type=Path, help="by recommit train head, of one price; one that has learned nothing if not said"
    )
    parser.add_argument("--estimators", nargs="+", default=ESTIMATORS)
    parser.add_argument("--episodes", type=int, nargs="+", default=[16, 64, 256, 1024], help="of an estimate")
    parser.add_argument("--repeats", type=int, default=8, help="estimates of each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depths", type=int, nargs="+", default=[], help="those of the policy's own head if not said")
    parser.add_argument("--budget", type=int, nargs="+", default=[], help="those of the puzzle if not said")
    parser.add_argument("--price-action", type=float, default=0.01)
    parser.add_argument("--price-observation", type=float, default=0.02)
    parser.add_argument("--out", type=Path, help="a folder for gradients.json, gradients.md and gradients.svg")
    return parser.parse_args(words)


def rows(options: argparse.Namespace) -> list[GradientRow]:
    """A row per estimator and number of episodes."""
    prices = Prices(options.price_action, options.price_observation)
    problem = problem_of(files.read(options.graph), options.depths, options.budget, prices, "z+confidence")
    net = Net(problem, len(problem.depths), 64, options.seed)
    if options.head is not None:
        net.load(fitted.read(options.head).weights)
    return GradientBias(problem, net, seed=options.seed).rows(options.estimators, options.episodes, options.repeats)


def table(rows: Sequence[GradientRow]) -> str:
    """A line per estimator, cosines by number of episodes."""
    counts = sorted({row.episodes for row in rows})
    head = ["estimator", *(f"cosine, {count:,}" for count in counts), "bias", f"relative std, {counts[-1]:,}"]
    lines = []
    for name in dict.fromkeys(row.estimator for row in rows):
        own = {row.episodes: row for row in rows if row.estimator == name}
        last = own[counts[-1]]
        bias = f"{last.bias:.3f}" if last.enumerated else f"about {last.bias:.3f}"
        lines.append([name, *(f"{own[count].cosine:.3f}" for count in counts), bias, f"{last.relative_std:.2f}"])
    return grid(head, lines)


def figure(rows: Sequence[GradientRow]) -> bytes:
    """Cosine with the exact gradient over the number of episodes."""
    with mpl.rc_context({"svg.hashsalt": "recommit", "font.size": 9, "svg.fonttype": "path"}):
        drawing = Figure(figsize=(6, 3.6))
        axes = drawing.subplots()
        for name in dict.fromkeys(row.estimator for row in rows):
            own = sorted((row.episodes, row.cosine) for row in rows if row.estimator == name)
            x, y = zip(*own, strict=True)
            axes.plot(x, y, marker="o", markersize=4, linewidth=1, color=COLORS[ESTIMATORS.index(name)], label=name)
        axes.set(xscale="log", xlabel="episodes per estimate", ylabel="cosine with the exact gradient")
        axes.set_ylim(-0.3, 1.02)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        drawing.tight_layout()
        buffer = io.BytesIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="white")
    return buffer.getvalue()


def main() -> int:
    options = parsed()
    torch.set_num_threads(1)
    every = rows(options)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "gradients.json").write_text(json.dumps([vars(row) for row in every], indent=2) + "\n")
        (options.out / "gradients.md").write_text(table(every) + "\n")
        (options.out / "gradients.svg").write_bytes(figure(every))
    print(table(every))
    return 0


if __name__ == "__main__":
    sys.exit(main())
