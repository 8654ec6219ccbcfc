"""Pictures of docs/results.md and docs/results, from the same figures as its tables: python -m bench.pages.drawings"""

from __future__ import annotations

import argparse
import sys
from statistics import mean
from typing import TYPE_CHECKING, Any

from bench.pages.gather import ASSETS
from bench.pages.tables import MIDDLE, SOURCES, budgets, by_value, first, played_by, stored, words

from recommit.report import plotting

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    Figures = dict[str, Any]

#: Panels: whose figures.
PANELS = ("sokoban", "conditioned")
COLOURS = {
    "world model": "#1c5fb8",
    "world model, conditioned head": "#2f8f5b",
    "adaptive": "#e0a458",
    "fixed depth 8": "#8a8a94",
    "fixed depth 4": "#b8433c",
}
SHAPES = "os^Dv"


def flops(figures: dict[str, Any]) -> list[tuple[str, str, int, float, float]]:
    """Plans, who chooses, budget, MFLOP of an episode and solved in percent: means of seeds."""
    result = []
    names = dict.fromkeys((row["plans"], row["chooses"], row["decisions"]) for row in figures["rows"])
    for plans, chooses, budget in names:
        own = [r for r in figures["rows"] if (r["plans"], r["chooses"], r["decisions"]) == (plans, chooses, budget)]
        looks = [one for one in figures["looks"] if one["plans"] == plans and played_by(chooses, one)]
        if looks:
            each = mean(one["flops"] for one in looks) / 1e6 * mean(row["decisions_per_episode"] for row in own)
            result.append((plans, chooses, budget, each, 100 * mean(row["solve_rate"] for row in own)))
    return result


def compute_figure(every: dict[str, Figures]) -> Figure:
    """Solved against the FLOPs of an episode: a panel per puzzle; both budgets of one agent are joined."""
    figure = plotting.figure(9.4, 4.4)
    for place, name in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        marks = flops(every[name])
        for number, (plans, chooses) in enumerate(dict.fromkeys(mark[:2] for mark in marks)):
            own = sorted((mark for mark in marks if mark[:2] == (plans, chooses)), key=lambda mark: mark[2])
            label = chooses if name == "conditioned" else f"{chooses}: {plans}"
            kind = f"-{SHAPES[number % len(SHAPES)]}"
            place.plot([mark[3] for mark in own], [mark[4] for mark in own], kind, color=COLOURS[chooses], label=label)
        title = {"sokoban": "Sokoban 7x7, one box, K = 4 and 6", "conditioned": "sliding 3x3, K = 10 and 15"}[name]
        low = min(60.0, min(mark[4] for mark in marks) - 4)
        place.set(xlabel="MFLOP per episode", ylabel="solved, %", title=title, ylim=(low, 100))
        place.set_xlim(0, 1.15 * max(mark[3] for mark in marks))
        place.legend(fontsize=7, loc="lower right" if name == "sokoban" else "lower left")
    return figure


#: Puzzles in titles.
TITLES = {"sliding": "sliding 3x3", "sokoban": "Sokoban 7x7, one box"}


def baselines_figure(every: dict[str, Figures]) -> Figure:
    """Gain shares at the middle price, a panel per puzzle and budget; a dot per seed."""
    panels = [(task, figures, budget) for task, figures in every.items() for budget in budgets(figures)]
    rows = -(-len(panels) // 2)
    figure = plotting.figure(9.2, 4.6 * rows)
    for place, (task, figures, budget) in zip(figure.subplots(rows, 2, squeeze=False).flat, panels, strict=True):
        shown = [(name, [row["gain"] for row in own]) for name, own in reversed(by_value(figures, budget, MIDDLE))]
        shown = [(name, shares) for name, shares in shown if mean(shares) > -1.0]
        colours = ["#e0a458" if name == first(figures) else "#b8c9e0" for name, _ in shown]
        place.barh([words(name) for name, _ in shown], [mean(shares) for _, shares in shown], color=colours)
        for height, (_, shares) in enumerate(shown):
            place.plot(shares, [height] * len(shares), "o", color="#1c5fb8", markersize=3)
        place.set(title=f"{TITLES[task]}, K = {budget}", xlabel="gain share in value")
        place.axvline(0, color=plotting.INK, linewidth=0.8)
        place.grid(visible=False, axis="y")
    return figure


def gradients_figure(every: dict[str, Figures]) -> Figure:
    """Cosine of each estimate of the gradient with the exact one, by number of episodes."""
    rows = every["gradients"]["rows"]
    figure = plotting.figure(6.4, 3.6)
    axes = figure.subplots()
    for name in dict.fromkeys(row["estimator"] for row in rows):
        own = sorted((row["episodes"], row["cosine"]) for row in rows if row["estimator"] == name)
        axes.plot(*zip(*own, strict=True), marker="o", markersize=4, linewidth=1, label=words(name))
    counts = sorted({row["episodes"] for row in rows})
    axes.set(xscale="log", xlabel="episodes per estimate", ylabel="cosine with the exact gradient", ylim=(-0.3, 1.02))
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    figure.legend(loc="outside right center", fontsize=8)
    return figure


#: Files of docs/assets -> the source of their figures, and how they are drawn.
DRAWN: dict[str, tuple[str, Callable[[dict[str, Figures]], Figure]]] = {
    "heads-compute.svg": ("heads", compute_figure),
    "baselines.svg": ("baselines", baselines_figure),
    "gradient-bias.svg": ("heads", gradients_figure),
}


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    figures = {source: stored(source) for source in SOURCES}
    for name, (source, draw) in DRAWN.items():
        with plotting.style():
            plotting.save(draw(figures[source]), ASSETS / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
