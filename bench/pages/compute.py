"""Solved against the arithmetic of an episode, from the figures of the heads -> docs/assets/heads-compute.svg.

python -m bench.pages.compute   # needs matplotlib
"""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from bench.pages import heads

if TYPE_CHECKING:
    from pathlib import Path

OUT = heads.DOCS / "assets" / "heads-compute.svg"
#: Panels: whose figures.
PANELS = ("sokoban", "stakes")
COLOURS = {
    "foresight": "#1c5fb8",
    "foresight and stakes": "#2f8f5b",
    "own head": "#e0a458",
    "always 8": "#8a8a94",
    "always 4": "#b8433c",
}
SHAPES = "os^Dv"


def points(figures: dict[str, Any]) -> list[tuple[str, str, int, float, float]]:
    """Plans, who chooses, looks at most, operations of an episode in millions and solved in percent: means of seeds."""
    result = []
    names = dict.fromkeys((row["plans"], row["chooses"], row["decisions"]) for row in figures["rows"])
    for plans, chooses, budget in names:
        own = [r for r in figures["rows"] if (r["plans"], r["chooses"], r["decisions"]) == (plans, chooses, budget)]
        looks = [one for one in figures["looks"] if one["plans"] == plans and heads._played_by(chooses, one)]
        if looks:
            each = mean(one["flops"] for one in looks) / 1e6 * mean(row["decisions_per_episode"] for row in own)
            result.append((plans, chooses, budget, each, 100 * mean(row["solve_rate"] for row in own)))
    return result


def draw(every: dict[str, dict[str, Any]], out: Path = OUT) -> None:
    """A panel per puzzle; the two numbers of looks of one agent are joined."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "recommit", "font.size": 9, "svg.fonttype": "path"})
    figure, axes = plt.subplots(1, len(PANELS), figsize=(9.4, 4.6))
    for place, name in zip(axes, PANELS, strict=True):
        marks = points(every[name])
        for number, (plans, chooses) in enumerate(dict.fromkeys(mark[:2] for mark in marks)):
            own = sorted((mark for mark in marks if mark[:2] == (plans, chooses)), key=lambda mark: mark[2])
            label = chooses if name == "stakes" else f"{chooses}: {plans}"
            kind = f"-{SHAPES[number % len(SHAPES)]}"
            place.plot([mark[3] for mark in own], [mark[4] for mark in own], kind, color=COLOURS[chooses], label=label)
        title = {"sokoban": "Sokoban 7x7, 4 and 6 looks", "stakes": "sliding 3x3, 10 and 15 looks"}[name]
        place.set(xlabel="million operations per episode", ylabel="solved, %", title=title)
        place.set(
            xlim=(0, 1.15 * max(mark[3] for mark in marks)), ylim=(min(60.0, min(mark[4] for mark in marks) - 4), 100)
        )
        place.grid(visible=True, alpha=0.3)
        place.legend(fontsize=7, loc="lower right" if name == "sokoban" else "lower left")
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    draw(heads.stored())
