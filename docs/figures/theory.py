"""Draws docs/assets/theory-*.svg (needs matplotlib), and prints the shares that docs/theory.md quotes.

python docs/figures/theory.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.patches import Patch

from recommit import theory
from recommit.report import plotting

ASSETS = Path(__file__).resolve().parents[1] / "assets"
ORANGE, BLUE, GREY = "#d9480f", "#1864ab", "#868e96"
#: Depths 1, 2, 4, 8: the deeper, the darker.
SHADES = dict(zip(theory.DEPTHS, ("#a5d8ff", "#4dabf7", "#1c7ed6", "#0b3d66"), strict=True))


def draw_lemma() -> None:
    figure = plotting.figure(9, 3.7)
    left, right = figure.subplots(1, 2)
    c = np.linspace(1e-6, 1 - 1e-6, 200)
    left.fill_between(c, theory.F(c), color="#d0ebff")
    left.fill_between(c, theory.F(c), 1, color="#ffe8cc")
    left.plot(c, theory.F(c), color=BLUE, linewidth=1.6)
    left.text(0.22, 0.42, "deeper than 1 is best", color=BLUE, ha="left")
    left.text(0.97, 0.9, "h = 1 is best,\nagainst the lemma", color=ORANGE, ha="right", va="center")
    left.annotate(
        r"$\alpha = F(c)$",
        (0.3, theory.F(0.3)),
        (0.08, 0.62),
        color=BLUE,
        arrowprops={"arrowstyle": "-", "color": BLUE, "lw": 0.8},
    )
    left.plot(0.8, 0.5, "o", color=ORANGE, markersize=5)
    left.annotate("c = 0.8, $\\alpha$ = 0.5", (0.8, 0.5), (0.97, 0.6), color=ORANGE, ha="right")
    left.set(
        title="Where an interior optimum exists",
        xlabel="c, failure probability at depth 1",
        ylabel="$\\alpha$",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    cases = [(0.1, 1.2, GREY, "-."), (0.8, 0.5, ORANGE, "-"), (0.1, 0.75, "#4dabf7", "--"), (0.2, 0.5, BLUE, "-")]
    for c, alpha, colour, style in cases:
        h = np.geomspace(1, min(40, (1 - 1e-12) * c ** (-1 / alpha)), 300)
        risk = theory.rate(h, c, alpha) / theory.rate(1, c, alpha)
        right.plot(h, risk, style, color=colour, linewidth=1.6, label=f"c = {c}, $\\alpha$ = {alpha}")
        right.plot(h[risk.argmin()], risk.min(), "o", color=colour, markersize=5, clip_on=False, zorder=3)
    right.set(
        title="Risk per action, dots where it is least",
        xlabel="depth h",
        ylabel="g(h) / g(1)",
        xscale="log",
        ylim=(0.3, 1.8),
        xlim=(1, 40),
    )
    right.set_xticks([1, 2, 4, 8, 16, 32], [1, 2, 4, 8, 16, 32])
    right.minorticks_off()
    right.axhline(1, color="black", linewidth=0.6)
    right.legend(loc=(0.42, 0.68))
    plotting.save(figure, ASSETS / "theory-lemma.svg")


def instances(many: int):
    """Success relative to the best fixed depth, [adaptive, h* everywhere], of instances that meet the premise."""
    draw = np.random.default_rng(0)
    while many:
        horizon = int(draw.integers(8, 33))
        alpha = draw.uniform(0.05, 0.99, horizon)
        c = 10 ** draw.uniform(-3, 0, horizon) * 8.0**-alpha
        if len({theory.h_star_grid(x, a) for x, a in zip(c, alpha, strict=True)}) > 1:
            many -= 1
            fixed = theory.dp_value(c, alpha, "fixed")
            yield [theory.dp_value(c, alpha, policy) - fixed for policy in ("adaptive", "greedy")]


def draw_dominance() -> None:
    figure = plotting.figure(9, 3.7)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
    c, alpha = [0.3] + 3 * [0.01], [0.5] + 3 * [0.1]
    names = {"greedy": "h* at every\ndecision", "fixed": "best fixed\ndepth (1)", "adaptive": "best\nadaptive"}
    heights = [np.exp(theory.dp_value(c, alpha, policy)) for policy in names]
    left.bar(list(names.values()), heights, color=[ORANGE, GREY, BLUE], width=0.6)
    for i, height in enumerate(heights):
        left.text(i, height + 0.02, f"{height:.3f}", ha="center")
    left.set(title="Four actions, the first one hard", ylabel="success", ylim=(0, 0.85))
    left.spines[["top", "right"]].set_visible(False)
    sample = np.array(list(instances(2000)))
    for values, colour, name in zip(sample.T, (BLUE, ORANGE), ("best adaptive", "h* at every decision"), strict=True):
        right.plot(np.linspace(0, 100, len(sample)), np.exp(np.sort(values)), color=colour, linewidth=1.8, label=name)
    right.axhline(1, color="black", linewidth=0.6)
    right.set(
        title="2,000 random instances, each curve sorted",
        xlabel="% of instances",
        ylabel="success / that of the best fixed depth",
        yscale="log",
        xlim=(0, 100),
        ylim=(0.2, 10),
    )
    right.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["0.25", "0.5", "1", "2", "4", "8"])
    right.minorticks_off()
    right.legend(loc="upper left")
    plotting.save(figure, ASSETS / "theory-dominance.svg")
    print(f"adaptive = best fixed: {np.mean(sample[:, 0] < 1e-11):.3f}")
    print(f"h* everywhere below adaptive: {np.mean(sample[:, 1] < sample[:, 0] - 1e-11):.3f}")
    print(f"h* everywhere below the best fixed: {np.mean(sample[:, 1] < -1e-11):.3f}")


def plan(c, alpha, budget: int, depths=theory.DEPTHS) -> list[int]:
    """The depths of an optimal plan, read off the values of what is left."""

    def value(h: int) -> float:
        later = theory.budget_value(c[h:], alpha[h:], budget - 1, len(c) - h) if h < len(c) and budget > 1 else -np.inf
        return theory.log_success(h, c[0], alpha[0]) + (0.0 if h >= len(c) else later)

    best = max(depths, key=value)
    return [best, *(plan(c[best:], alpha[best:], budget - 1) if best < len(c) else [])]


def draw_budget() -> None:
    figure = plotting.figure(9, 3.7)
    left, right = figure.subplots(1, 2)
    c, alpha = np.repeat([0.03, 0.02], (8, 16)), np.repeat([1.2, 0.3], (8, 16))
    budgets = np.arange(3, 25)
    for h, colour in SHADES.items():
        values = np.exp([theory.budget_value(c, alpha, k, 24, (h,)) for k in budgets])
        left.plot(
            budgets[values > 0],
            values[values > 0],
            "-s",
            color=colour,
            markersize=3.5,
            linewidth=1.2,
            label=f"depth {h}",
        )
    left.plot(
        budgets,
        np.exp([theory.budget_value(c, alpha, k, 24) for k in budgets]),
        "-o",
        color=ORANGE,
        markersize=3.5,
        linewidth=1.6,
        label="adaptive",
    )
    left.set(title="Progress of 24 within K decisions", xlabel="budget K", ylabel="success", ylim=(0.4, 0.8))
    left.legend(ncols=3, loc="lower right")
    rows = [3, 4, 5, 6, 8, 10, 12]
    for row, budget in enumerate(rows):
        at = 0
        for h in plan(c, alpha, budget):
            right.barh(row, h, left=at, color=SHADES[h], edgecolor="white", linewidth=1.2, height=0.72)
            at += h
    right.axvline(8, color=ORANGE, linewidth=1.2, linestyle="--")
    right.text(4, len(rows) - 0.35, "hard", ha="center", color=ORANGE)
    right.text(16, len(rows) - 0.35, "easy", ha="center", color=ORANGE)
    right.set(title="The best commitments", xlabel="progress", ylabel="budget K", xlim=(0, 24), ylim=(-0.6, len(rows)))
    right.set_xticks(range(0, 25, 4))
    right.set_yticks(range(len(rows)), rows)
    right.legend(
        handles=[Patch(color=colour, label=f"{h}") for h, colour in SHADES.items()],
        title="depth",
        loc="center left",
        bbox_to_anchor=(1, 0.5),
    )
    plotting.save(figure, ASSETS / "theory-budget.svg")


def main() -> int:
    with plotting.style(**{"text.parse_math": True}):
        draw_lemma()
        draw_dominance()
        draw_budget()
    return 0


if __name__ == "__main__":
    sys.exit(main())
