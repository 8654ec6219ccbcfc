"""Tables and figure of docs/rivals.md from what ``fit_rivals.py`` wrote to docs/assets; the sentences there stay.

python -m bench.pages.rivals           # the page, and docs/assets/rivals.svg; needs matplotlib
python -m bench.pages.rivals --check   # writes nothing; exits with 1 if the page has other figures
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from statistics import mean
from typing import Any

from bench.pages import heads

from recommit.storage.terminal_text import grid

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "rivals.md"
BLOCK = re.compile(r"<!-- (?P<task>sliding|sokoban) (?P<table>[a-z]+) -->\n.*?<!-- end -->", re.DOTALL)
#: The price where every method was fitted, in actions per look.
MIDDLE = 2.0
#: Those that were fitted at every price.
EVERYWHERE = ("exact", "ppo", "hazard", "q", "verifier")

Figures = dict[str, Any]


def of_rule(figures: Figures, rule: str, budget: int, ratio: float) -> list[dict[str, Any]]:
    """A rule's rows under one setting, a row per seed."""
    return [row for row in figures["rows"] if (row["rule"], row["K"], row["ratio"]) == (rule, budget, ratio)]


def budgets(figures: Figures) -> list[int]:
    """Numbers of looks, the larger first."""
    return sorted({row["K"] for row in figures["rows"]}, reverse=True)


def by_value(figures: Figures, budget: int, ratio: float) -> list[tuple[str, list[dict[str, Any]]]]:
    """Every rule and its rows, the most valuable first."""
    names = dict.fromkeys(row["rule"] for row in figures["rows"])
    every = [(name, rows) for name in names if (rows := of_rule(figures, name, budget, ratio))]
    return sorted(every, key=lambda pair: -mean(row["value"] for row in pair[1]))


def scores(figures: Figures) -> str:
    """Every rule at the middle price: means over seeds, and how far the head ahead is from it on each."""
    lines = []
    for budget in budgets(figures):
        for name, rows in by_value(figures, budget, MIDDLE):
            shares = [row["gain"] for row in rows]
            lines.append(
                [
                    name,
                    str(budget),
                    f"{100 * mean(row['solved'] for row in rows):.1f}",
                    f"{mean(row['actions'] for row in rows):.1f}",
                    f"{mean(row['looks'] for row in rows):.2f}",
                    f"{100 * mean(row['value'] for row in rows):.1f}",
                    f"{mean(shares):.2f}" + (f" ({min(shares):.2f} .. {max(shares):.2f})" if shares[1:] else ""),
                    "; ".join(_points(row["ahead"]) for row in rows) if name != first(figures) else "",
                ]
            )
    head = [
        "depth by",
        "K",
        "solved",
        "actions",
        "looks",
        "value",
        "gain share (seeds)",
        "the first is ahead by",
    ]
    return grid(head, lines)


def first(figures: Figures) -> str:
    """Who is held against the others."""
    return str(figures["rows"][0]["rule"])


def _points(ahead: dict[str, float]) -> str:
    centre, low, high = (100 * ahead[key] for key in ("mean", "low", "high"))
    return f"{centre:+.1f} ({low:+.1f} .. {high:+.1f})"


def prices(figures: Figures) -> str:
    """Gain shares in value at every price of a look: mean of seeds, and on how many the head ahead is beyond chance."""
    lines = []
    ratios = sorted({row["ratio"] for row in figures["rows"]})
    best = best_plain(figures)
    for budget in budgets(figures):
        for ratio in ratios:
            cells = [str(budget), f"{ratio:g}"]
            for name in (first(figures), *EVERYWHERE, best):
                rows = of_rule(figures, name, budget, ratio)
                share = f"{mean(row['gain'] for row in rows):.2f}"
                beyond = sum(row["ahead"]["low"] > 0 for row in rows)
                cells.append(share if name == first(figures) else f"{share} ({beyond} of {len(rows)})")
            lines.append(cells)
    return grid(["K", "a look costs, actions", first(figures), *EVERYWHERE, best], lines)


def best_plain(figures: Figures) -> str:
    """The best of all settings that nobody trained: a rule or a constant."""
    trained = {*EVERYWHERE, "paper", "paper-z", "exact-z", "exact-plan", "episode", "branch", "head"}
    names = {row["rule"] for row in figures["rows"]} - trained - {"foresight", "foresight and stakes"}
    return max(sorted(names), key=lambda name: mean(row["value"] for row in figures["rows"] if row["rule"] == name))


def ends(figures: Figures) -> str:
    """The best constant and the ceiling under every setting, in hundredths of a solved episode."""
    lines = []
    settings = {(row["K"], row["ratio"]) for row in figures["rows"]}
    for budget, ratio in sorted(settings, key=lambda setting: (-setting[0], setting[1])):
        rows = of_rule(figures, first(figures), budget, ratio)
        depth = " / ".join(str(row["ends"][0]) for row in rows)
        least, most = (" / ".join(f"{100 * row['ends'][at]:.1f}" for row in rows) for at in (1, 2))
        lines.append([str(budget), f"{ratio:g}", depth, least, most])
    return grid(["K", "a look costs, actions", "best constant, seed by seed", "its value", "ceiling"], lines)


def fits(figures: Figures) -> str:
    """What was tried for each head, and what the best came to on the held-out starts; seeds by a slash."""
    seeds: dict[str, list[Figures]] = {}
    for name, record in sorted(figures["fits"].items()):
        seeds.setdefault(name.rpartition("-s")[0], []).append(record)
    lines = []
    for name, records in seeds.items():
        tries = "; ".join(
            f"{', '.join(f'{key} {value:g}' for key, value in each[0]['changes'].items())}: "
            + " / ".join(f"{100 * one['value']:.1f}" for one in each)
            for each in zip(*(record["tries"] for record in records), strict=True)
        )
        updates = " / ".join(f"{record['updates']:,}" for record in records)
        lines.append([name, tries, updates, " / ".join(f"{100 * record['value']:.1f}" for record in records)])
    return grid(["head, price", "tries (value on held-out starts)", "updates", "value"], lines)


TABLES: heads.Tables = {"scores": scores, "prices": prices, "ends": ends, "fits": fits}


def filled(page: str, figures: dict[str, Figures]) -> str:
    """The page with the tables of every puzzle that has figures."""
    return heads.filled(page, figures, TABLES, BLOCK)


def stored() -> dict[str, Figures]:
    """The figures beside the page, by puzzle."""
    paths = ((task, DOCS / "assets" / f"rivals-{task}.json") for task in ("sliding", "sokoban"))
    return {task: json.loads(path.read_text()) for task, path in paths if path.exists()}


def draw(every: dict[str, Figures]) -> None:
    """Gain shares at the middle price, a panel per puzzle and number of looks; a dot per seed."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "recommit", "font.size": 9, "svg.fonttype": "path"})
    panels = [(task, figures, budget) for task, figures in every.items() for budget in budgets(figures)]
    rows = -(-len(panels) // 2)
    figure, axes = plt.subplots(rows, 2, figsize=(9.2, 4.6 * rows), squeeze=False)
    for place, (task, figures, budget) in zip(axes.flat, panels, strict=True):
        shown = [(name, [row["gain"] for row in own]) for name, own in reversed(by_value(figures, budget, MIDDLE))]
        shown = [(name, shares) for name, shares in shown if mean(shares) > -1.0]
        colours = ["#e0a458" if name == first(figures) else "#b8c9e0" for name, _ in shown]
        place.barh([name for name, _ in shown], [mean(shares) for _, shares in shown], color=colours)
        for height, (_, shares) in enumerate(shown):
            place.plot(shares, [height] * len(shares), "o", color="#1c5fb8", markersize=3)
        place.set(title=f"{task}, K = {budget}", xlabel="gain share in value")
        place.axvline(0, color="#23232b", linewidth=0.8)
        place.grid(visible=True, axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(DOCS / "assets" / "rivals.svg", metadata={"Date": None}, facecolor="white")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page has other figures")
    arguments = parser.parse_args()
    page, figures = PAGE.read_text(encoding="utf-8"), stored()
    text = filled(page, figures)
    if arguments.check:
        return int(text != page)
    PAGE.write_text(text, encoding="utf-8")
    draw(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
