"""Rules without training beside our depth head, on the plans of all runs of a reproduction.

python -m bench.pages.rules gather laptop/sliding --out graphs    # -> docs/assets/rules-compared-sliding.json
python -m bench.pages.rules tables        # prints the tables of every puzzle there, and draws its figures

Graphs are built once, and stay in the output folder. Thresholds and fixed depths are chosen on validation starts, for
each budget and price; differences are paired over test starts, of the mean over seeds. The files in docs/assets also
have larger instances and what is lost by plans and by depths (``recommit graph score --split`` says it of one graph).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import files, score
from recommit.graph.score import GraphScorer
from recommit.horizon import rule_registry
from recommit.prices import Prices, Setting
from recommit.report import plotting
from recommit.results import intervals, table
from recommit.results.intervals import Interval
from recommit.results.table import Grid, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.horizon.rule_registry import NamedRule

    Row = dict[str, Any]

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
#: Whose plans, by the name of the run, and in a table. All are compared with the head of the first.
OURS = "adaptive"
SOURCES = {OURS: "adaptive (RL)", "fixed-8": "fixed depth 8 (RL)", "random": "random depth (RL)", "sft": "warm start"}
NAMES = {**SOURCES, "init": "warm start"}
HEAD, MEMORY = "head", rule_registry.MEMORY
RULES = tuple(name + end for end in ("", MEMORY) for name in (HEAD, "fixed", *rule_registry.ON_PUZZLES))
#: Puzzles in titles that say more than their size.
TITLES = {"sokoban 7x7": "Sokoban 7x7, one box"}
#: What an observation costs, in actions; 0 is without any price, of actions too.
RATIOS = (0.0, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, eq=False)
class Played:
    """One rule on one run's plans under one setting."""

    parameter: float | None
    validation: float
    outcome: NDArray[np.float64]  #: [3, starts] solved, actions and observations


def graph(folder: Path, out: Path, name: str, split: str, starts: int, length: Sequence[int]) -> CommitmentGraph:
    """The graph of a run's plans, built if it is not there."""
    place = out / f"{name}-{split}"
    if not (place / files.MANIFEST).exists():
        run = folder / name if name.startswith("sft") else folder / "family" / name
        words = ["--split", split, "--starts", str(starts), *(["--length", *map(str, length)] if length else [])]
        subprocess.run(["recommit", "graph", "build", str(run), "--out", str(place), *words, "--quiet"], check=True)
    return files.read(place)


def play(validation: GraphScorer, test: GraphScorer) -> dict[tuple[str, Setting], Played]:
    """Every rule under every setting, with the parameter that is best on validation starts."""
    played = {}
    for name in RULES:
        entries = _entries(name)
        for setting in test.settings:
            chosen = [_chosen(validation, entry, setting) for entry in entries]
            parameter, entry = max(chosen, key=lambda one: validation.values(one[1])[setting].mean())
            value = float(validation.values(entry)[setting].mean())
            outcome = np.stack([np.asarray(column, np.float64) for column in test.outcome(entry, setting.budget)])
            number = float(entries.index(entry) + 1) if len(entries) > 1 else parameter
            played[name, setting] = Played(number, value, outcome)
    return played


def _entries(name: str) -> list[NamedRule]:
    """The rule, or every fixed depth of it."""
    fixed = name.startswith("fixed")
    return (
        [rule_registry.named(name.replace("fixed", f"fixed-{h}")) for h in range(1, 9)]
        if fixed
        else [rule_registry.named(name)]
    )


def _chosen(validation: GraphScorer, entry: NamedRule, setting: Setting) -> tuple[float | None, NamedRule]:
    """The rule with its best threshold."""
    if not entry.swept:
        return None, entry
    threshold = score.best_thresholds(validation, entry)[0][setting]
    return threshold, entry.at(threshold)


def rows(runs: dict[tuple[str, int], tuple[GraphScorer, dict[tuple[str, Setting], Played]]]) -> list[Row]:
    """A row per source, rule and setting: means over the seeds that have the source and our own run."""
    seeds = sorted(seed for source, seed in runs if source == OURS)
    result = []
    for source in dict.fromkeys(source for source, _ in runs):
        own = [seed for seed in seeds if (source, seed) in runs]
        scorers = [runs[source, seed][0] for seed in own]
        groups = scorers[0].graph.groups
        for setting in scorers[0].settings:
            for name in RULES:
                each = [runs[source, seed][1][name, setting] for seed in own]
                head = HEAD + (MEMORY if name.endswith(MEMORY) else "")
                ours = [runs[OURS, seed][1][head, setting] for seed in own]
                mean, less = (np.mean([one.outcome for one in some], axis=0) for some in (each, ours))
                apart, parameters = mean - less, [one.parameter for one in each if one.parameter is not None]
                value = setting.prices.returns(*mean)
                ends = {
                    "ahead": setting.prices.returns(*apart),
                    "ahead_solved": apart[0],
                    "ahead_actions": apart[1],
                }
                result.append(
                    {
                        "source": source,
                        "rule": name,
                        "chosen": "own" if parameters else "",
                        "budget": setting.budget,
                        "price_action": setting.prices.action,
                        "price_observation": setting.prices.observation,
                        "seeds": own,
                        "parameters": parameters or None,
                        "validation": float(np.mean([one.validation for one in each])),
                        **dict(zip(("solved", "actions", "looks"), mean.mean(axis=1).tolist(), strict=True)),
                        "value": float(value.mean()),
                        "by_seed": [float(setting.prices.returns(*p.outcome).mean()) for p in each],
                        **{key: list(table.bounds(intervals.mean(column, groups))) for key, column in ends.items()},
                        "ceiling": float(np.mean([scorer.oracle(setting).mean() for scorer in scorers])),
                    }
                )
    return result


def gather(
    folder: Path, out: Path, seeds: Sequence[int], starts: tuple[int, int], length: Sequence[int], price: float
) -> Row:
    """The comparison of one puzzle of a reproduction; runs that are not there are left out."""
    runs, missing = {}, []
    for source, seed in ((source, seed) for seed in seeds for source in SOURCES):
        name = f"{source}-s{seed}"
        if not ((folder if source == "sft" else folder / "family") / name).is_dir():
            missing.append(name)
            continue
        graphs = [
            graph(folder, out, name, split, n, length) for split, n in zip(("validation", "test"), starts, strict=True)
        ]
        budgets = graphs[0].usual_budgets
        prices = [Prices(price, ratio * price) if ratio else Prices() for ratio in RATIOS]
        settings = tuple(Setting(k, each) for k in budgets for each in prices)
        validation, test = (GraphScorer(each, settings) for each in graphs)
        runs[source, seed] = test, play(validation, test)
        print(name, flush=True)
    size = "x".join(map(str, test.graph.states.shape[1:]))
    labels = dict(zip(("validation", "test"), ({"label": size, "starts": n} for n in starts), strict=True))
    about = {"puzzle": folder.name, "title": f"{test.graph.task} {size}", "missing": missing, "price_action": price}
    listed = [
        {"budget": s.budget, "price_action": s.prices.action, "price_observation": s.prices.observation}
        for s in settings
    ]
    return {**about, "instances": labels, "settings": listed, "rows": {"test": rows(runs)}}


def text_of(figures: Row) -> str:
    """Figures with the rows of a table as lists below the names of their columns."""
    parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in figures.items() if key != "rows"]
    for name, every in figures["rows"].items():
        lines = [json.dumps([row.get(key) for key in every[0]], separators=(",", ":")) for row in every]
        parts.append(f'"rows.{name}": [\n' + ",\n".join([json.dumps(list(every[0])), *lines]) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read(text: str) -> Row:
    """Figures of such a text."""
    values, every = json.loads(text), {}
    for name in [name for name in values if name.startswith("rows.")]:
        columns, *lines = values.pop(name)
        every[name.removeprefix("rows.")] = [dict(zip(columns, line, strict=True)) for line in lines]
    return {**values, "rows": every}


def best(every: Sequence[Row], *, memory: bool = False) -> Row | None:
    """The rule without training that is worth most on validation starts, on whichever source of plans."""
    untrained = [row for row in every if not _is_head(row) and _remembers(row) == memory]
    return max(untrained, key=lambda row: row["validation"], default=None)


def _is_head(row: Row) -> bool:
    return str(row["rule"]).removesuffix(MEMORY) == HEAD


def _remembers(row: Row) -> bool:
    return str(row["rule"]).endswith(MEMORY)


def ahead(figures: Row, row: Row, kind: str = "test") -> Interval:
    """The value of a rule less that of our head: t over training seeds, of one seed over starts."""
    if len(row.get("by_seed") or ()) < 2:
        return _of(row["ahead"])
    same = (each for each in figures["rows"][kind] if _same(each, row, "budget", "price_action", "price_observation"))
    name = HEAD + MEMORY * _remembers(row)
    ours = next(each for each in same if each["source"] == OURS and each["rule"] == name)
    own = dict(zip(ours["seeds"], ours["by_seed"], strict=True))
    return intervals.mean(np.array([mine - own[seed] for seed, mine in zip(row["seeds"], row["by_seed"], strict=True)]))


def _same(one: Row, other: Row, *keys: str) -> bool:
    return all(one[key] == other[key] for key in keys)


def _of(triple: Sequence[float]) -> Interval:
    return Interval.of(dict(zip(("mean", "low", "high"), triple, strict=True)))


def price_words(row: Row) -> str:
    """The price of an observation, in actions."""
    return f"{row['price_observation'] / row['price_action']:g}" if row["price_action"] else "no prices"


def bests(figures: Row, kind: str = "test") -> Grid:
    """Our head and the best rule under every setting; differences are our head less the rule, of value over training
    seeds, of the rest over starts."""
    lines = []
    for setting in figures["settings"]:
        own = [row for row in figures["rows"][kind] if _same(row, setting, *setting)]
        for memory in (False, True):
            ours = [row for row in own if row["source"] == OURS and row["rule"] == HEAD + MEMORY * memory]
            rule = best(own, memory=memory)
            if ours and rule is not None:
                less = lambda interval, scale: spread(interval.scaled(-scale), sign=True)
                cells = [str(setting["budget"]), price_words(setting) + ", memory" * memory, _outcome(ours[0])]
                cells += [_named(rule), NAMES[rule["source"]], _outcome(rule), less(ahead(figures, rule, kind), 100)]
                if rule["ahead_solved"] is not None:
                    cells += [less(_of(rule["ahead_solved"]), 100), less(_of(rule["ahead_actions"]), 1)]
                lines.append([*cells, "", ""][:9])
    head = "K | observation, in actions | adaptive: solved at actions | best rule | its plans | rule: solved at actions"
    return Grid.of(f"{head} | value, points (95 %) | solved, points (95 %) | actions (95 %)", lines)


def _outcome(row: Row) -> str:
    return f"{100 * row['solved']:.1f} at {row['actions']:.1f}"


def _named(row: Row) -> str:
    """The rule with its parameters, which may differ by seed."""
    if row["parameters"] is None:
        return str(row["rule"])
    numbers = ", ".join(f"{each:.3g}" for each in dict.fromkeys(row["parameters"]))
    name = str(row["rule"])
    return name.replace("fixed", f"fixed depth {numbers}") if name.startswith("fixed") else f"{name} ({numbers})"


def counts(figures: Row) -> Grid:
    """How many rules are significantly better than our head, over all settings; one in forty is by chance."""
    lines = []
    for kind, every in figures["rows"].items():
        signs = [ahead(figures, row, kind).sign for row in every if not _is_head(row)]
        cells = (len(signs), signs.count(1), signs.count(0), signs.count(-1))
        lines.append([figures["instances"][kind]["label"], *map(str, cells)])
    head = "instances | rules | significantly better than adaptive | not significant | significantly worse"
    return Grid.of(head, lines)


def lead(figures: Row, budget: int) -> list[tuple[str, float, float, float, float]]:
    """Source, price of an observation in actions, and how far our head is ahead of the best rule there, in points."""
    points = []
    for source in NAMES:
        for setting in figures["settings"]:
            own = [row for row in figures["rows"]["test"] if all(row[key] == value for key, value in setting.items())]
            rule = best([row for row in own if row["source"] == source])
            if setting["budget"] == budget and setting["price_action"] and rule is not None:
                less = ahead(figures, rule).scaled(-100.0)
                price = setting["price_observation"] / setting["price_action"]
                points.append((source, price, less.mean, less.low, less.high))
    return points


def draw(figures: Row) -> None:
    """A figure and its points per budget -> docs/assets/rules-compared-PUZZLE-kK.svg and .csv."""
    for budget in dict.fromkeys(setting["budget"] for setting in figures["settings"]):
        points, name = lead(figures, budget), f"rules-compared-{figures['puzzle']}-k{budget}"
        with plotting.style():
            figure = plotting.figure(5.2, 3.6)
            axes = figure.subplots()
            for source, colour in zip(NAMES, ("#1f5fb0", "#c2570c", "#a8447f", *2 * ("#5b6373",)), strict=True):
                own = [point[1:] for point in points if point[0] == source]
                if own:
                    across, means, lows, highs = zip(*own, strict=True)
                    axes.plot(across, means, color=colour, marker="o", ms=3, label=NAMES[source])
                    axes.fill_between(across, lows, highs, color=colour, alpha=0.16, lw=0)
            axes.axhline(0, color=plotting.INK, lw=0.8)
            axes.set(xlabel="price of an observation, in actions", ylabel="value over the best rule, points")
            axes.set_title(f"{TITLES.get(figures['title'], figures['title'].capitalize())}, K = {budget}")
            figure.legend(loc="outside lower center", ncols=2, title="plans")
            plotting.save(figure, ASSETS / f"{name}.svg")
        head = ("plans", "price", "ahead", "low", "high")
        lines = [",".join(map(str, (NAMES[source], *(f"{x:.6g}" for x in rest)))) for source, *rest in points]
        (ASSETS / f"{name}.csv").write_text("\n".join([",".join(head), *lines]) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gather", "tables"))
    parser.add_argument("folder", nargs="?", type=Path, help="one puzzle of a reproduction: laptop/sliding")
    parser.add_argument("--out", type=Path, help="of graphs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--starts", type=int, nargs=2, default=[512, 1024], help="of validation and test")
    parser.add_argument("--length", type=int, nargs="*", default=[], help="of all starts; as in the data if not said")
    parser.add_argument("--price-action", type=float, default=0.01)
    asked = parser.parse_args()
    if asked.what == "gather":
        found = gather(asked.folder, asked.out, asked.seeds, tuple(asked.starts), asked.length, asked.price_action)
        path = ASSETS / f"rules-compared-{asked.folder.name}.json"
        if path.exists():  # other instances, and where returns are lost, are measured by other commands
            before = read(path.read_text(encoding="utf-8"))
            found = before | found | {name: before[name] | found[name] for name in ("instances", "rows")}
        path.write_text(text_of(found), encoding="utf-8")
        return 0
    for path in sorted(ASSETS.glob("rules-compared-*.json")):
        figures = read(path.read_text(encoding="utf-8"))
        draw(figures)
        print(f"## {figures['title'].capitalize()}\n\n{bests(figures).markdown()}\n\n{counts(figures).markdown()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
