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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.pages import blocks
from bench.robots.flow import DELAYS, METHODS
from bench.robots.records import Played, keep, keep_learners, kinds, last_number, utility
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
#: A depth between looking at every tick and executing whole plans.
MIDDLE = 8
#: Room below this is called none.
LEAST_ROOM = 0.02
#: What a query could cost instead.
PRICES = (0.0, 0.001, 0.003, PRICE)


def collect(kept: Path) -> Figures:
    """Everything that the tables need, of the jobs that are kept."""
    settings = json.loads((kept / "settings.json").read_text())
    every = [Played.read(path) for path in sorted(kept.glob("*-*.json"))]
    if len({each.code for each in every}) > 1:
        raise SystemExit(f"{kept}: expected jobs of one state of the code, got {sorted({each.code for each in every})}")
    conditions: dict[str, Any] = {name: {} for name in settings["conditions"]}
    for name, own in conditions.items():
        for task in settings["tasks"]:
            if played := [each for each in every if (each.task, each.condition) == (task, name)]:
                own[task] = task_figures(name, played)
    return {"settings": settings, "conditions": conditions}


def task_figures(condition: str, played: list[Played]) -> dict[str, Any]:
    """Of one task under one condition."""
    head = played[0].head
    names, joined = list(played[0].rows), np.concatenate
    rows = {name: summary([each.rows[name] for each in played]) for name in names}
    best = max((name for name in names if not name.startswith(("fixed", "head"))), key=lambda n: rows[n]["utility"])
    own = {
        "constant": [each.rows[each.constant] for each in played],
        "rule": [each.rows[each.rule] for each in played],
        "hindsight": [each.rows[best] for each in played],
        "head": [each.rows[head] for each in played],
    }
    result: dict[str, Any] = {
        "policies": len(played),
        "seeds": [each.seed for each in played],
        "constants": [each.depth for each in played],
        "rules": [each.rule for each in played],
        "hindsight": best,
        "rows": rows,
        "chosen": {name: summary(parts) for name, parts in own.items()},
        "episodes": {
            name: joined([np.column_stack([each.rows[name], each.ticks[name]]) for each in played])
            for name in played[0].ticks
        },
    }
    for one, other in (("rule", "constant"), ("hindsight", "constant"), *(("head", n) for n in own if n != "head")):
        each = [utility(mine) - utility(its) for mine, its in zip(own[one], own[other], strict=True)]
        result[f"{one} - {other}"] = intervals.mean(joined(each)).values() | {"each": [float(d.mean()) for d in each]}
    solved = lambda depth: joined([each.rows[f"fixed-{depth}"][:, 0] for each in played]) > 0
    for depth in (DEPTHS[0], DEPTHS[-1]):
        result[f"middle - {depth}"] = intervals.difference(solved(MIDDLE), solved(depth)).values()
    result["oracles"] = {kind: oracle_figures(kind, played, head) for kind in kinds(condition)}
    if condition != "bumps":
        totals = {name: np.mean([each.states[name] for each in played], axis=0).tolist() for name in names}
        result["states"] = totals
    return result


def oracle_figures(kind: str, played: list[Played], head: str) -> dict[str, Any]:
    """How much there is, and how much of it the head has, on the episodes that the oracle played."""
    best = [each.oracles[kind] for each in played]
    many = len(best[0])
    constant, own = [each.rows[each.constant][:many] for each in played], [each.rows[head][:many] for each in played]
    mine, fixed, most = (utility(np.concatenate(parts)) for parts in (own, constant, best))
    gain = intervals.gain(mine, fixed, most)
    return {
        "constant": summary(constant),
        "head": summary(own),
        "oracle": summary(best),
        "room": intervals.mean(most - fixed).values(),
        "gain": None if gain is None else gain.values(),
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


def paid(row: dict[str, Any]) -> str:
    """Utility, and what it is made of."""
    return f"{row['utility']:.3f} ({100 * row['success']:.0f} / {row['queries']:.1f})"


def between(interval: dict[str, Any] | None, digits: int = 3, scale: float = 1.0, *, sign: bool = True) -> str:
    """A mean and its interval."""
    return "" if interval is None else spread(Interval.of(interval), digits, scale, sign=sign)


def learners(_: Figures, condition: str) -> Grid:
    """Heads that learn from episodes alone, and the campaign's head on the same episodes, of policies of one recipe. A
    learner that was no better than the constant on validation episodes keeps to it."""
    by_task: dict[str, dict[str, list[Floats]]] = {}
    for path in sorted(LEARNERS.glob(f"*-{condition}.json")):
        played, other = Played.read(path), Played.read(KEPT / path.name)
        keeps = {name: played.values[name] <= played.values[played.constant] for name in WORDS}
        rows = {WORDS[name]: played.rows[played.constant if keeps[name] else name] for name in WORDS}
        rows |= {"best constant": played.rows[played.constant], "head": other.rows[other.head]}
        for name, each in (rows | {"its constant": other.rows[other.constant]}).items():
            by_task.setdefault(played.task, {}).setdefault(name, []).append(each)
    own, lines = ("best constant", *WORDS.values(), "head"), []
    pairs = [*((name, "best constant") for name in WORDS.values()), ("head", "its constant")]
    pairs += [("head", name) for name in WORDS.values()]
    for task, parts in by_task.items():
        worth = {name: utility(np.concatenate(each)) for name, each in parts.items()}
        apart = (between(intervals.mean(worth[one] - worth[other]).values()) for one, other in pairs)
        lines.append([f"{task} ({len(parts['head'])})", *(paid(summary(parts[name])) for name in own), *apart])
    return Grid.of(["task (policies)", *own, *(f"{one} - {other}" for one, other in pairs)], lines)


def flow(_: Figures, __: str) -> Grid:
    """Success of what corrects delay, and how far it is from the plain switch."""
    kept, lines = json.loads(FLOW.read_text()) if FLOW.exists() else {}, []
    for delay in DELAYS:
        if all(f"{name}-{delay}" in kept for name in METHODS):
            solved = {name: np.array(kept[f"{name}-{delay}"], np.float64)[0] for name in METHODS}
            lines.append([f"{delay}", *(f"{100 * each.mean():.0f}" for each in solved.values())])
            apart = (intervals.difference(solved[name], solved[METHODS[0]]) for name in METHODS[1:])
            lines[-1] += [between(each.values(), 0, 100.0) for each in apart]
    return Grid.of(["delay, ticks", *METHODS, *(f"{name} - {METHODS[0]}, points" for name in METHODS[1:])], lines)


def constants(figures: Figures, condition: str) -> Grid:
    """Success and queries at every fixed depth."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        rows = [own["rows"][f"fixed-{depth}"] for depth in DEPTHS]
        cells = [f"{100 * row['success']:.0f} / {row['queries']:.1f}" for row in rows]
        lines.append([task, *cells, ", ".join(map(str, own["constants"]))])
    return Grid.of(["task", *(f"{depth}" for depth in DEPTHS), "best constant"], lines)


def horizons(figures: Figures, condition: str) -> Grid:
    """Is success lost by looking less often, or by looking more often?"""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        points = (own[f"middle - {depth}"] for depth in (DEPTHS[-1], DEPTHS[0]))
        lines.append([task, *(between(each, 1, 100.0) for each in points)])
    return Grid.of(["task", f"{MIDDLE} - {DEPTHS[-1]}, points", f"{MIDDLE} - {DEPTHS[0]}, points"], lines)


def verdict(figures: Figures, condition: str) -> Grid:
    """Who finds how much, on all test episodes."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        rule = f"{paid(own['chosen']['rule'])} {', '.join(dict.fromkeys(own['rules']))}"
        lines.append([task, paid(own["chosen"]["constant"]), rule, paid(own["chosen"]["head"])])
        lines[-1] += [between(own[name]) for name in ("rule - constant", "head - constant", "head - rule")]
        lines[-1] += [" ".join(f"{each:+.3f}" for each in own["head - constant"]["each"])]
    row = ["task", "best constant", "rule", "head", "rule - constant", "head - constant", "head - rule"]
    return Grid.of([*row, "head - constant, by policy"], lines)


def hindsight(figures: Figures, condition: str) -> Grid:
    """The rule that turned out best on the test episodes, which nobody could know."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        differences = [between(own[name]) for name in ("hindsight - constant", "head - hindsight")]
        lines.append([task, f"{paid(own['chosen']['hindsight'])} {own['hindsight']}", *differences])
    return Grid.of(["task", "best rule by hindsight", "it - constant", "head - it"], lines)


def room(figures: Figures, condition: str) -> Grid:
    """What the oracle's choice is worth, and the head's part of it, on the episodes that the oracle played."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        oracle = own["oracles"]["oracle"]
        points = 100 * (oracle["oracle"]["success"] - oracle["constant"]["success"])
        saved = oracle["constant"]["queries"] - oracle["oracle"]["queries"]
        gain = oracle["gain"]
        known = gain is not None and gain["high"] - gain["low"] <= 1.0
        values = [paid(oracle[name]) for name in ("constant", "head", "oracle")]
        lines.append([task, *values, between(oracle["room"]), f"{points:+.1f}", f"{saved:.1f}"])
        lines[-1].append(between(gain, 2, sign=False) if known else "")
    head = ["task", "best constant", "head", "oracle", "room", "of it success, points", "of it queries saved"]
    return Grid.of([*head, "gain share of the head"], lines)


def prices(figures: Figures, condition: str) -> Grid:
    """The constants that are best by hindsight where a query costs less."""
    lines = []
    for task, own in figures["conditions"].get(condition, {}).items():
        worth = lambda row, price: row["success"] - price * row["queries"]
        lines.append([task])
        for price in PRICES:
            depth = max(DEPTHS, key=lambda d: worth(own["rows"][f"fixed-{d}"], price))
            lines[-1].append(f"{depth} ({100 * own['rows'][f'fixed-{depth}']['success']:.0f})")
    return Grid.of(["task", *(f"{price:g}" for price in PRICES)], lines)


def limits(figures: Figures, condition: str) -> Grid:
    """Success under latency, and what it would be if queries did nothing but take their ticks of the episode."""
    wait, ticks, lines = CONDITIONS[condition].latency, figures["settings"]["ticks"], []
    for task, own in figures["conditions"].get(condition, {}).items():
        still = figures["conditions"]["still"].get(task)
        if still is None or still["seeds"][: own["policies"]] != own["seeds"]:
            continue
        lines.append([task])
        for depth in DEPTHS:
            name = f"fixed-{depth}"
            solved, asked, took = still["episodes"][name][: len(own["episodes"][name])].T
            in_time = (solved > 0) & (took + wait * asked <= ticks)
            lines[-1].append(f"{100 * own['rows'][name]['success']:.0f} / {100 * in_time.mean():.0f}")
    return Grid.of(["task", *(f"{depth}" for depth in DEPTHS)], lines)


def utilities(figures: Figures, condition: str) -> Grid:
    """Every row's utility, by task."""
    tasks = figures["conditions"].get(condition, {})
    names = list(next(iter(tasks.values()))["rows"]) if tasks else []
    names.sort(key=lambda name: (not name.startswith("fixed"), name.startswith("head"), last_number(name), name))
    lines = [[name, *(f"{own['rows'][name]['utility']:.3f}" for own in tasks.values())] for name in names]
    return Grid.of(["depth by", *tasks], lines)


def states(figures: Figures, condition: str) -> Grid:
    """One-deviation shares at visited states: of what the best depth there is worth beyond the best constant."""
    tasks = figures["conditions"].get(condition, {})
    names = [name for name in next(iter(tasks.values()))["states"] if not name.startswith("fixed")] if tasks else []
    lines = [[name, *(_share(*own["states"][name]) for own in tasks.values())] for name in names]
    return Grid.of(["depth by", *tasks], lines)


def _share(regret: float, constant: float) -> str:
    share = f"{1 - regret / constant:.2f} " if constant > LEAST_ROOM / 10 else ""
    return f"{share}({regret:.3f})"


def bumps(figures: Figures, _: str) -> Grid:
    """A clairvoyant oracle beside one that is none."""
    lines = []
    for task, own in figures["conditions"].get("bumps", {}).items():
        seeing, blind = (own["oracles"][kind] for kind in ("oracle", "oracle resampled"))
        lines.append(
            [
                task,
                paid(own["chosen"]["constant"]),
                between(seeing["room"]),
                between(blind["room"]),
                paid(own["chosen"]["head"]),
                between(own["head - constant"]),
                between(own["head - rule"]),
            ]
        )
    head = ["task", "best constant", "room, clairvoyant", "room, futures drawn again", "head", "head - constant"]
    return Grid.of([*head, "head - rule"], lines)


def gate(figures: Figures, _: str) -> str:
    """On how many tasks there is room, and who finds some of it: by the intervals, and with every policy."""
    named = lambda tasks: f"{len(tasks)} ({', '.join(tasks)})" if tasks else "none"
    ahead = lambda each, *pairs: all(each[pair]["low"] > 0 for pair in pairs)
    always = lambda each, *pairs: ahead(each, *pairs) and min(min(each[pair]["each"]) for pair in pairs) > 0
    still, whole, every = figures["conditions"]["still"], f"middle - {DEPTHS[-1]}", f"middle - {DEPTHS[0]}"
    lose = lambda key: [task for task, each in still.items() if each[key]["low"] > 0]
    lost = [100 * still[task][whole]["mean"] for task in lose(whole)]
    by = f", by {min(lost):.0f} to {max(lost):.0f} points" if lost else ""
    win = [task for task, each in still.items() if each[every]["high"] < 0]
    first = (
        f"* Success where nothing disturbs: whole plans of {DEPTHS[-1]} lose against depth {MIDDLE} on "
        f"{named(lose(whole))}{by}; looking at every tick loses against it on {named(lose(every))} and wins on "
        f"{named(win)}."
    )
    parts = [first]
    for condition, own in figures["conditions"].items():
        if condition == "bumps" or not own:
            continue
        which = lambda *pairs, how=ahead, own=own: named([task for task, each in own.items() if how(each, *pairs)])
        roomy = [task for task, each in own.items() if each["oracles"]["oracle"]["room"]["mean"] >= LEAST_ROOM]
        parts.append(
            f"* Where {CONDITIONS[condition].words}: of {len(own)} tasks, room of {LEAST_ROOM} or more on "
            f"{named(roomy)}; the rule that validation picked is ahead of the best constant on "
            f"{which('rule - constant')}, the best rule by hindsight on {which('hindsight - constant')}; the head is "
            f"ahead of the constant on {which('head - constant')}, of the constant and the picked rule on "
            f"{which('head - constant', 'head - rule')}, with every policy on "
            f"{which('head - constant', 'head - rule', how=always)}, and of the best rule by hindsight too on "
            f"{which('head - constant', 'head - rule', 'head - hindsight')}."
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
    return textwrap.fill(
        f"{settings['test']} test episodes of each policy, {settings['oracle']} of them played by "
        f"the oracle too; {settings['demonstrations']} demonstrations, {settings['validation']} validation episodes, "
        f"{settings['rounds']} rounds of {settings['branched']} episodes of branches; {settings['ticks']} ticks per "
        f"episode. Finished: {counted}.",
        120,
    )


TABLES: dict[str, Callable[[Figures, str], str | Grid]] = {
    "about": about,
    "gate": gate,
    "constants": constants,
    "horizons": horizons,
    "verdict": verdict,
    "hindsight": hindsight,
    "room": room,
    "prices": prices,
    "limits": limits,
    "utilities": utilities,
    "states": states,
    "bumps": bumps,
    "learners": learners,
    "flow": flow,
}


def filled(page: str, figures: Figures) -> str:
    """The page with every block made anew: ``<!-- robots TABLE -->`` or ``<!-- robots TABLE-CONDITION -->``."""

    def block(name: str) -> str:
        table, _, condition = name.partition("-")
        played = (condition or table) not in CONDITIONS or figures["conditions"].get(condition or table)
        return _text(TABLES[table](figures, condition)) if played else "Not played yet."

    return blocks.filled(page, "robots", block)


def _text(made: str | Grid) -> str:
    return made.markdown() if isinstance(made, Grid) else made


def csvs(figures: Figures) -> dict[Path, str]:
    """Every table that is kept, docs/results/robots-TABLE-CONDITION.csv, made anew."""
    names = {path: path.stem.split("-")[1:] for path in CSV.glob("robots-*.csv")}
    made = {path: TABLES[table](figures, "-".join(rest)) for path, (table, *rest) in names.items()}
    return {path: grid.csv() for path, grid in made.items() if isinstance(grid, Grid)}


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
