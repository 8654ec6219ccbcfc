"""What a report says in words and tables; every number comes from the evaluation's files."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate.agent_names import ORACLE, PRIVILEGED
from recommit.evaluate.options import split_words
from recommit.evaluate.text import dominance
from recommit.report import agents as agents_
from recommit.report import reading
from recommit.report.html import Html, joined, minus, tag
from recommit.results.grid import DASH, Grid, ends, number, percent
from recommit.results.intervals import Interval

if TYPE_CHECKING:
    from recommit.report.agents import Agent, AgentPoint
    from recommit.report.reading import Folder

#: What "significant" means, once.
SIGNIFICANT = "Significant: the 95 % interval of the paired difference excludes zero."
#: Columns of the results table that are there only where some agent has the figure: name, field, digits.
EXTRA = {"gain share": ("gain", 2), "value": ("value", 3), "threshold": ("threshold", 3)}
_ASK = Html('<label class="all"><input type="checkbox" class="show-all"> all columns</label>')
#: Rows of the list of instances that nobody solves.
LISTED = 12
#: Options of ``recommit evaluate`` that a command names where they are on, or not as usual.
SWITCHES = ("regret", "stop_on_deadlock", "whole_commitments")
USUAL = {"split": "test", "fresh": 0, "edges": "fixed"}


def title(folder: Folder) -> str:
    """The agent and the puzzle."""
    size = "{}x{} ".format(*folder.shape) if folder.shape else ""
    return f"{_capital(folder.first.words)} on {size}{folder.task}"


def compared(folder: Folder, agent: Agent, budget: str) -> dict[str, Any] | None:
    """The paired differences of the first agent from another one."""
    return next((c for c in folder.comparisons if c["against"] == agent.name and c["budget"] == budget), None)


def verdict(folder: Folder, budget: str) -> str:
    """The first agent against the best fixed depth in one sentence, no more than the intervals show."""
    own, best = folder.row(folder.first, budget), folder.best_fixed(budget)
    words, solved, actions = (
        _capital(folder.first.words),
        percent(own["solve_rate"]),
        number(own["actions_per_episode"]),
    )
    if best is None:
        return f"{words} solves {solved}\u00a0% in {actions} actions."
    other = folder.row(best[0], budget)
    figures = percent(other["solve_rate"]), number(other["actions_per_episode"])
    one = compared(folder, best[0], budget)
    if one is None:
        text = f"{words} solves {solved}\u00a0% in {actions} actions, the best fixed depth"
        return f"{text} {figures[0]}\u00a0% in {figures[1]}."
    less, spent = (Interval.of(one[f"{name}_difference"]) for name in ("solve", "actions"))
    sign, paid = less.sign, spent.sign
    both = f"{solved} and {figures[0]}\u00a0%", f"{actions} and {figures[1]}"
    if not sign and not paid:
        text = f"{words} and the best fixed depth do not differ significantly: they solve {both[0]}"
        return f"{text} in {both[1]} actions."
    text = f"{words} solves about as much as the best fixed depth ({both[0]}, not significant)"
    if sign:
        points = f"{number(100 * abs(less.mean))} points {'more' if sign > 0 else 'fewer'}"
        text = f"{words} solves {points} than the best fixed depth ({both[0]})"
    count = f"{number(abs(spent.mean))} {'more' if paid > 0 else 'fewer'} actions ({both[1]})"
    return f"{text} with {count}." if paid else f"{text}; the difference in actions ({both[1]}) is not significant."


def first_screen(folder: Folder, front: Html, viewer: Html) -> Html:
    """The verdict, what the depth rule gains, the Pareto front, and an episode of two agents."""
    budget = folder.widest
    others = [
        tag(
            "p",
            tag("b", f"At most {k} observations: "),
            verdict(folder, name),
            _gain_words(folder, name),
            class_="also",
        )
        for name, k in folder.budgets.items()
        if name != budget
    ]
    worth = gain_share(folder, budget)
    return tag(
        "section",
        tag("h2", verdict(folder, budget)),
        tag("p", where(folder, budget), class_="how"),
        worth or "",
        tag("div", front, *others, class_="front"),
        tag("div", viewer, class_="watch", id="episodes"),
        id="result",
        class_="screen" if worth else "screen plain",
    )


def where(folder: Folder, budget: str) -> str:
    """On how many instances of what, with which budget, and which fixed depth is the best one."""
    text = f"{folder.spec['instances']:,} test puzzles{_lengths(folder)}; "
    text += f"at most {folder.budgets[budget]} observations each."
    if best := folder.best_fixed(budget):
        chosen = "validation puzzles" if best[1] else "these puzzles themselves, which flatters it"
        text += f" The best fixed depth is “{best[0].words}”, chosen on {chosen}."
        if lucky := folder.lucky_fixed(budget):
            rate = percent(folder.row(lucky, budget)["solve_rate"])
            text += f" On these puzzles “{lucky.words}” would have been better: it solves {rate}\u00a0%."
        text += f" {SIGNIFICANT}"
    return text


def _lengths(folder: Folder) -> str:
    lengths = folder.instances["length"]
    return f", {min(lengths)} to {max(lengths)} actions from their goals" if lengths else ""


def gain_share(folder: Folder, budget: str) -> Html | None:
    """How far the depth rule goes from the best fixed depth of its plans to the oracle depth, with its interval; None
    where the evaluation has none."""
    row = folder.row(folder.first, budget)
    if row.get("gain") is None:
        return None
    low, high = row["gain_low"], row["gain_high"]
    judged = "significant" if low is not None and (low > 0 or high < 0) else "not significant"
    constant, oracle = folder.constant(budget), folder.agent(ORACLE)
    priced = prices(folder) != UNPRICED
    figures = [
        "" if agent is None or priced else f" ({percent(folder.row(agent, budget)['solve_rate'])} %)"
        for agent in (constant, oracle)
    ]
    named = f"fixed depth {constant.depth}" if constant else "the best fixed depth"
    what = "value" if priced else "puzzles solved"
    words = (
        f"The part of the way in {what} from {named}{figures[0]} to the oracle depth{figures[1]}, for the same plans."
    )
    figure = tag("strong", number(row["gain"], 2))
    bounds = tag("span", minus(f"{ends(low, high, 2)}, {judged}"), class_="bounds")
    parts = tag("h3", "Gain share of the depth rule"), tag("p", figure, " ", bounds, class_="figure")
    return tag("div", *parts, tag("p", words, class_="quiet"), class_="worth")


def _gain_words(folder: Folder, budget: str) -> str:
    row = folder.row(folder.first, budget)
    if row.get("gain") is None:
        return ""
    return f" Gain share {number(row['gain'], 2)} ({minus(ends(row['gain_low'], row['gain_high'], 2))})."


UNPRICED = "solved episodes alone count"


def prices(folder: Folder) -> str:
    """What actions and observations cost, in words."""
    paid = [
        f"{folder.spec[f'price_{what}']:g} per {what}"
        for what in ("action", "observation")
        if folder.spec.get(f"price_{what}")
    ]
    return f"prices: {' and '.join(paid)}" if paid else UNPRICED


def results(folder: Folder) -> Html:
    """Every agent under every budget, in groups that fold, beside the paired differences of the first one."""
    return joined(*(_of_budget(folder, budget) for budget in folder.budgets))


def _of_budget(folder: Folder, budget: str) -> Html:
    points = {point.agent: point for point in reading.points(folder, budget)}
    why, parts = reading.compared(folder, budget), []
    for name, members in reading.groups(folder, budget).items():
        columns = [_columns(folder, points[agent], budget, why.get(agent, "")) for agent in members]
        head, classes, _ = zip(*columns[0], strict=True)
        rows: list[tuple[str, list[Any]]] = [
            ("first" if agent is folder.first else "", [cell for _, _, cell in cells])
            for agent, cells in zip(members, columns, strict=True)
        ]
        solved = [points[agent].solved for agent in members]
        reach = f", {number(min(solved))} to {number(max(solved))} % solved" if len(members) > 1 else ""
        about = f"{len(members)} agent{'s' if len(members) > 1 else ''}{reach}"
        summary = tag("summary", tag("b", name), " ", tag("small", about))
        grid = Html(
            Grid.of(head, [cells for _, cells in rows]).html(
                f"{name}, {budget} budget", columns=classes, rows=[kind for kind, _ in rows]
            )
        )
        parts.append(tag("details", summary, grid, class_="group", open=name == agents_.COMPARED))
    heading = tag("h3", f"{budget} budget: at most {folder.budgets[budget]} observations")
    return tag("div", tag("div", heading, _ASK, class_="line"), *parts, class_="agents")


def _columns(folder: Folder, point: AgentPoint, budget: str, why: str) -> list[tuple[str, str, object]]:
    """An agent's row, cell by cell with its head and class: ``rare`` ones are hidden until all are asked for,
    ``wide-only`` ones on a narrow screen, too."""
    agent, row = point.agent, folder.row(point.agent, budget)
    swatch = tag("span", class_=f"swatch {agent.role}", aria_hidden="true")
    one = compared(folder, agent, budget)
    p, dominated = (DASH, "") if one is None else (f"{one['solve_difference']['p']:.2g}", dominance(one))
    words = joined(swatch, tag("span", agent.words, title=agent.label), tag("small", why) if why else "")
    return [
        ("agent", "", words),
        ("solved, %", "", _with(percent(row["solve_rate"]), ends(point.solved_low, point.solved_high))),
        ("actions", "", _with(number(point.actions), ends(point.actions_low, point.actions_high))),
        *_extra(folder, row, "gain share", ""),
        (f"{folder.first.words} minus this: solved, points", "wide-only", _difference(one, "solve_difference", 100)),
        ("... actions", "wide-only", _difference(one, "actions_difference", 1)),
        ("dominated", "wide-only", dominated),
        ("observations", "wide-only", number(row["decisions_per_episode"])),
        *_extra(folder, row, "value", "wide-only"),
        *_extra(folder, row, "threshold", "wide-only"),
        ("SPL, %", "rare", percent(row["spl"])),
        ("lost, %", "rare", percent(row["lost"])),
        ("mean depth", "rare", number(row["mean_depth"])),
        ("p of the solved difference", "rare", p),
    ]


def _difference(one: dict[str, Any] | None, field: str, factor: float) -> object:
    """The paired difference from an agent; empty for the first itself."""
    if one is None:
        return ""
    less = Interval.of(one[field]).scaled(factor)
    text = _with(number(less.mean, sign=True), ends(less.low, less.high, sign=True))
    return tag("span", text, class_="significant" if less.sign else None)


def _extra(folder: Folder, row: dict[str, Any], name: str, kind: str) -> list[tuple[str, str, object]]:
    """A column that is there only where some agent has the figure; a dash for who has none."""
    key, digits = EXTRA[name]
    if all(each.get(key) is None for each in folder.summary):
        return []
    if row.get(key) is None:
        return [(name, kind, DASH)]
    if name == "threshold":
        return [(name, kind, f"{row['threshold']:.3g}")]
    return [(name, kind, _with(number(row[key], digits), ends(row[f"{key}_low"], row[f"{key}_high"], digits)))]


def _with(value: str, small: str) -> Html:
    return joined(minus(value), " ", tag("small", minus(small))) if small else joined(minus(value))


def failures(folder: Folder, watched: set[int]) -> Html:
    """What the first agent fails at and others solve, and what no policy solves."""
    budget = folder.widest
    outcomes = {a: folder.outcomes[a.name, budget] for a in folder.agents}
    policies = [a for a in folder.agents if a.base not in PRIVILEGED]
    none = np.all([outcomes[a]["solved"] == 0 for a in policies], axis=0)
    failed = outcomes[folder.first]["solved"] < 0.5
    text = (
        f"Under the {budget} budget {folder.first.words} leaves {int(failed.sum())} of {len(failed)} instances "
        f"unsolved; another policy solves {int((failed & ~none).sum())} of them. No policy solves {int(none.sum())}."
    )
    parts = [tag("p", text)]
    if none.any():
        places = np.flatnonzero(none)[:LISTED].tolist()
        able = {
            i: [a.words for a in folder.agents if a.base in PRIVILEGED and outcomes[a]["solved"][i] > 0] for i in places
        }
        length = folder.instances["length"]
        rows = [[_link(i, folder, watched), str(length[i]), "; ".join(able[i]) or "none"] for i in places]
        more = f" (the first {LISTED} of {int(none.sum())})" if none.sum() > LISTED else ""
        head = ("instance", "length", "solved by privileged agents")
        parts.append(Html(Grid.of(head, rows).html(f"Instances that no policy solves{more}")))
    shares = {a.words: float(outcomes[a]["lost"].mean()) for a in folder.agents if outcomes[a]["lost"].any()}
    lost = "; ".join(f"{words} {percent(share)} %" for words, share in shares.items()) or "none"
    parts.append(tag("p", f"Episodes that ended in a state that cannot be solved: {lost}."))
    return joined(*parts)


def _link(i: int, folder: Folder, watched: set[int]) -> Html:
    """The number of an instance; a link where it can be watched."""
    name = str(folder.instances["id"][i])
    return tag("a", str(i), href=f"#i={i}", title=name) if i in watched else tag("span", str(i), title=name)


def absent(folder: Folder, packed: dict[str, Any] | None, *, regrets: bool) -> Html:
    """What the evaluation did not keep, in one folded list; nothing where all is there."""
    said = {
        "The run's folder is not there, or holds no steps, so its training cannot be shown.": not folder.training,
        f"There are no gain shares: they need {ORACLE} and fixed depths.": not any("gain" in r for r in folder.summary),
        "This evaluation kept no regrets: recommit evaluate --regret adds them, while the run is there.": not regrets,
    }
    lines = [line for line, missing in said.items() if missing]
    lines += [f"{name} was not played." for name in ("shuffled", ORACLE) if folder.agent(name) is None]
    if packed is None:
        lines.append("There are no episodes to watch.")
    if not lines:
        return Html()
    items = tag("ul", *(tag("li", line) for line in lines))
    return tag("details", tag("summary", "What is not on this page"), items, class_="absent")


def made(folder: Folder, instances: int) -> Html:
    """The test set, the commands, and the versions that the run was trained with, without its machine."""
    spec = folder.spec
    digest = f" Their digest is {spec['test_set']}." if spec.get("test_set") else ""
    budgets = " and ".join(f"{word} (K = {k})" for word, k in folder.budgets.items())
    split = split_words(spec.get("split", "test"), spec.get("fresh", 0))
    what = f"{spec['instances']:,} instances of {folder.task}{_lengths(folder)}, of {split}"
    test_set = tag("p", f"{what}; {len(folder.agents)} agents; budgets {budgets}; {prices(folder)}.{digest}")
    versions = folder.run_json("versions.json")
    trained = tag("p", "The run's folder is not there, so its versions are not known.", class_="missing")
    if versions is not None:
        named = [f"{name} {value}" for name, value in versions.items() if value is not None and name != "platform"]
        trained = tag("p", f"Trained with {', '.join(named)}.")
    return joined(test_set, tag("pre", tag("code", _commands(folder, instances)), tabindex=0), trained)


def _commands(folder: Folder, instances: int) -> str:
    """What to type for the same figures; folders by their last names."""
    spec = folder.spec
    run = PurePath(str(spec.get("run", "RUN"))).name
    words = ["recommit", "evaluate", run, "--out", "EVAL", "--agents", *(a.label for a in folder.agents)]
    words += ["--budgets", *map(str, spec.get("budgets", ()))]
    single = ("instances", "validation", "seed", "price_action", "price_observation")
    words += [w for key in single if key in spec for w in (f"--{key.replace('_', '-')}", str(spec[key]))]
    words += [f"--{key.replace('_', '-')}" for key in SWITCHES if spec.get(key)]
    words += [w for key, usual in USUAL.items() if spec.get(key, usual) != usual for w in (f"--{key}", str(spec[key]))]
    words += ["--length", *map(str, spec["length"])] if spec.get("length") else []
    words += ["--task", spec["task"]] if spec.get("task") else []
    report = ["recommit", "report", "EVAL", "--out", "report.html", "--instances", str(instances)]
    return "\n".join(shlex.join(line) for line in (words, report))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
