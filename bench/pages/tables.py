"""Tables of docs/results, as CSV, from the figures in docs/assets; ``drawings`` draws the pictures of their pages.

python -m bench.pages.tables           # every docs/results/SOURCE-NAME-TABLE.csv that is there
python -m bench.pages.tables --check   # writes nothing; exits with 1 if a table is not that of its figures

``bench.pages.gather`` collects the figures from evaluations; ``rules``, ``causes`` and ``one_price`` collect theirs from
graphs; ``baselines`` and ``gradients`` are of commit 9c467fb9.
"""

from __future__ import annotations

import json
import sys
from statistics import mean
from typing import TYPE_CHECKING, Any

from bench.pages import blocks, rules
from bench.pages.gather import ASSETS, CEILING, CONSTANT, HEADS, PRICES

from recommit.evaluate.tables.main_results import CHANGES
from recommit.storage.terminal_text import grid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Figures = dict[str, Any]
    Tables = dict[str, Callable[[Figures], str]]

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


def means(figures: dict[str, Any]) -> str:
    """Means over seeds, the least and the most of them, and what an observation costs."""
    names = dict.fromkeys((row["plans"], row["chooses"], row["budget"]) for row in figures["rows"])
    lines = []
    for plans, chooses, budget in names:
        own = [r for r in figures["rows"] if (r["plans"], r["chooses"], r["budget"]) == (plans, chooses, budget)]
        solved = [100 * row["solve_rate"] for row in own]
        gains = [row["gain"] for row in own if row["gain"] is not None]
        look = [one for one in figures["looks"] if one["plans"] == plans and played_by(chooses, one)]
        cells = [
            plans,
            chooses,
            f"{own[0]['decisions']}",
            f"{mean(solved):.1f}",
            f"{min(solved):.1f} .. {max(solved):.1f}",
            f"{mean(row['actions_per_episode'] for row in own):.1f}",
            f"{mean(row['decisions_per_episode'] for row in own):.2f}",
            f"{mean(gains):.2f}" if gains else "",
            f"{mean(one['flops'] for one in look) / 1e6:.1f}" if look else "",
            f"{mean(one['milliseconds'] for one in look):.1f}" if look else "",
        ]
        lines.append(cells)
    head = [
        "plans",
        "depth by",
        "K",
        "solved",
        "seeds",
        "actions",
        "observations",
        "gain share",
        "MFLOP each",
        "ms each",
    ]
    return grid(head, lines)


def played_by(chooses: str, look: dict[str, Any]) -> bool:
    """Was this observation measured with what chooses? Nobody measured fixed depths and thresholds beside a world
    model."""
    return chooses == look["chooses"] if chooses in HEADS.values() else chooses.startswith("fixed depth")


def seeds(figures: dict[str, Any]) -> str:
    """Every seed with its interval, of those whose depth a head chooses."""
    lines = []
    for row in figures["rows"]:
        if row["chooses"] in HEADS.values():
            low, high, gain = row["solve_low"], row["solve_high"], row["gain"]
            ends = "" if row["gain_low"] is None else f" ({row['gain_low']:.2f} .. {row['gain_high']:.2f})"
            share = "" if gain is None else f"{gain:.2f}{ends}"
            solved = f"{100 * row['solve_rate']:.1f} ({100 * low:.1f} .. {100 * high:.1f})"
            actions = f"{row['actions_per_episode']:.1f}"
            lines.append(
                [
                    row["plans"],
                    row["chooses"],
                    str(row["decisions"]),
                    str(row["seed"]),
                    solved,
                    actions,
                    share,
                ]
            )
    return grid(["plans", "depth by", "K", "seed", "solved (95 %)", "actions", "gain share (95 %)"], lines)


def ahead(figures: dict[str, Any]) -> str:
    """By how much the first agent is ahead, on the same instances: points solved and actions, seed by seed."""
    names = dict.fromkeys((row["plans"], row["chooses"], row["budget"]) for row in figures["compared"])
    lines = []
    for plans, chooses, budget in names:
        own = [r for r in figures["compared"] if (r["plans"], r["chooses"], r["budget"]) == (plans, chooses, budget)]
        solved = "; ".join(_points_of(row["solved"], 100, row["seed"]) for row in own)
        actions = "; ".join(_points_of(row["actions"], 1, row["seed"]) for row in own)
        lines.append([plans, chooses, budget, solved, actions])
    return grid(["minus plans of", "depth by", "budget", "solved, points (95 %)", "actions (95 %)"], lines)


def _points_of(difference: dict[str, float], scale: float, seed: int) -> str:
    centre, low, high = (scale * difference[key] for key in ("mean", "low", "high"))
    return f"s{seed} {centre:+.1f} ({low:+.1f} .. {high:+.1f})"


def causes(figures: dict[str, Any]) -> str:
    """Where the remaining regret falls, by cause."""
    names = ("loop", "too deep", "too shallow", "lost level")
    lines = [
        [
            row["rule"],
            str(row["K"]),
            f"{100 * row['solved']:.1f}",
            f"{row['actions']:.1f}",
            f"{row['gain']:.2f}",
            *(f"{100 * row['causes'][name]:.0f} %" for name in names),
        ]
        for row in figures["rows"]
    ]
    return grid(["depth by", "K", "solved", "actions", "gain share", "loop", *names[1:]], lines)


def head_prices(figures: dict[str, Any]) -> str:
    """Gain shares in value at every price, of one head for all and of heads for one: means of seeds."""
    settings = dict.fromkeys((row["K"], row["action"], row["look"]) for row in figures["rows"])
    heads = list(dict.fromkeys(row["head"] for row in figures["rows"]))
    lines = []
    for decisions, action, look in settings:
        where = (decisions, action, look)
        own = [row for row in figures["rows"] if (row["K"], row["action"], row["look"]) == where]
        by_head = {head: [row for row in own if row["head"] == head] for head in heads}
        solved, actions = (mean(row[key] for row in by_head[heads[0]]) for key in ("solved", "actions"))
        shares = (f"{mean(row['gain'] for row in each):.2f}" if each else "" for each in by_head.values())
        lines.append([str(decisions), f"{action:g}", f"{look:g}", *shares, f"{100 * solved:.1f} at {actions:.1f}"])
    every = [mean(row["gain"] for row in figures["rows"] if row["head"] == head) for head in heads]
    lines.append(["all", "", "", *(f"{value:.3f}" for value in every), ""])
    columns = [*heads, f"{heads[0]}: solved at actions"]
    return grid(["K", "an action costs", "an observation costs", *columns], lines)


def estimators(figures: dict[str, Any]) -> str:
    """The gradient by each advantage estimator against the exact one, by number of episodes."""
    counts = sorted({row["episodes"] for row in figures["rows"]})
    lines = []
    for name in dict.fromkeys(row["estimator"] for row in figures["rows"]):
        own = {row["episodes"]: row for row in figures["rows"] if row["estimator"] == name}
        last = own[counts[-1]]
        bias = f"{last['bias']:.3f}" if last["enumerated"] else f"about {last['bias']:.3f}"
        lines.append([words(name), *(f"{own[n]['cosine']:.3f}" for n in counts), bias, f"{last['noise']:.2f}"])
    columns = [*(f"cosine, {count:,} episodes" for count in counts), "bias", f"noise, {counts[-1]:,} episodes"]
    return grid(["advantage estimator", *columns], lines)


def value(figures: dict[str, Any]) -> str:
    """Solved episodes less what actions and observations cost, means of seeds, and gain shares."""
    names = list(dict.fromkeys(row["chooses"] for row in figures["rows"]))
    names.sort(key=lambda name: (name == CEILING, name != CONSTANT))
    lines = []
    for decisions, look in _settings(figures["rows"]):
        own = [row for row in figures["rows"] if (row["K"], row["look"]) == (decisions, look)]
        by_name = {name: [row for row in own if row["chooses"] == name] for name in names}
        values = (f"{mean(row['value'] for row in by_name[name]):.3f}" for name in names)
        shares = (_gain_share(by_name[name]) for name in HEADS.values())
        lines.append([str(decisions), f"{look:g}", *values, *shares])
    head = ["K", "an observation costs", *names, *(f"gain share: {name}" for name in HEADS.values())]
    return grid(head, lines)


def _gain_share(rows: list[dict[str, Any]]) -> str:
    return f"{mean(row['gain'] for row in rows):.2f}"


def price_leads(figures: dict[str, Any]) -> str:
    """By how much the first agent is ahead in value, every seed with its interval."""
    names = [name for name in dict.fromkeys(row["against"] for row in figures["ahead"]) if name != CEILING]
    lines = []
    for decisions, look in _settings(figures["ahead"]):
        own = [row for row in figures["ahead"] if (row["K"], row["look"]) == (decisions, look)]
        cells = (
            "; ".join(
                f"s{row['seed']} {row['mean']:+.3f} ({row['low']:+.3f} .. {row['high']:+.3f})"
                for row in own
                if row["against"] == name
            )
            for name in names
        )
        lines.append([str(decisions), f"{look:g}", *cells])
    return grid(["K", "an observation costs", *names], lines)


def _settings(rows: list[dict[str, Any]]) -> list[tuple[int, float]]:
    return sorted({(row["K"], row["look"]) for row in rows}, key=lambda each: (-each[0], each[1]))


def changes(figures: dict[str, Any]) -> str:
    """A row per change, with every budget."""
    looks = sorted({row["K"] for row in figures["rows"]}, reverse=True)
    lines = []
    for change, text in CHANGES.items():
        own = {row["K"]: row for row in figures["rows"] if row["change"] == change}
        if own:
            cells = (_cell(own[k]) for k in looks)
            lines.append([change, text, *(part for cell in cells for part in cell), f"{own[looks[0]]['cpu_s']:.0f}"])
    columns = (part for k in looks for part in (f"K = {k}: solved (95 %)", "actions"))
    return grid(["run", "what changes", *columns, "CPU s"], lines)


def _cell(row: dict[str, Any]) -> tuple[str, str]:
    solved, low, high = (100 * row[key] for key in ("solve_rate", "solve_low", "solve_high"))
    return f"{solved:.1f} ({low:.1f} .. {high:.1f})", f"{row['actions_per_episode']:.1f}"


def leads(figures: dict[str, Any]) -> str:
    """Means over seeds; of values also on how many seeds the difference is significant."""
    names = dict.fromkeys((row["K"], row["against"]) for row in figures["rows"])
    lines = []
    for decisions, against in sorted(names, key=lambda each: -each[0]):
        own = [row for row in figures["rows"] if (row["K"], row["against"]) == (decisions, against)]
        prices = (_of(own, f"{look:g}", 1) for look in PRICES)
        lines.append([str(decisions), against, _of(own, "solved", 100), _of(own, "actions", 1), *prices])
    prices_ = (f"value, an observation costs {look:g}" for look in PRICES)
    return grid(["K", "minus", "solved, points", "actions", *prices_], lines)


def _of(rows: list[dict[str, Any]], name: str, scale: float) -> str:
    """The mean of the seeds, and of how many the interval is above 0 and below it."""
    above, below = (sum(row[name]["low"] > 0 for row in rows), sum(row[name]["high"] < 0 for row in rows))
    digits = 3 if scale == 1 and name not in ("solved", "actions", "decisions") else 1
    return f"{scale * mean(row[name]['mean'] for row in rows):+.{digits}f} (+{above} -{below})"


#: The price where every method was fitted, in actions per look.
MIDDLE = 2.0
#: Those that were fitted at every price.
EVERYWHERE = ("exact", "ppo", "hazard", "q", "verifier")


def of_rule(figures: Figures, rule: str, budget: int, ratio: float) -> list[dict[str, Any]]:
    """A rule's rows under one setting, a row per seed."""
    return [row for row in figures["rows"] if (row["rule"], row["K"], row["ratio"]) == (rule, budget, ratio)]


def budgets(figures: Figures) -> list[int]:
    """Budgets, the larger first."""
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
                    words(name),
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
        "observations",
        "value",
        "gain share (seeds)",
        "first row minus this, by seed (95 %)",
    ]
    return grid(head, lines)


def first(figures: Figures) -> str:
    """Who is held against the others."""
    return str(figures["rows"][0]["rule"])


def _points(ahead: dict[str, float]) -> str:
    centre, low, high = (100 * ahead[key] for key in ("mean", "low", "high"))
    return f"{centre:+.1f} ({low:+.1f} .. {high:+.1f})"


def prices(figures: Figures) -> str:
    """Gain shares in value at every price: mean of seeds, and on how many the first is significantly better."""
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
    return grid(["K", "an observation costs, actions", *map(words, (first(figures), *EVERYWHERE, best))], lines)


def best_plain(figures: Figures) -> str:
    """The best of all settings that nobody trained: a rule or a constant."""
    trained = {*EVERYWHERE, *WORDS, "exact-plan", "episode", "branch", *HEADS.values()}
    names = {row["rule"] for row in figures["rows"]} - trained
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
    return grid(
        ["K", "an observation costs, actions", "best fixed depth, seed by seed", "its value", "oracle depth"], lines
    )


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


def losses(figures: Figures) -> str:
    """What is missing to optimal plans at optimal depths, split into plans and depths."""
    columns, *rows = figures["split"]
    lines = []
    for row in (dict(zip(columns, values, strict=True)) for values in rows):
        price = row["price_observation"] / row["price_action"] if row["price_action"] else 0.0
        label = figures["instances"][row["instances"]]["label"]
        cells = [label, str(row["budget"]), f"{price:g}" if price else "no prices", words(row["rule"])]
        cells += [rules.NAMES[row["source"]], f"{100 * row['value']:.1f}", f"{100 * row['best']:.1f}"]
        lines.append([*cells, *(_missing(row[key]) for key in ("plans_lose", "depths_lose"))])
    head = ["instances", "K", "observation, in actions", "depth by", "plans", "value", "optimal"]
    return grid([*head, "lost by plans (95 %)", "lost by depths (95 %)"], lines)


def _missing(ends: list[float]) -> str:
    return "{:+.1f} ({:+.1f} .. {:+.1f})".format(*(100 * value for value in ends))


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
    "baselines": ("baselines", {"scores": scores, "prices": prices, "ends": ends, "fits": fits}),
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
            made[path] = blocks.as_csv(SOURCES[source][1][kind](figures[source][name]))
    return made


def main() -> int:
    check = blocks.parser(__doc__).parse_args().check
    return blocks.write(tables({source: stored(source) for source in SOURCES}), check)


if __name__ == "__main__":
    sys.exit(main())
