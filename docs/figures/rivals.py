"""Fits every method on one graph's frozen plans and scores all on another: rivals.md, rivals.json, rivals.svg.

recommit graph build RUN --split train --starts 2048 --length 8 20 --features --out train
recommit graph build RUN --split validation --starts 1024 --length 8 20 --features --out validation
recommit graph audit train --fitted rivals/exact-s0 --repeats 4 --out audit
python docs/figures/rivals.py train validation --seeds 0 1 2 --out rivals --page docs/rivals.md --audit audit

Heads that lie in the output folder already are not fitted again. Needs matplotlib and torch.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
import torch

from recommit.graphs import files, page, rules, score
from recommit.graphs import judge as judging
from recommit.play.commitments import Prices
from recommit.rivals import fitted, fitting
from recommit.rivals.problem import HeadProblem

#: Name in the table, method, what the head reads.
FITS = (
    ("exact", "exact", "both"),
    ("ppo", "ppo", "both"),
    ("q", "q", "both"),
    ("hazard", "hazard", "both"),
    ("verifier", "verifier", "both"),
    ("paper", "paper", "both"),
    ("paper-z", "paper", "z"),
    ("exact-z", "exact", "z"),
    ("exact-plan", "exact", "plan"),
    ("episode", "episode", "both"),
    ("branch", "branch", "both"),
)
PLAIN = ("head", "confidence-product", "confidence-least", "confidence-entropy", "entropy-jump", "reversal")


def fit(arguments: argparse.Namespace, setting: tuple[tuple[int, ...], Prices]) -> None:
    """All heads that are not there yet, seed by seed."""
    graph, problems = files.read(arguments.train), {}
    budgets, prices = setting
    for seed, (name, method, reads) in product(arguments.seeds, FITS):
        out = arguments.out / f"{name}-s{seed}"
        if (out / fitted.ABOUT).exists() or (arguments.only and name not in arguments.only):
            continue
        if reads not in problems:
            problems[reads] = HeadProblem.of(graph, arguments.depths or graph.depths, budgets, prices, reads)
        learn, away = fitting.divided(problems[reads], 0.25, seed)
        extent = fitting.Extent(0, arguments.cpu_seconds)
        fitted.write(fitting.best_of(learn, away, method, seed, extent, lambda line: print(line, flush=True)), out)


def rows(judge: judging.Judge, other: judging.Judge, out: Path) -> list[score.RuleScore]:
    """Constants, rules without training, and every head that was fitted; thresholds of rules from the other graph."""
    entries = [rules.named(f"fixed-{depth}") for depth in (1, 2, 4, 8)] + [rules.named(name) for name in PLAIN]
    folders = sorted(p.parent for p in out.glob(f"*/{fitted.ABOUT}"))
    entries += [fitted.rule(fitted.read(folder), folder.name) for folder in folders]
    return score.score(judge, entries, other, lambda name: print(name, flush=True))


def gathered(every: list[score.RuleScore], setting: judging.Setting) -> list[dict]:
    """A line per rule: means over the seeds of a method, thresholds of their own."""
    names: dict[str, list[score.RuleScore]] = {}
    for row in every:
        if row.under(setting) and not row.shared:
            names.setdefault(row.rule.rpartition("-s")[0] if "-s" in row.rule else row.rule, []).append(row)
    lines = []
    for name, own in names.items():
        means = {
            key: float(np.mean([getattr(row, key) for row in own])) for key in ("solved", "actions", "looks", "value")
        }
        gains = [row.gain for row in own if row.gain is not None]
        lines.append(
            {
                "rule": name,
                "seeds": len(own),
                **means,
                "gain": float(np.mean(gains)) if gains else None,
                "gains": gains,
                "low": own[0].gain_low,
                "high": own[0].gain_high,
            }
        )
    return sorted(lines, key=lambda line: -line["value"])


def text(judge: judging.Judge, lines: dict[judging.Setting, list[dict]]) -> str:
    parts = []
    for setting, own in lines.items():
        parts.append(f"### {setting.label()}\n")
        parts.append(page._ends(judge, judge, setting) + "\n")
        parts.append("| rule | seeds | solved | actions | looks | value | gain share | 95 %, first seed |")
        parts.append("|---|---|---|---|---|---|---|---|")
        for line in own:
            gain = "" if line["gain"] is None else f"{line['gain']:.2f}"
            between = "" if line["low"] is None else f"{line['low']:.2f} to {line['high']:.2f}"
            cells = [
                line["rule"],
                str(line["seeds"]),
                f"{100 * line['solved']:.1f}",
                f"{line['actions']:.1f}",
                f"{line['looks']:.2f}",
                f"{100 * line['value']:.1f}",
                gain,
                between,
            ]
            parts.append(f"| {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


def draw(lines: dict[judging.Setting, list[dict]], out: Path) -> None:
    """Gain shares, one panel per setting."""
    mpl.rcParams.update({"svg.hashsalt": "recommit", "font.size": 9, "svg.fonttype": "path"})
    figure, panels = plt.subplots(1, len(lines), figsize=(4.4 * len(lines), 4.4), squeeze=False)
    for axes, (setting, own) in zip(panels[0], lines.items(), strict=True):
        own = [line for line in reversed(own) if line["gain"] is not None and line["gain"] > -1.0]
        names = [line["rule"] for line in own]
        axes.barh(names, [line["gain"] for line in own], color="#b8c9e0")
        for place, line in enumerate(own):
            axes.plot(line["gains"], [place] * len(line["gains"]), "o", color="#1c5fb8", markersize=3)
        axes.set(title=setting.label(), xlabel="gain share")
        axes.axvline(0, color="#23232b", linewidth=0.8)
        axes.grid(visible=True, axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(out / "rivals.svg", metadata={"Date": None}, facecolor="white")


def fits(records: dict[str, dict]) -> str:
    """What was tried for each head, and what the best came to on the held-out starts."""
    lines = ["| head | tries (value on held-out starts) | updates | value |", "|---|---|---|---|"]
    for name, record in sorted(records.items()):
        tries = "; ".join(
            f"{', '.join(f'{key} {value:g}' for key, value in each['changes'].items())}: {100 * each['value']:.1f}"
            for each in record["tries"]
        )
        lines.append(f"| {name} | {tries} | {record['updates']:,} | {100 * record['value']:.1f} |")
    return "\n".join(lines) + "\n"


def put(page: Path, mark: str, part: str) -> None:
    """Replace what stands between two marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    if not begin or not end:
        raise ValueError(f"page: expected the marks of {mark}, got none in {page}")
    page.write_text(f"{before}{begin}\n{part}\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", help="the graph that heads learn on")
    parser.add_argument("test", help="the graph that they are scored on")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="a page whose part between two marks becomes the tables")
    parser.add_argument("--audit", type=Path, help="a folder that recommit graph audit wrote, for the page")
    parser.add_argument("--cpu-seconds", type=float, default=16.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--depths", type=int, nargs="+", help="those of the policy's own head if not said")
    parser.add_argument("--only", nargs="+", default=[], help="of these names alone")
    parser.add_argument("--budget", type=int, nargs="+", help="those of the puzzle if not said")
    parser.add_argument("--price-action", type=float, default=0.01)
    parser.add_argument("--price-look", type=float, default=0.02)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    test = files.read(arguments.test)
    budgets = tuple(arguments.budget or test.puzzle.usual.budgets.values())
    prices = Prices(arguments.price_action, arguments.price_look)
    fit(arguments, (budgets, prices))
    settings = tuple(judging.Setting(budget, prices) for budget in budgets)
    judge, other = (judging.Judge(graph, settings) for graph in (test, files.read(arguments.train)))
    every = rows(judge, other, arguments.out)
    lines = {setting: gathered(every, setting) for setting in settings}
    records = {p.parent.name: json.loads(p.read_text())["record"] for p in arguments.out.glob(f"*/{fitted.ABOUT}")}
    value = {"scores": [row.to_dict() for row in every], "fits": records}
    (arguments.out / "rivals.json").write_text(json.dumps(value, indent=1) + "\n")
    (arguments.out / "rivals.md").write_text(text(judge, lines))
    draw(lines, arguments.out)
    if arguments.page:
        put(arguments.page, "scores", text(judge, lines))
        put(arguments.page, "fits", fits(records))
        if arguments.audit:
            put(arguments.page, "audit", (arguments.audit / "audit.md").read_text(encoding="utf-8"))
    print(text(judge, lines))


if __name__ == "__main__":
    main()
