"""Tables of docs/results, as CSV, from the figures in docs/assets; ``drawings`` draws the pictures of their pages.

python -m bench.pages.tables           # every docs/results/SOURCE-NAME-TABLE.csv that is there
python -m bench.pages.tables --check   # writes nothing; exits with 1 if a table is not that of its figures

``bench.pages.gather`` collects the figures from evaluations, ``rules`` from graphs; the others were collected once, by
scripts of commit 9c467fb9.
"""

from __future__ import annotations

import json
import sys
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.pages import blocks, rules
from bench.pages.gather import ASSETS, CEILING, CONSTANT, HEADS, PRICES

from recommit.evaluate.tables.main_results import CHANGES
from recommit.results import intervals, table
from recommit.results.intervals import Interval
from recommit.results.table import Grid, ends, figure, number, percent, spread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Figures = dict[str, Any]
    Row = dict[str, Any]
    Tables = dict[str, Callable[[Figures], Grid]]

CSV = ASSETS.parent / "results"
#: Rules and heads of ``baselines`` and ``rules`` -> their names in the tables.
WORDS = {
    "head": "adaptive",
    "paper": "one-step (paper)",
    "paper-z": "one-step (paper), z only",
    "exact-z": "exact, z only",
    "state": "one-step (paper)",
}


def words(name: str) -> str:
    """A name of the figures in the tables' words."""
    return WORDS.get(name, name)


def grouped(rows: list[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows with the same values, in the order of the first of each."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def average(rows: list[Row], key: str, digits: int = 1, scale: float = 1.0) -> str:
    """The mean of a figure over seeds, of those that have it."""
    values = [row[key] for row in rows if row[key] is not None]
    return number(mean(values), digits, scale) if values else ""


def over_seeds(values: list[float], digits: int = 1, scale: float = 1.0) -> str:
    """The mean of signed differences with its t interval over training seeds."""
    return spread(intervals.mean(np.array(values)), digits, scale, sign=True)


def within(row: Row, digits: int = 1, scale: float = 1.0) -> str:
    """A paired difference of one seed, with the interval over instances."""
    return spread(Interval.of(row), digits, scale, sign=True)


def by_seed(rows: list[Row], key: str, digits: int = 1, scale: float = 1.0) -> str:
    """Every seed's difference with its interval over instances."""
    return "; ".join(f"s{row['seed']} {within(row[key] if key else row, digits, scale)}" for row in rows)


def means(figures: Figures) -> Grid:
    """Means over seeds, the least and the most of them, and what an observation costs."""
    head = "plans | depth by | K | solved | seeds | actions | observations | gain share | MFLOP each | ms each"
    lines = []
    for (plans, chooses, _), own in grouped(figures["rows"], "plans", "chooses", "budget").items():
        solved = [100 * row["solve_rate"] for row in own]
        look = [one for one in figures["looks"] if one["plans"] == plans and played_by(chooses, one)]
        cells = [plans, chooses, f"{own[0]['decisions']}", number(mean(solved)), ends(min(solved), max(solved))]
        cells += [
            average(own, "actions_per_episode"),
            average(own, "decisions_per_episode", 2),
            average(own, "gain", 2),
        ]
        lines.append([*cells, average(look, "flops", 1, 1e-6), average(look, "milliseconds")])
    return Grid.of(head, lines)


def played_by(chooses: str, look: Row) -> bool:
    """Was this observation measured with what chooses? Fixed depths and thresholds were not measured beside a world
    model."""
    return chooses == look["chooses"] if chooses in HEADS.values() else chooses.startswith("fixed depth")


def seeds(figures: Figures) -> Grid:
    """Every seed with its interval, of those whose depth a head chooses."""
    columns: dict[str, Callable[[Row], str]] = {
        "plans": lambda row: row["plans"],
        "depth by": lambda row: row["chooses"],
        "K": lambda row: str(row["decisions"]),
        "seed": lambda row: str(row["seed"]),
        "solved (95 %)": solved_within,
        "actions": lambda row: number(row["actions_per_episode"]),
        "gain share (95 %)": lambda row: "" if row["gain"] is None else figure(row, "gain", 2),
    }
    return Grid.by(columns, (row for row in figures["rows"] if row["chooses"] in HEADS.values()))


def solved_within(row: Row) -> str:
    """Solved and its interval over instances."""
    return figure(row, "solve_rate", 1, 100.0)


def ahead(figures: Figures) -> Grid:
    """By how much the first agent is ahead, on the same instances: points solved and actions, seed by seed."""
    names = grouped(figures["compared"], "plans", "chooses", "budget")
    lines = [[*name, by_seed(own, "solved", 1, 100.0), by_seed(own, "actions")] for name, own in names.items()]
    return Grid.of("minus plans of | depth by | budget | solved, points (95 %) | actions (95 %)", lines)


def causes(figures: Figures) -> Grid:
    """Where the remaining regret falls, by cause."""
    columns: dict[str, Callable[[Row], str]] = {
        "depth by": lambda row: row["rule"],
        "K": lambda row: str(row["K"]),
        "solved": lambda row: percent(row["solved"]),
        "actions": lambda row: number(row["actions"]),
        "gain share": lambda row: number(row["gain"], 2),
    }
    for name in ("loop", "too deep", "too shallow", "lost level"):
        columns[name] = lambda row, name=name: f"{100 * row['causes'][name]:.0f} %"
    return Grid.by(columns, figures["rows"])


def head_prices(figures: Figures) -> Grid:
    """Gain shares in value at every price, of one head for all and of heads for one: means of seeds."""
    heads = list(dict.fromkeys(row["head"] for row in figures["rows"]))
    lines = []
    for (decisions, action, look), own in grouped(figures["rows"], "K", "action", "look").items():
        by_head = {head: [row for row in own if row["head"] == head] for head in heads}
        shares = (average(by_head[head], "gain", 2) for head in heads)
        both = f"{average(by_head[heads[0]], 'solved', 1, 100.0)} at {average(by_head[heads[0]], 'actions')}"
        lines.append([str(decisions), f"{action:g}", f"{look:g}", *shares, both])
    every = (average([row for row in figures["rows"] if row["head"] == head], "gain", 3) for head in heads)
    lines.append(["all", "", "", *every, ""])
    return Grid.of(["K", "an action costs", "an observation costs", *heads, f"{heads[0]}: solved at actions"], lines)


def estimators(figures: Figures) -> Grid:
    """The gradient by each advantage estimator against the exact one, by number of episodes."""
    counts = sorted({row["episodes"] for row in figures["rows"]})
    lines = []
    for (name,), rows in grouped(figures["rows"], "estimator").items():
        own = {row["episodes"]: row for row in rows}
        last = own[counts[-1]]
        bias = f"{last['bias']:.3f}" if last["enumerated"] else f"about {last['bias']:.3f}"
        lines.append([words(name), *(f"{own[n]['cosine']:.3f}" for n in counts), bias, f"{last['noise']:.2f}"])
    columns = [*(f"cosine, {count:,} episodes" for count in counts), "bias", f"noise, {counts[-1]:,} episodes"]
    return Grid.of(["advantage estimator", *columns], lines)


def value(figures: Figures) -> Grid:
    """Solved episodes less what actions and observations cost, means of seeds, and gain shares."""
    names = list(dict.fromkeys(row["chooses"] for row in figures["rows"]))
    names.sort(key=lambda name: (name == CEILING, name != CONSTANT))
    lines = []
    for (decisions, look), own in _settings(figures["rows"]):
        of = lambda name, own=own: [row for row in own if row["chooses"] == name]
        values = (average(of(name), "value", 3) for name in names)
        lines.append([str(decisions), f"{look:g}", *values, *(average(of(name), "gain", 2) for name in HEADS.values())])
    return Grid.of(["K", "an observation costs", *names, *(f"gain share: {name}" for name in HEADS.values())], lines)


def price_leads(figures: Figures) -> Grid:
    """By how much the first agent is ahead in value, every seed with its interval."""
    names = [name for name in dict.fromkeys(row["against"] for row in figures["ahead"]) if name != CEILING]
    lines = []
    for (decisions, look), own in _settings(figures["ahead"]):
        cells = (by_seed([row for row in own if row["against"] == name], "", 3) for name in names)
        lines.append([str(decisions), f"{look:g}", *cells])
    return Grid.of(["K", "an observation costs", *names], lines)


def _settings(rows: list[Row]) -> list[tuple[tuple[Any, ...], list[Row]]]:
    return sorted(grouped(rows, "K", "look").items(), key=lambda each: (-each[0][0], each[0][1]))


def changes(figures: Figures) -> Grid:
    """A row per change, with every budget."""
    looks = sorted({row["K"] for row in figures["rows"]}, reverse=True)
    lines = []
    for change, text in CHANGES.items():
        own = {row["K"]: row for row in figures["rows"] if row["change"] == change}
        if own:
            cells = (part for k in looks for part in (solved_within(own[k]), number(own[k]["actions_per_episode"])))
            lines.append([change, text, *cells, f"{own[looks[0]]['cpu_s']:.0f}"])
    columns = (part for k in looks for part in (f"K = {k}: solved (95 %)", "actions"))
    return Grid.of(["run", "what changes", *columns, "CPU s"], lines)


def leads(figures: Figures) -> Grid:
    """How far the first agent is ahead: means over seeds with t intervals over them."""
    lines = []
    for (decisions, against), own in sorted(grouped(figures["rows"], "K", "against").items(), key=lambda e: -e[0][0]):
        of = lambda name, *how, own=own: over_seeds([row[name]["mean"] for row in own], *how)
        prices = (of(f"{look:g}", 3) for look in PRICES)
        lines.append([str(decisions), against, of("solved", 1, 100.0), of("actions"), *prices])
    head = ["K", "minus", "solved, points (95 % over seeds)", "actions"]
    return Grid.of([*head, *(f"value, an observation costs {look:g}" for look in PRICES)], lines)


#: The price where every method was fitted, in actions per look.
MIDDLE = 2.0
#: Those that were fitted at every price.
EVERYWHERE = ("exact", "ppo", "hazard", "q", "verifier")


def of_rule(figures: Figures, rule: str, budget: int, ratio: float) -> list[Row]:
    """A rule's rows under one setting, a row per seed."""
    return [row for row in figures["rows"] if (row["rule"], row["K"], row["ratio"]) == (rule, budget, ratio)]


def budgets(figures: Figures) -> list[int]:
    """Budgets, the larger first."""
    return sorted({row["K"] for row in figures["rows"]}, reverse=True)


def by_value(figures: Figures, budget: int, ratio: float) -> list[tuple[str, list[Row]]]:
    """Every rule and its rows, the most valuable first."""
    names = dict.fromkeys(row["rule"] for row in figures["rows"])
    every = [(name, rows) for name in names if (rows := of_rule(figures, name, budget, ratio))]
    return sorted(every, key=lambda pair: -mean(row["value"] for row in pair[1]))


def scores(figures: Figures) -> Grid:
    """Every rule at the middle price: means over seeds, and how far the head ahead is from it on each."""
    lines = []
    for budget in budgets(figures):
        for name, rows in by_value(figures, budget, MIDDLE):
            shares = [row["gain"] for row in rows]
            cells = [words(name), str(budget), average(rows, "solved", 1, 100.0), average(rows, "actions")]
            cells += [average(rows, "looks", 2), average(rows, "value", 1, 100.0)]
            cells += [average(rows, "gain", 2) + (f" ({ends(min(shares), max(shares), 2)})" if shares[1:] else "")]
            less = "; ".join(within(row["ahead"], 1, 100.0) for row in rows)
            lines.append([*cells, less if name != first(figures) else ""])
    head = "depth by | K | solved | actions | observations | value | gain share (seeds)"
    return Grid.of(f"{head} | first row minus this, by seed (95 %)", lines)


def first(figures: Figures) -> str:
    """The head that is held against the others."""
    return str(figures["rows"][0]["rule"])


def prices(figures: Figures) -> Grid:
    """Gain shares in value at every price: mean of seeds, and on how many the first is significantly better."""
    lines, best = [], best_plain(figures)
    for budget in budgets(figures):
        for ratio in sorted({row["ratio"] for row in figures["rows"]}):
            cells = [str(budget), f"{ratio:g}"]
            for name in (first(figures), *EVERYWHERE, best):
                rows = of_rule(figures, name, budget, ratio)
                beyond = sum(row["ahead"]["low"] > 0 for row in rows)
                beside = "" if name == first(figures) else f" ({beyond} of {len(rows)})"
                cells.append(average(rows, "gain", 2) + beside)
            lines.append(cells)
    names = map(words, (first(figures), *EVERYWHERE, best))
    return Grid.of(["K", "an observation costs, actions", *names], lines)


def best_plain(figures: Figures) -> str:
    """The best of all settings without training: a rule or a constant."""
    trained = {*EVERYWHERE, *WORDS, "exact-plan", "episode", "branch", *HEADS.values()}
    rows = grouped([row for row in figures["rows"] if row["rule"] not in trained], "rule")
    return str(table.best({name: mean(row["value"] for row in own) for (name,), own in rows.items()}))


def constants(figures: Figures) -> Grid:
    """The best constant and the ceiling under every setting, in hundredths of a solved episode."""
    lines = []
    settings = {(row["K"], row["ratio"]) for row in figures["rows"]}
    for budget, ratio in sorted(settings, key=lambda setting: (-setting[0], setting[1])):
        rows = of_rule(figures, first(figures), budget, ratio)
        depth = " / ".join(str(row["ends"][0]) for row in rows)
        least, most = (" / ".join(f"{100 * row['ends'][at]:.1f}" for row in rows) for at in (1, 2))
        lines.append([str(budget), f"{ratio:g}", depth, least, most])
    return Grid.of(
        "K | an observation costs, actions | best fixed depth, seed by seed | its value | oracle depth", lines
    )


def fits(figures: Figures) -> Grid:
    """What was tried for each head, and what the best came to on the held-out starts; seeds by a slash."""
    seeds: dict[str, list[Row]] = {}
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
    return Grid.of("head, price | tries (value on held-out starts) | updates | value", lines)


def losses(figures: Figures) -> Grid:
    """What is missing to optimal plans at optimal depths, split into plans and depths."""
    names, *rows = figures["split"]
    missing = lambda triple: within(dict(zip(("mean", "low", "high"), triple, strict=True)), 1, 100.0)
    columns: dict[str, Callable[[Row], str]] = {
        "instances": lambda row: figures["instances"][row["instances"]]["label"],
        "K": lambda row: str(row["budget"]),
        "observation, in actions": rules.price_words,
        "depth by": lambda row: words(row["rule"]),
        "plans": lambda row: rules.NAMES[row["source"]],
        "value": lambda row: percent(row["value"]),
        "optimal": lambda row: percent(row["best"]),
        "lost by plans (95 %)": lambda row: missing(row["plans_lose"]),
        "lost by depths (95 %)": lambda row: missing(row["depths_lose"]),
    }
    return Grid.by(columns, (dict(zip(names, values, strict=True)) for values in rows))


#: Where figures of a source lie -> its tables.
SOURCES: dict[str, tuple[str, Tables]] = {
    "heads": (
        "heads",
        {
            "estimators": estimators,
            "means": means,
            "seeds": seeds,
            "ahead": ahead,
            "causes": causes,
            "prices": head_prices,
            "value": value,
            "lead": price_leads,
            "changes": changes,
            "leads": leads,
        },
    ),
    "baselines": ("baselines", {"scores": scores, "prices": prices, "ends": constants, "fits": fits}),
    "rules": ("rules-compared", {"best": rules.bests, "counts": rules.counts, "losses": losses}),
}


def stored(source: str) -> dict[str, Figures]:
    """The figures of a source, by name."""
    prefix = SOURCES[source][0]
    texts = {path.stem.removeprefix(f"{prefix}-"): path.read_text("utf-8") for path in ASSETS.glob(f"{prefix}-*.json")}
    read = rules.read if source == "rules" else json.loads
    return {name: read(text) for name, text in sorted(texts.items())}


def tables(figures: dict[str, dict[str, Figures]]) -> dict[Path, str]:
    """Every table of a source that is kept, made anew."""
    made = {}
    for path in CSV.glob("*.csv"):
        source, _, rest = path.stem.partition("-")
        name, _, kind = rest.rpartition("-")
        if source in SOURCES:
            made[path] = SOURCES[source][1][kind](figures[source][name]).csv()
    return made


def main() -> int:
    check = blocks.parser(__doc__).parse_args().check
    return blocks.write(tables({source: stored(source) for source in SOURCES}), check)


if __name__ == "__main__":
    sys.exit(main())
