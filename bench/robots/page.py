"""Every finished job of a campaign into bench/results/robots, the tables of all of them into docs/results and some into
docs/robots.md, and their frontiers into docs/assets.

    python -m bench.robots.page robots        # from the folder of bench.robots.campaign
    python -m bench.robots.page --learners DIR --flow DIR    # from those of bench.robots.learners and flow
    python -m bench.robots.page               # the tables again, from what is kept
    python -m bench.robots.page --check       # writes nothing; exits with 1 if a table is not that of its figures

What is kept of a job is what each test episode came to, so that a campaign may be played on several machines, a part on
each, by the same code. Differences are paired over the test episodes of every policy. The best constant and each rule's
threshold are of validation episodes, each policy's own.
"""

from __future__ import annotations

import json
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.pages import blocks
from bench.robots.flow import DELAYS, METHODS
from bench.robots.records import Played, keep, keep_learners, last_number, utility
from bench.robots.tasks import CONDITIONS, DEPTHS, PRICE

from recommit.report import plotting
from recommit.results import intervals
from recommit.results.intervals import Interval
from recommit.results.table import Grid, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Figures = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
KEPT, PAGE = ROOT / "bench" / "results" / "robots", ROOT / "docs" / "robots.md"
LEARNERS, FLOW = KEPT / "learners", KEPT / "flow.json"
ASSETS, CSV = PAGE.parent / "assets", PAGE.parent / "results"
WORDS = {"dehp": "DEHP", "q": "Q head"}
#: Looking at every tick and executing whole plans, and a depth between them.
ENDS, MIDDLE = (DEPTHS[0], DEPTHS[-1]), 8
#: Tables with a row for each task, by ``cells``.
BY_TASK = ("constants", "horizons", "verdict", "hindsight", "room", "prices", "bumps")
#: Room below this is called none.
LEAST_ROOM = 0.02
#: What a query could cost instead.
PRICES = (0.0, 0.001, 0.003, PRICE)


def collect(kept: Path) -> Figures:
    """Everything that the tables need, of the jobs that are kept."""
    settings = json.loads((kept / "settings.json").read_text())
    every = [Played.read(path) for path in sorted(kept.glob("*-*.json"))]
    if len(codes := {each.code for each in every}) > 1:
        raise SystemExit(f"{kept}: expected jobs of one state of the code, got {sorted(codes)}")
    conditions: dict[str, Any] = {name: {} for name in settings["conditions"]}
    for name, own in conditions.items():
        for task in settings["tasks"]:
            if played := [each for each in every if (each.task, each.condition) == (task, name)]:
                own[task] = task_figures(played)
    return {"settings": settings, "conditions": conditions}


def task_figures(played: list[Played]) -> Figures:
    """Of one task under one condition."""
    head = played[0].head
    place = lambda name: (not name.startswith("fixed"), name.startswith("head"), last_number(name), name)
    rows = {name: summary([each.rows[name] for each in played]) for name in sorted(played[0].rows, key=place)}
    rules = [name for name in rows if not name.startswith(("fixed", "head"))]
    best = max(rules, key=lambda name: rows[name]["utility"])
    own = {
        "constant": [each.rows[each.constant] for each in played],
        "rule": [each.rows[each.rule] for each in played],
        "hindsight": [each.rows[best] for each in played],
        "head": [each.rows[head] for each in played],
    }
    pairs = (("rule", "constant"), ("hindsight", "constant"), *(("head", other) for other in list(own)[:-1]))
    apart = {
        f"{one} - {other}": [utility(mine) - utility(its) for mine, its in zip(own[one], own[other], strict=True)]
        for one, other in pairs
    }
    solved = lambda depth: np.concatenate([each.rows[f"fixed-{depth}"][:, 0] for each in played]) > 0
    return {
        "task": played[0].task,
        "seeds": [each.seed for each in played],
        "constants": [each.depth for each in played],
        "rules": [each.rule for each in played],
        "hindsight": best,
        "rows": rows,
        "chosen": {name: summary(parts) for name, parts in own.items()},
        "episodes": {
            name: np.concatenate([np.column_stack([each.rows[name], each.ticks[name]]) for each in played])
            for name in played[0].ticks
        },
        **{pair: intervals.mean(np.concatenate(each)) for pair, each in apart.items()},
        "by policy": {pair: [float(policy.mean()) for policy in each] for pair, each in apart.items()},
        **{f"middle - {depth}": intervals.difference(solved(MIDDLE), solved(depth)) for depth in ENDS},
        "oracles": {kind: oracle_figures(kind, played) for kind in played[0].oracles},
        "states": {
            name: np.mean([each.states[name] for each in played], axis=0)
            for name in played[0].rows
            if name in played[0].states and not name.startswith("fixed")
        },
    }


def oracle_figures(kind: str, played: list[Played]) -> Figures:
    """How much there is, and how much of it the head has, on the episodes that the oracle played."""
    parts = {
        "constant": [each.rows[each.constant][: len(each.oracles[kind])] for each in played],
        "head": [each.rows[played[0].head][: len(each.oracles[kind])] for each in played],
        "oracle": [each.oracles[kind] for each in played],
    }
    fixed, mine, most = (utility(np.concatenate(each)) for each in parts.values())
    means = {name: summary(each) for name, each in parts.items()}
    return {**means, "room": intervals.mean(most - fixed), "gain": intervals.gain(mine, fixed, most)}


def summary(parts: list[Floats]) -> dict[str, float]:
    """Means of all episodes."""
    rows = np.concatenate(parts)
    success, queries = rows.mean(axis=0).tolist()
    return {"success": success, "queries": queries, "utility": float(utility(rows).mean())}


def sparing(row: dict[str, float]) -> str:
    """Success in percent, and queries."""
    return f"{100 * row['success']:.0f} / {row['queries']:.1f}"


def paid(row: dict[str, float]) -> str:
    """Utility, and what it is made of."""
    return f"{row['utility']:.3f} ({sparing(row)})"


def between(interval: Interval, digits: int = 3, scale: float = 1.0) -> str:
    """A difference and its interval."""
    return spread(interval, digits, scale, sign=True)


def cells(own: Figures) -> dict[str, dict[str, str]]:
    """Of one task, its row in each table that has one for it: what stands behind its name."""
    fixed = {depth: own["rows"][f"fixed-{depth}"] for depth in DEPTHS}
    chosen = {name: paid(row) for name, row in own["chosen"].items()}
    differences = {pair: between(own[pair]) for pair in own["by policy"]}
    oracle, blind = (own["oracles"].get(kind) for kind in ("oracle", "oracle resampled"))
    gain = oracle["gain"]
    known = gain is not None and gain.high - gain.low <= 1.0
    worth = lambda depth, price: fixed[depth]["success"] - price * fixed[depth]["queries"]
    cheapest = {price: max(DEPTHS, key=lambda depth, price=price: worth(depth, price)) for price in PRICES}
    return {
        "constants": {
            **{f"{depth}": sparing(row) for depth, row in fixed.items()},
            "best constant": ", ".join(map(str, own["constants"])),
        },
        "horizons": {
            f"{MIDDLE} - {depth}, points": between(own[f"middle - {depth}"], 1, 100.0) for depth in reversed(ENDS)
        },
        "verdict": {
            "best constant": chosen["constant"],
            "rule": f"{chosen['rule']} {', '.join(dict.fromkeys(own['rules']))}",
            "head": chosen["head"],
            **{pair: differences[pair] for pair in ("rule - constant", "head - constant", "head - rule")},
            "head - constant, by policy": " ".join(f"{each:+.3f}" for each in own["by policy"]["head - constant"]),
        },
        "hindsight": {
            "best rule by hindsight": f"{chosen['hindsight']} {own['hindsight']}",
            "it - constant": differences["hindsight - constant"],
            "head - it": differences["head - hindsight"],
        },
        "room": {
            "best constant": paid(oracle["constant"]),
            "head": paid(oracle["head"]),
            "oracle": paid(oracle["oracle"]),
            "room": between(oracle["room"]),
            "of it success, points": f"{100 * (oracle['oracle']['success'] - oracle['constant']['success']):+.1f}",
            "of it queries saved": f"{oracle['constant']['queries'] - oracle['oracle']['queries']:.1f}",
            "gain share of the head": spread(gain, 2) if known else "",
        },
        "prices": {f"{p:g}": f"{depth} ({100 * fixed[depth]['success']:.0f})" for p, depth in cheapest.items()},
        "bumps": {
            "best constant": chosen["constant"],
            "room, clairvoyant": between(oracle["room"]),
            "room, futures drawn again": between(blind["room"]) if blind else "",
            "head": chosen["head"],
            **{pair: differences[pair] for pair in ("head - constant", "head - rule")},
        },
    }


def by_task(figures: Figures, condition: str, table: str) -> Grid:
    """Success and queries of constants; what looking less often, or more often, costs; who finds how much, the rule
    that turned out best included; what the oracle's choice is worth, and where it is not clairvoyant; the constants
    that are best by hindsight where a query costs less."""
    rows = {task: cells(own)[table] for task, own in figures["conditions"].get(condition, {}).items()}
    heads = next(iter(rows.values()), {})
    return Grid.of(["task", *heads], [[task, *row.values()] for task, row in rows.items()])


def limits(figures: Figures, condition: str) -> Grid:
    """Success under latency, and what it would be if queries did nothing but take their ticks of the episode."""
    wait, ticks, lines = CONDITIONS[condition].latency, figures["settings"]["ticks"], []
    for task, own in figures["conditions"].get(condition, {}).items():
        still = figures["conditions"]["still"].get(task)
        if still is None or still["seeds"][: len(own["seeds"])] != own["seeds"]:
            continue
        lines.append([task])
        for name, played in own["episodes"].items():
            solved, asked, took = still["episodes"][name][: len(played)].T
            in_time = (solved > 0) & (took + wait * asked <= ticks)
            lines[-1].append(f"{100 * own['rows'][name]['success']:.0f} / {100 * in_time.mean():.0f}")
    return Grid.of(["task", *(f"{depth}" for depth in DEPTHS)], lines)


def by_row(figures: Figures, condition: str, key: str, say: Callable[[Any], str]) -> Grid:
    """A row for each of those that choose depths, a column for each task."""
    tasks = figures["conditions"].get(condition, {})
    names = next(iter(tasks.values()))[key] if tasks else ()
    return Grid.of(["depth by", *tasks], [[name, *(say(own[key][name]) for own in tasks.values())] for name in names])


def share(state: tuple[float, float]) -> str:
    """One-deviation share at visited states: of what the best depth there is worth beyond the best constant."""
    regret, constant = state
    known = f"{1 - regret / constant:.2f} " if constant > LEAST_ROOM / 10 else ""
    return f"{known}({regret:.3f})"


def learners(_: Figures, condition: str) -> Grid:
    """Heads that learn from episodes alone, and the campaign's head on the same episodes, of policies of one recipe. A
    learner that was no better than the constant on validation episodes keeps to it."""
    tasks: dict[str, dict[str, list[Floats]]] = {}
    for path in sorted(LEARNERS.glob(f"*-{condition}.json")):
        played, other = Played.read(path), Played.read(KEPT / path.name)
        constant = played.constant
        keeps = {name: played.values[name] <= played.values[constant] for name in WORDS}
        rows = {
            "best constant": played.rows[constant],
            **{words: played.rows[constant if keeps[name] else name] for name, words in WORDS.items()},
            "head": other.rows[other.head],
            "its constant": other.rows[other.constant],
        }
        for name, each in rows.items():
            tasks.setdefault(played.task, {}).setdefault(name, []).append(each)
    own = ("best constant", *WORDS.values(), "head")
    pairs = [*((name, "best constant") for name in WORDS.values()), ("head", "its constant")]
    pairs += [("head", name) for name in WORDS.values()]
    lines = []
    for task, parts in tasks.items():
        worth = {name: utility(np.concatenate(each)) for name, each in parts.items()}
        lines.append([f"{task} ({len(parts['head'])})", *(paid(summary(parts[name])) for name in own)])
        lines[-1] += [between(intervals.mean(worth[one] - worth[other])) for one, other in pairs]
    return Grid.of(["task (policies)", *own, *(f"{one} - {other}" for one, other in pairs)], lines)


def flow(_: Figures, __: str) -> Grid:
    """Success of what corrects delay, and how far it is from the plain switch."""
    kept, lines = json.loads(FLOW.read_text()) if FLOW.exists() else {}, []
    for delay in DELAYS:
        if all(f"{name}-{delay}" in kept for name in METHODS):
            solved = {name: np.array(kept[f"{name}-{delay}"], np.float64)[0] for name in METHODS}
            apart = (intervals.difference(solved[name], solved[METHODS[0]]) for name in METHODS[1:])
            shares = (f"{100 * each.mean():.0f}" for each in solved.values())
            lines.append([f"{delay}", *shares, *(between(each, 0, 100.0) for each in apart)])
    return Grid.of(["delay, ticks", *METHODS, *(f"{name} - {METHODS[0]}, points" for name in METHODS[1:])], lines)


def named(tasks: list[str]) -> str:
    """How many, and which."""
    return f"{len(tasks)} ({', '.join(tasks)})" if tasks else "none"


def gate(figures: Figures, _: str) -> str:
    """On how many tasks there is room, and who finds some of it: by the intervals, and with every policy."""
    still, (every, whole) = figures["conditions"]["still"], (f"middle - {depth}" for depth in ENDS)
    behind = {key: [task for task, own in still.items() if own[key].low > 0] for key in (every, whole)}
    lost = [100 * still[task][whole].mean for task in behind[whole]]
    by = f", by {min(lost):.0f} to {max(lost):.0f} points" if lost else ""
    win = [task for task, own in still.items() if own[every].high < 0]
    first = (
        f"* Success where nothing disturbs: whole plans of {ENDS[1]} lose against depth {MIDDLE} on "
        f"{named(behind[whole])}{by}; looking at every tick loses against it on {named(behind[every])} and wins on "
        f"{named(win)}."
    )
    parts = [first]
    for condition, tasks in figures["conditions"].items():
        if condition == "bumps" or not tasks:
            continue
        ahead = lambda *pairs, tasks=tasks: [
            task for task, own in tasks.items() if all(own[pair].low > 0 for pair in pairs)
        ]
        over_both = ahead("head - constant", "head - rule")
        always = lambda task, tasks=tasks: (
            min(min(tasks[task]["by policy"][pair]) for pair in ("head - constant", "head - rule")) > 0
        )
        roomy = [task for task, own in tasks.items() if own["oracles"]["oracle"]["room"].mean >= LEAST_ROOM]
        parts.append(
            f"* Where {CONDITIONS[condition].words}: of {len(tasks)} tasks, room of {LEAST_ROOM} or more on "
            f"{named(roomy)}; the rule that validation picked is ahead of the best constant on "
            f"{named(ahead('rule - constant'))}, the best rule by hindsight on {named(ahead('hindsight - constant'))}; "
            f"the head is ahead of the constant on {named(ahead('head - constant'))}, of the constant and the picked "
            f"rule on {named(over_both)}, with every policy on {named(list(filter(always, over_both)))}, and of the "
            f"best rule by hindsight too on {named(ahead('head - constant', 'head - rule', 'head - hindsight'))}."
        )
    return "\n".join(parts)


def about(figures: Figures, _: str) -> str:
    """What was run."""
    settings = figures["settings"]
    counted = "; ".join(
        f"{CONDITIONS[name].words}: {len(tasks)} tasks, {sum(len(own['seeds']) for own in tasks.values())} policies"
        for name, tasks in figures["conditions"].items()
        if tasks
    )
    return textwrap.fill(
        f"{settings['test']} test episodes of each policy, {settings['oracle']} of them played by "
        f"the oracle too; {settings['demonstrations']} demonstrations, {settings['validation']} validation episodes, "
        f"{settings['rounds']} rounds of {settings['branched']} episodes of branches; {settings['ticks']} ticks per "
        f"episode. Finished: {counted}.",
        120,
    )


TABLES: dict[str, Callable[[Figures, str], str | Grid]] = {
    **{name: partial(by_task, table=name) for name in BY_TASK},
    **{made.__name__: made for made in (about, gate, limits, learners, flow)},
    "utilities": partial(by_row, key="rows", say=lambda row: f"{row['utility']:.3f}"),
    "states": partial(by_row, key="states", say=share),
}


def filled(page: str, figures: Figures) -> str:
    """The page with every block made anew: ``<!-- robots TABLE -->`` or ``<!-- robots TABLE-CONDITION -->``."""

    def block(name: str) -> str:
        table, _, condition = name.partition("-")
        if (condition or table) in CONDITIONS and not figures["conditions"].get(condition or table):
            return "Not played yet."
        made = TABLES[table](figures, condition or table)
        return made.markdown() if isinstance(made, Grid) else made

    return blocks.filled(page, "robots", block)


def csvs(figures: Figures) -> dict[Path, str]:
    """Every table that is kept, docs/results/robots-TABLE-CONDITION.csv, made anew."""
    found: dict[Path, str] = {}
    for path in CSV.glob("robots-*.csv"):
        _, table, *condition = path.stem.split("-")
        made = TABLES[table](figures, *condition or [table])
        found |= {path: made.csv()} if isinstance(made, Grid) else {}
    return found


#: Marks of a frontier: what the figures call it, its words, form and colour.
MARKS = (
    ("rule", "rule that validation picked", "s", "#2f8f5b"),
    ("head", "head", "D", "#1c5fb8"),
    ("oracle", "oracle", "*", "#b8433c"),
)


def moved(own: dict[str, Any]) -> dict[str, float]:
    """The oracle as far from the best constant as on the episodes that it played."""
    part = own["oracles"]["oracle"]
    by = lambda key: own["chosen"]["constant"][key] + part["oracle"][key] - part["constant"][key]
    return {"success": min(1.0, by("success")), "queries": by("queries")}


def frontiers(tasks: dict[str, Any]) -> Figure:
    """Success against queries, a panel per task: constants joined, and who chooses anew at every query."""
    columns = min(max(len(tasks), 2), 4)
    rows = -(-len(tasks) // columns)
    figure = plotting.figure(2.6 * columns, 2.7 * rows + 0.4)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, (task, own) in zip(panels, tasks.items(), strict=False):
        fixed = [own["rows"][f"fixed-{depth}"] for depth in DEPTHS]
        places = [[row["queries"] for row in fixed], [100 * row["success"] for row in fixed]]
        panel.plot(*places, "-o", color="#8a8a94", markersize=4, linewidth=1, label="constant depth")
        for depth, x, y in zip(DEPTHS, *places, strict=True):
            panel.annotate(f"{depth}", (x, y), xytext=(0, -10), textcoords="offset points", fontsize=7, ha="center")
        for name, words, form, colour in MARKS:
            row = moved(own) if name == "oracle" else own["chosen"][name]
            size = 10 if form == "*" else 5
            panel.plot(row["queries"], 100 * row["success"], form, color=colour, markersize=size, label=words)
        low = min(90.0, *places[1])
        panel.set(title=task, xscale="log", ylim=(low - 0.15 * (100 - low) - 4, 104))
        panel.set_xticks([2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"])
        panel.minorticks_off()
    for panel in panels[len(tasks) :]:
        panel.axis("off")
    figure.supxlabel("queries per episode", fontsize=9)
    figure.supylabel("success, %", fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=columns, fontsize=8)
    return figure


def main() -> int:
    parser = blocks.parser(__doc__)
    parser.add_argument("out", type=Path, nargs="?", help="the folder of a campaign")
    parser.add_argument("--learners", type=Path, help="the folder of bench.robots.learners")
    parser.add_argument("--flow", type=Path, help="the folder of bench.robots.flow")
    options = parser.parse_args()
    if options.out:
        keep(options.out, KEPT)
    if options.learners:
        keep_learners(options.learners, LEARNERS)
    if options.flow:
        rows = {path.stem: np.array(json.loads(path.read_text())).T for path in sorted(options.flow.glob("*-*.json"))}
        FLOW.write_text("{" + ",\n".join(f'"{name}": {each.tolist()}' for name, each in rows.items()) + "}\n")
    figures = collect(KEPT)
    for name, tasks in figures["conditions"].items() if not options.check else ():
        if tasks:
            with plotting.style():
                plotting.save(frontiers(tasks), ASSETS / f"robots-{name}.svg")
    page = filled(PAGE.read_text(encoding="utf-8"), figures)
    return blocks.write({PAGE: page, **csvs(figures)}, options.check)


if __name__ == "__main__":
    sys.exit(main())
