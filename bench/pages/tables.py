"""Tables and figures of the results pages, from the figures in docs/assets; the sentences of the pages stay.

python -m bench.pages.tables           # every block from `<!-- TASK TABLE -->` to `<!-- end -->`, and the figures
python -m bench.pages.tables --check   # writes nothing; exits with 1 if a page has other figures

``bench.pages.gather`` collects the figures of evaluations; ``causes``, ``one_price`` and ``fit_baselines`` of graphs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from statistics import mean
from typing import TYPE_CHECKING, Any

from bench.pages import gradient_bias
from bench.pages.gather import ASSETS, CEILING, CONSTANT, HEADS, PRICES

from recommit.evaluate.tables.ablations import CHANGES
from recommit.report import plotting
from recommit.storage.terminal_text import grid
from recommit.train.baselines.gradient_bias import GradientRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    Figures = dict[str, Any]
    Tables = dict[str, Callable[[Figures], str]]

DOCS = ASSETS.parent
BLOCK = re.compile(r"<!-- (?P<task>[a-z]+) (?P<table>[a-z]+) -->\n.*?<!-- end -->", re.DOTALL)
#: What heads are called in the tables.
WORDS = {
    "own head": "adaptive",
    "foresight": "world model",
    "foresight and stakes": "world model, conditioned head",
    "best constant": "best fixed depth",
    "perfect depths": "oracle depth",
    "always 4": "fixed depth 4",
    "always 8": "fixed depth 8",
}


def words(name: str) -> str:
    """Who chooses the depth."""
    return WORDS.get(name, name)


def means(figures: dict[str, Any]) -> str:
    """The first table: means over seeds, the least and the most of them, what a look costs."""
    names = dict.fromkeys((row["plans"], row["chooses"], row["budget"]) for row in figures["rows"])
    lines = []
    for plans, chooses, budget in names:
        own = [r for r in figures["rows"] if (r["plans"], r["chooses"], r["budget"]) == (plans, chooses, budget)]
        solved = [100 * row["solve_rate"] for row in own]
        gains = [row["gain"] for row in own if row["gain"] is not None]
        look = [one for one in figures["looks"] if one["plans"] == plans and _played_by(chooses, one)]
        cells = [
            plans,
            words(chooses),
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


def _played_by(chooses: str, look: dict[str, Any]) -> bool:
    """Was this look measured with what chooses? Nobody measured constants and thresholds beside foresight."""
    return chooses == look["chooses"] if chooses in HEADS.values() else chooses.startswith("always")


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
                [row["plans"], words(row["chooses"]), str(row["decisions"]), str(row["seed"]), solved, actions, share]
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
        lines.append([plans, words(chooses), budget, solved, actions])
    return grid(["against the plans", "depth by", "budget", "solved, points", "actions"], lines)


def _points_of(difference: dict[str, float], scale: float, seed: int) -> str:
    centre, low, high = (scale * difference[key] for key in ("mean", "low", "high"))
    return f"s{seed} {centre:+.1f} ({low:+.1f} .. {high:+.1f})"


def causes(figures: dict[str, Any]) -> str:
    """Where the remaining regret falls."""
    names = ("round", "too deep", "too shallow", "lost level")
    lines = [
        [
            words(row["rule"]),
            str(row["K"]),
            f"{100 * row['solved']:.1f}",
            f"{row['actions']:.1f}",
            f"{row['gain']:.2f}",
            *(f"{100 * row['causes'][name]:.0f} %" for name in names),
        ]
        for row in figures["rows"]
    ]
    return grid(["depth by", "K", "solved", "actions", "gain share", *names], lines)


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
    return grid(["K", "an action costs", "an observation costs", *heads, f"{heads[0]}: solved at actions"], lines)


def credit(figures: dict[str, Any]) -> str:
    """The gradient of each advantage estimator against the exact one, by number of episodes."""
    names = {"credit": "estimator", "noise": "relative_std"}  # as they were called when this was measured
    return gradient_bias.table(
        [GradientRow(**{names.get(key, key): value for key, value in row.items()}) for row in figures["rows"]]
    ).strip()


def value(figures: dict[str, Any]) -> str:
    """Solved episodes less what actions and looks cost, means of seeds, and what share of what there is to gain."""
    names = list(dict.fromkeys(row["chooses"] for row in figures["rows"]))
    names.sort(key=lambda name: (name == CEILING, name != CONSTANT))
    lines = []
    for decisions, look in _settings(figures["rows"]):
        own = [row for row in figures["rows"] if (row["K"], row["look"]) == (decisions, look)]
        by_name = {name: [row for row in own if row["chooses"] == name] for name in names}
        values = (f"{mean(row['value'] for row in by_name[name]):.3f}" for name in names)
        shares = (_gain_share(by_name[name]) for name in HEADS.values())
        lines.append([str(decisions), f"{look:g}", *values, *shares])
    head = ["K", "an observation costs", *map(words, names), *(f"gain share: {words(name)}" for name in HEADS.values())]
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
    return grid(["K", "an observation costs", *map(words, names)], lines)


def _settings(rows: list[dict[str, Any]]) -> list[tuple[int, float]]:
    return sorted({(row["K"], row["look"]) for row in rows}, key=lambda each: (-each[0], each[1]))


def changes(figures: dict[str, Any]) -> str:
    """A row per change, with every number of looks."""
    looks = sorted({row["K"] for row in figures["rows"]}, reverse=True)
    lines = []
    for change, words in CHANGES.items():
        own = {row["K"]: row for row in figures["rows"] if row["change"] == change}
        if own:
            cells = (_cell(own[k]) for k in looks)
            lines.append([change, words, *(part for cell in cells for part in cell), f"{own[looks[0]]['cpu_s']:.0f}"])
    columns = (part for k in looks for part in (f"K = {k}: solved (95 %)", "actions"))
    return grid(["run", "what changes", *columns, "CPU s"], lines)


def _cell(row: dict[str, Any]) -> tuple[str, str]:
    solved, low, high = (100 * row[key] for key in ("solve_rate", "solve_low", "solve_high"))
    return f"{solved:.1f} ({low:.1f} .. {high:.1f})", f"{row['actions_per_episode']:.1f}"


def leads(figures: dict[str, Any]) -> str:
    """Means over seeds; of values also how many seeds are ahead beyond chance."""
    names = dict.fromkeys((row["K"], row["against"]) for row in figures["rows"])
    lines = []
    for decisions, against in sorted(names, key=lambda each: -each[0]):
        own = [row for row in figures["rows"] if (row["K"], row["against"]) == (decisions, against)]
        prices = (_of(own, f"{look:g}", 1) for look in PRICES)
        lines.append([str(decisions), words(against), _of(own, "solved", 100), _of(own, "actions", 1), *prices])
    prices_ = (f"value, an observation costs {look:g}" for look in PRICES)
    return grid(["K", "against", "solved, points", "actions", *prices_], lines)


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
    """Gain shares in value at every price of a look: mean of seeds, and on how many the head ahead is significantly."""
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
    trained = {*EVERYWHERE, "paper", "paper-z", "exact-z", "exact-plan", "episode", "branch", "head"}
    names = {row["rule"] for row in figures["rows"]} - trained - {*WORDS, *WORDS.values()}
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


#: Page -> the figures of which files, and its tables.
PAGES: dict[str, tuple[str, Tables]] = {
    "results-heads.md": (
        "heads",
        {
            "credit": credit,
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
    "rivals.md": ("rivals", {"scores": scores, "prices": prices, "ends": ends, "fits": fits}),
}


def filled(page: str, figures: dict[str, Figures], tables: Tables) -> str:
    """The page with the tables of every task that has figures."""

    def block(match: re.Match[str]) -> str:
        if match["task"] not in figures or match["table"] not in tables:
            return match[0]
        table = tables[match["table"]](figures[match["task"]])
        return f"<!-- {match['task']} {match['table']} -->\n\n{table}\n\n<!-- end -->"

    return BLOCK.sub(block, page)


def stored(prefix: str) -> dict[str, Figures]:
    """The figures of a page, by task."""
    paths = sorted(ASSETS.glob(f"{prefix}-*.json"))
    return {path.stem.removeprefix(f"{prefix}-"): json.loads(path.read_text(encoding="utf-8")) for path in paths}


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


def flops(figures: dict[str, Any]) -> list[tuple[str, str, int, float, float]]:
    """Plans, who chooses, looks at most, operations of an episode in millions and solved in percent: means of seeds."""
    result = []
    names = dict.fromkeys((row["plans"], row["chooses"], row["decisions"]) for row in figures["rows"])
    for plans, chooses, budget in names:
        own = [r for r in figures["rows"] if (r["plans"], r["chooses"], r["decisions"]) == (plans, chooses, budget)]
        looks = [one for one in figures["looks"] if one["plans"] == plans and _played_by(chooses, one)]
        if looks:
            each = mean(one["flops"] for one in looks) / 1e6 * mean(row["decisions_per_episode"] for row in own)
            result.append((plans, chooses, budget, each, 100 * mean(row["solve_rate"] for row in own)))
    return result


def compute_figure(every: dict[str, Figures]) -> Figure:
    """Solved against the operations of an episode: a panel per puzzle; both budgets of one agent are joined."""
    figure = plotting.figure(9.4, 4.4)
    for place, name in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        marks = flops(every[name])
        for number, (plans, chooses) in enumerate(dict.fromkeys(mark[:2] for mark in marks)):
            own = sorted((mark for mark in marks if mark[:2] == (plans, chooses)), key=lambda mark: mark[2])
            label = words(chooses) if name == "stakes" else f"{words(chooses)}: {plans}"
            kind = f"-{SHAPES[number % len(SHAPES)]}"
            place.plot([mark[3] for mark in own], [mark[4] for mark in own], kind, color=COLOURS[chooses], label=label)
        title = {"sokoban": "Sokoban 7x7, K = 4 and 6", "stakes": "sliding 3x3, K = 10 and 15"}[name]
        low = min(60.0, min(mark[4] for mark in marks) - 4)
        place.set(xlabel="million operations per episode", ylabel="solved, %", title=title, ylim=(low, 100))
        place.set_xlim(0, 1.15 * max(mark[3] for mark in marks))
        place.legend(fontsize=7, loc="lower right" if name == "sokoban" else "lower left")
    return figure


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
        place.set(title=f"{task}, K = {budget}", xlabel="gain share in value")
        place.axvline(0, color=plotting.INK, linewidth=0.8)
        place.grid(visible=False, axis="y")
    return figure


#: Files of docs/assets -> whose figures, and how they are drawn.
DRAWN: dict[str, tuple[str, Callable[[dict[str, Figures]], Figure]]] = {
    "heads-compute.svg": ("heads", compute_figure),
    "rivals.svg": ("rivals", baselines_figure),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page has other figures")
    check, changed = parser.parse_args().check, False
    for name, (prefix, tables) in PAGES.items():
        page = (DOCS / name).read_text(encoding="utf-8")
        text = filled(page, stored(prefix), tables)
        changed |= text != page
        if not check:
            (DOCS / name).write_text(text, encoding="utf-8")
    for name, (prefix, draw) in DRAWN.items() if not check else ():
        with plotting.style():
            plotting.save(draw(stored(prefix)), ASSETS / name)
    return int(check and changed)


if __name__ == "__main__":
    sys.exit(main())
