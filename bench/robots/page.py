"""Figures of a campaign into docs/assets/robots.json, and its tables into docs/robots.md.

    python -m bench.robots.page robots        # from the folder of bench.robots.campaign; whole tasks alone are counted
    python -m bench.robots.page               # the tables again, from the figures
    python -m bench.robots.page --check       # writes nothing; exits with 1 if the page is not that of its figures

Differences are paired over the test episodes of every policy. The best constant and each rule's threshold are those of
validation episodes, each policy's own.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.robots.tasks import CONDITIONS, DEPTHS, PRICE

from recommit.graph import files as graph_files
from recommit.graph.rule_registry import DepthTable, NamedRule
from recommit.graph.score import GraphScorer
from recommit.prices import Prices, Setting
from recommit.stats import bootstrap, gain_interval
from recommit.storage.terminal_text import grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Figures = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
FIGURES, PAGE = ROOT / "docs" / "assets" / "robots.json", ROOT / "docs" / "robots.md"
#: A depth between looking at every tick and executing whole plans.
MIDDLE = 8
BLOCK = re.compile(r"<!-- robots (?P<table>[a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)


def utility(rows: Floats) -> Floats:
    """Of episodes [..., 4]: success less the price of the queries."""
    return rows[..., 0] - PRICE * rows[..., 1]


class Played:
    """What one policy came to under one condition."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chosen = json.loads((folder / "validation.json").read_text())
        self.rows = {path.stem[5:]: episodes(path) for path in sorted(folder.glob("test-*.json"))}
        self.heads = sorted((name for name in self.rows if name.startswith("head ")), key=lambda name: int(name[5:]))
        best = {name: max(values) for name, values in self.chosen["values"].items()}
        self.rule = max(best, key=best.__getitem__)
        self.rules = list(best)

    @property
    def constant(self) -> str:
        """The row of the constant that was best on validation episodes."""
        return f"fixed {self.chosen['constant']}"

    def oracle(self, name: str = "oracle") -> Floats:
        """[episodes, 4] of the first test episodes."""
        parts = sorted(self.folder.glob(f"{name}-*.json"), key=lambda path: int(path.stem.rpartition("-")[2]))
        return np.concatenate([episodes(path) for path in parts])

    def states(self) -> dict[str, tuple[float, float | None]]:
        """Of each row the mean regret at the visited states, and its gain share there."""
        graph = graph_files.read(self.folder / "graph")
        setting = Setting(int(graph.source["queries"]), Prices(0.0, PRICE))
        scorer = GraphScorer(graph, (setting,))
        with np.load(self.folder / "visited.npz", allow_pickle=False) as kept:
            names, chosen = kept["names"].tolist(), kept["chosen"]
        oracle, constant = scorer.oracle(setting), scorer.fixed(setting, int(self.chosen["constant"]))
        result = {}
        for name, depths in zip(names, chosen.T, strict=True):
            table = np.ones(len(graph), np.int64)
            table[graph.starts] = depths
            own = scorer.values(NamedRule(name, DepthTable(tuple(table.tolist()))))[setting]
            gain = gain_interval(own, constant, oracle)
            result[name] = (float((oracle - own).mean()), None if gain is None else gain.mean)
        return result


def episodes(path: Path) -> Floats:
    """[episodes, 4] success, queries, actions and ticks."""
    return np.array(json.loads(path.read_text())["episodes"], np.float64)


def finished(folder: Path, settings: dict[str, Any]) -> bool:
    """Is everything there? The oracle is what comes last."""
    kind = "oracle" if folder.name != "bumps" else "oracle resampled"
    return (folder / f"{kind}-{(settings['oracle'] - 1) // 10}.json").exists()


def collect(out: Path, label: str) -> Figures:
    """Everything that the tables need, of the policies that are finished."""
    settings = json.loads((out / "settings.json").read_text())
    conditions: dict[str, Any] = {}
    for name in settings["conditions"]:
        found = {
            task: [
                Played(folder)
                for seed in range(settings["seeds"])
                if finished(folder := out / task / str(seed) / name, settings)
            ]
            for task in settings["tasks"]
        }
        conditions[name] = {task: task_figures(name, played) for task, played in found.items() if played}
    return {"label": label, "settings": settings, "conditions": conditions}


def task_figures(condition: str, played: list[Played]) -> dict[str, Any]:
    """Of one task under one condition."""
    head = played[0].heads[-1]
    join = lambda name: np.concatenate([utility(each.rows[name]) for each in played])
    constant = np.concatenate([utility(each.rows[each.constant]) for each in played])
    rule = np.concatenate([utility(each.rows[each.rule]) for each in played])
    names = list(played[0].rows)
    result: dict[str, Any] = {
        "policies": len(played),
        "constants": [int(each.chosen["constant"]) for each in played],
        "rules": [each.rule for each in played],
        "rows": {name: summary([each.rows[name] for each in played]) for name in names},
        "constant": float(constant.mean()),
        "rule": float(rule.mean()),
        "head": head,
        "over_constant": asdict(bootstrap(join(head) - constant)),
        "over_rule": asdict(bootstrap(join(head) - rule)),
        "rule_over_constant": asdict(bootstrap(rule - constant)),
    }
    solved = lambda depth: np.concatenate([each.rows[f"fixed {depth}"][:, 0] for each in played])
    result["middle"] = {depth: asdict(bootstrap(solved(MIDDLE) - solved(depth))) for depth in (DEPTHS[0], DEPTHS[-1])}
    kinds = ["oracle"] if condition != "bumps" else ["oracle", "oracle resampled"]
    result["oracles"] = {kind: oracle_figures(kind, played, head) for kind in kinds}
    if condition != "bumps":
        states = [each.states() for each in played]
        result["states"] = {name: averaged([each[name] for each in states]) for name in states[0]}
    return result


def averaged(pairs: list[tuple[float, float | None]]) -> list[float | None]:
    """Regret and gain share; the latter of the policies for which there is something to gain."""
    gains = [gain for _, gain in pairs if gain is not None]
    return [float(np.mean([regret for regret, _ in pairs])), float(np.mean(gains)) if gains else None]


def oracle_figures(kind: str, played: list[Played], head: str) -> dict[str, Any]:
    """How much there is, and how much of it the head has, on the episodes that the oracle played."""
    every = [each.oracle(kind) for each in played]
    many = len(every[0])
    first = lambda name: np.concatenate([utility(each.rows[name(each)][:many]) for each in played])
    best, constant, own = (
        np.concatenate([utility(each) for each in every]),
        first(lambda e: e.constant),
        first(lambda _: head),
    )
    gain = gain_interval(own, constant, best)
    return {
        **summary(every),
        "constant": float(constant.mean()),
        "room": asdict(bootstrap(best - constant)),
        "gain": None if gain is None else asdict(gain),
    }


def summary(parts: list[Floats]) -> dict[str, Any]:
    """Means, of all episodes and of those that succeeded."""
    rows = np.concatenate(parts)
    solved = rows[rows[:, 0] > 0]
    return {
        "episodes": len(rows),
        "success": float(rows[:, 0].mean()),
        "queries": float(rows[:, 1].mean()),
        "solved_queries": float(solved[:, 1].mean()) if len(solved) else None,
        "utility": float(utility(rows).mean()),
    }


def between(interval: dict[str, float] | None, form: str = "+.3f") -> str:
    """A mean and its interval."""
    if interval is None:
        return ""
    low, high = (f"{interval[key]:{form}}" for key in ("low", "high"))
    return f"{interval['mean']:{form}} ({low} .. {high})"


def constants(figures: Figures, condition: str) -> str:
    """Success and queries at every fixed depth."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        rows = [own["rows"][f"fixed {depth}"] for depth in DEPTHS]
        cells = [f"{100 * row['success']:.0f} / {row['queries']:.1f}" for row in rows]
        lines.append([task, *cells, ", ".join(map(str, own["constants"]))])
    return grid(["task", *(f"{depth}" for depth in DEPTHS), "best constant"], lines)


def horizons(figures: Figures, condition: str) -> str:
    """Is success lost by looking less often, or by looking more often?"""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        points = (
            {key: 100 * value for key, value in own["middle"][str(depth)].items()} for depth in (DEPTHS[-1], DEPTHS[0])
        )
        lines.append([task, *(between(each, "+.1f") for each in points)])
    return grid(["task", f"{MIDDLE} - {DEPTHS[-1]}, points", f"{MIDDLE} - {DEPTHS[0]}, points"], lines)


def verdict(figures: Figures, condition: str) -> str:
    """What a perfect choice is worth, and who finds how much of it."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        oracle, head = own["oracles"]["oracle"], own["rows"][own["head"]]
        lines.append(
            [
                task,
                f"{own['constant']:.3f}",
                f"{own['rule']:.3f} ({', '.join(dict.fromkeys(own['rules']))})",
                f"{head['utility']:.3f}",
                f"{oracle['utility']:.3f}, constant {oracle['constant']:.3f}",
                between(oracle["room"]),
                between(own["over_constant"]),
                between(own["over_rule"]),
                between(oracle["gain"], ".2f"),
            ]
        )
    head_row = ["task", "best constant", "best rule", "head", "oracle, on its episodes", "room", "head - constant"]
    return grid([*head_row, "head - rule", "gain share of the head"], lines)


def utilities(figures: Figures, condition: str) -> str:
    """Every row's utility, by task."""
    tasks = figures["conditions"].get(condition, {})
    names = list(next(iter(tasks.values()))["rows"]) if tasks else []
    names.sort(key=lambda name: (not name.startswith("fixed"), name.startswith("head"), _number(name), name))
    lines = [[name, *(f"{own['rows'][name]['utility']:.3f}" for own in tasks.values())] for name in names]
    return grid(["depth by", *tasks], lines)


def states(figures: Figures, condition: str) -> str:
    """Gain shares at visited states: of what the best depth there is worth beyond the best constant, before it."""
    tasks = {task: own for task, own in figures["conditions"].get(condition, {}).items() if "states" in own}
    names = list(next(iter(tasks.values()))["states"]) if tasks else []
    lines = [
        [name, *(_gain(*own["states"][name]) for own in tasks.values())]
        for name in names
        if not name.startswith("fixed")
    ]
    return grid(["depth by", *tasks], lines)


def _gain(regret: float, gain: float | None) -> str:
    return f"(regret {regret:.3f})" if gain is None else f"{gain:.2f} (regret {regret:.3f})"


def bumps(figures: Figures, _: str) -> str:
    """A clairvoyant oracle beside one that is none."""
    lines = []
    for task, own in figures["conditions"].get("bumps", {}).items():
        seeing, blind = (own["oracles"][kind] for kind in ("oracle", "oracle resampled"))
        row = own["rows"][own["head"]]
        lines.append(
            [
                task,
                f"{own['constant']:.3f}",
                between(seeing["room"]),
                between(blind["room"]),
                f"{row['utility']:.3f}",
                between(own["over_constant"]),
                between(own["over_rule"]),
            ]
        )
    head = ["task", "best constant", "room, clairvoyant", "room, futures drawn again", "head", "head - constant"]
    return grid([*head, "head - rule"], lines)


def gate(figures: Figures, _: str) -> str:
    """On which tasks the head is ahead of the best constant and of the best rule."""
    parts = []
    for condition, own in figures["conditions"].items():
        if condition == "bumps" or not own:
            continue
        ahead = [
            task for task, each in own.items() if each["over_constant"]["low"] > 0 and each["over_rule"]["low"] > 0
        ]
        room = [task for task, each in own.items() if each["oracles"]["oracle"]["room"]["low"] > 0]
        ruled = [task for task, each in own.items() if each["rule_over_constant"]["low"] > 0]
        parts.append(
            f"* Where {CONDITIONS[condition].words}, a perfect choice is significantly better than the best constant "
            f"on {len(room)} of {len(own)} tasks ({', '.join(room) or 'none'}); the best rule on {len(ruled)} "
            f"({', '.join(ruled) or 'none'}); the head is better than both on {len(ahead)} "
            f"({', '.join(ahead) or 'none'})."
        )
    return "\n".join(parts)


def about(figures: Figures, _: str) -> str:
    """What was run."""
    settings = figures["settings"]
    counted = "; ".join(
        f"{CONDITIONS[name].words}: {len(tasks)} tasks, {sum(own['policies'] for own in tasks.values())} policies"
        for name, tasks in figures["conditions"].items()
        if tasks
    )
    return (
        f"{figures['label']} {settings['test']} test episodes of each policy, {settings['oracle']} of them played by "
        f"the oracle too; {settings['demonstrations']} demonstrations, {settings['validation']} validation episodes, "
        f"{settings['rounds']} rounds of {settings['branched']} episodes of branches; {settings['ticks']} ticks per "
        f"episode. Finished: {counted}."
    ).strip()


def _number(name: str) -> int:
    last = name.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0


TABLES: dict[str, Callable[[Figures, str], str]] = {
    "about": about,
    "gate": gate,
    "constants": constants,
    "horizons": horizons,
    "verdict": verdict,
    "utilities": utilities,
    "states": states,
    "bumps": bumps,
}


def filled(page: str, figures: Figures) -> str:
    """The page with every block made anew: ``<!-- robots TABLE-CONDITION -->`` or ``<!-- robots TABLE -->``."""

    def block(match: re.Match[str]) -> str:
        table, _, condition = match["table"].partition("-")
        played = (condition or table) not in CONDITIONS or figures["conditions"].get(condition or table)
        text = TABLES[table](figures, condition) if played else "Not played yet."
        return f"<!-- robots {match['table']} -->\n\n{text}\n\n<!-- end -->"

    return BLOCK.sub(block, page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", help="the folder of a campaign")
    parser.add_argument("--label", default="", help="a sentence before the counts of what was run")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.out:
        figures = collect(options.out, options.label)
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    made = filled(page, json.loads(FIGURES.read_text(encoding="utf-8")))
    if options.check:
        sys.exit(made != page)
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
