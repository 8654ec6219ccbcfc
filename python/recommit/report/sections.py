"""What the page says in words and tables; every number comes from the evaluation's files."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics
from recommit.report import figures
from recommit.report.embed import Html, joined, tag
from recommit.report.reading import CEILING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.report.reading import Agent, Folder

#: Columns that stand only where some agent has the figure.
EXTRA = {"value": "value", "gain share": "gain", "threshold": "threshold"}
#: Of numbers below zero, and where there is no number.
MINUS, NONE = "\u2212", "\u2013"


def number(value: float | None, digits: int = 1, *, sign: bool = False) -> str:
    """As a person writes it."""
    if value is None:
        return NONE
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text.replace("-", MINUS)


def percent(value: float | None) -> str:
    """Write a share as per cent."""
    return NONE if value is None else number(100 * value)


def heading(folder: Folder) -> Html:
    """What was measured on what."""
    lengths = folder.instances["length"] if folder.instances else None
    reach = f", {min(lengths)} to {max(lengths)} actions from their goals" if lengths else ""
    budgets = " and ".join(f"{name} (K = {k})" for name, k in folder.budgets.items())
    facts = (
        ("Task", folder.task),
        ("Test set", f"{folder.spec['instances']} instances{reach}"),
        ("Its name", str(folder.spec.get("test_set", "not written down"))),
        ("Budgets", budgets),
        ("Agents", f"{len(folder.agents)}; {folder.first.label} is compared with the others"),
    )
    return tag("dl", *(tag("div", tag("dt", word), tag("dd", value)) for word, value in facts), class_="facts")


def headline(folder: Folder) -> Html:
    """The result under every budget: a row of numbers, and sentences."""
    return joined(*(tag("article", _tiles(folder, b), *_sentences(folder, b), class_="result") for b in folder.budgets))


def _named(folder: Folder, budget: str) -> list[tuple[str, str, Agent]]:
    """role, words, agent: who is in the headline."""
    named = [("first", folder.first.words, folder.first)]
    if best := folder.best_fixed(budget):
        where = "validation" if best[1] else "these"
        named.append(("fixed", f"the best fixed depth ({best[0].words}; chosen on {where} instances)", best[0]))
    for base, role, words in (
        ("shuffled", "control", "adaptive's depths, shuffled over the states"),
        (CEILING, "ceiling", "the exact ceiling of any choice of depths"),
    ):
        agent = folder.agent(base)
        if agent is not None and agent is not folder.first:
            named.append((role, words, agent))
    return named


def _tiles(folder: Folder, budget: str) -> Html:
    tiles = [tag("h3", f"{budget} budget, K = {folder.budgets[budget]}")]
    for role, words, agent in _named(folder, budget):
        row = folder.row(agent, budget)
        tiles.append(
            tag(
                "div",
                tag("strong", f"{percent(row['solve_rate'])} %"),
                tag("span", f"{number(row['actions_per_episode'])} actions"),
                tag("span", words, class_="who"),
                class_=f"tile {role}",
                title=agent.label,
            )
        )
    return tag("div", *tiles, class_="tiles")


def _sentences(folder: Folder, budget: str) -> list[Html]:
    parts = []
    for _, words, agent in _named(folder, budget):
        row = folder.row(agent, budget)
        parts.append(f"{words} {percent(row['solve_rate'])} % in {number(row['actions_per_episode'])}")
    head = parts[0].replace(f"{folder.first.words} ", f"{folder.first.words} solves ", 1)
    text = f"{head[:1].upper()}{head[1:]} actions per episode" + (
        f"; {'; '.join(parts[1:])}." if len(parts) > 1 else "."
    )
    sentences = [tag("p", text)]
    rivals = [agent for role, _, agent in _named(folder, budget) if role in ("fixed", "control")]
    for agent in rivals:
        one = compared(folder, agent, budget)
        if one is not None:
            sentences.append(tag("p", f"Against {agent.words}, instance by instance: {verdict(one)}", class_="quiet"))
    return sentences


def compared(folder: Folder, agent: Agent, budget: str) -> dict[str, Any] | None:
    """The first agent against another one."""
    comparisons = folder.comparisons or []
    return next((c for c in comparisons if c["against"] == agent.name and c["budget"] == budget), None)


def verdict(one: dict[str, Any]) -> str:
    """What a paired comparison shows, no more."""
    words = []
    for field, factor, unit, more, fewer in (
        ("solve_difference", 100.0, "points solved", "surely more", "surely fewer"),
        ("actions_difference", 1.0, "actions", "surely more", "surely fewer"),
    ):
        mean, low, high = (factor * one[field][key] for key in ("mean", "low", "high"))
        judgement = more if low > 0 else fewer if high < 0 else "no difference beyond chance"
        words.append(f"{number(mean, sign=True)} {unit} ({interval(low, high, sign=True)}), {judgement}")
    return "; ".join(words) + "."


def interval(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """Both ends."""
    return "" if low is None or high is None else f"{number(low, sign=sign)} .. {number(high, sign=sign)}"


def table(head: Sequence[object], rows: Sequence[tuple[str, Sequence[object]]], label: str) -> Html:
    """A table that scrolls by itself where it is wider than the screen; a row is its class and its cells."""
    top = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = [
        tag("tr", tag("th", cells[0], scope="row"), *(tag("td", cell) for cell in cells[1:]), class_=class_ or None)
        for class_, cells in rows
    ]
    element = tag("table", tag("caption", label), tag("thead", top), tag("tbody", *body))
    return tag("div", element, class_="wide", tabindex=0, role="region", aria_label=label)


def main_tables(folder: Folder) -> Html:
    """Everybody under every budget, beside the paired differences of the first agent."""
    tables = []
    extra = [name for name in EXTRA if any(_extra(row, name) for row in folder.summary)]
    for budget in folder.budgets:
        rows = [
            (class_, [*cells, *(_extra(folder.row(point.agent, budget), name) or NONE for name in extra)])
            for point in figures.points(folder, budget)
            for class_, cells in [_main_row(folder, point, budget)]
        ]
        head = [
            "agent",
            "solved, %",
            "actions",
            "decisions",
            "SPL, %",
            "lost, %",
            "mean depth",
            f"{folder.first.label} minus agent: solved, points",
            "actions",
            "McNemar p",
            "dominates",
            *extra,
        ]
        tables.append(table(head, rows, f"{budget} budget, K = {folder.budgets[budget]}"))
    return joined(*tables)


def _extra(row: dict[str, Any], name: str) -> Html | str:
    """Fill a column that only some evaluations have; empty where this agent has no such figure."""
    if row.get(EXTRA[name]) is None:
        return ""
    if name == "threshold":
        return f"{row['threshold']:.3g}"
    key, digits = EXTRA[name], 2 if name == "gain share" else 3
    value, low, high = (number(row.get(field), digits) for field in (key, f"{key}_low", f"{key}_high"))
    return _with(value, f"{low} .. {high}")


def missing_columns(folder: Folder) -> list[str]:
    """Which of the columns are not there, and what they need, in words."""
    lines = []
    if not any("gain" in row for row in folder.summary):
        lines.append(
            f"There are no gain shares. They need {CEILING} and fixed depths, and a summary of today, which the same "
            "command of recommit evaluate writes; nothing is played again."
        )
    if not any("value" in row for row in folder.summary) and not prices(folder).startswith(", at"):
        lines.append("Nothing has a price, so that the value of an episode is whether it is solved.")
    return lines


def _main_row(folder: Folder, point: figures.PlottedAgent, budget: str) -> tuple[str, list[object]]:
    agent, row = point.agent, folder.row(point.agent, budget)
    below = tag("small", agent.label, class_="raw") if agent.words != agent.label else ""
    name = joined(tag("span", class_=f"swatch {agent.role}", aria_hidden="true"), agent.words, below)
    cells: list[object] = [
        name,
        _with(percent(row["solve_rate"]), interval(point.solved_low, point.solved_high)),
        _with(number(point.actions), interval(point.actions_low, point.actions_high)),
        number(row["decisions_per_episode"]),
        percent(row["spl"]),
        percent(row["lost"]),
        number(row["mean_depth"]),
    ]
    one = compared(folder, agent, budget)
    if one is None:
        return ("first" if agent is folder.first else ""), [*cells, "", "", "", ""]
    for field, factor in (("solve_difference", 100.0), ("actions_difference", 1.0)):
        mean, low, high = (factor * one[field][key] for key in ("mean", "low", "high"))
        cells.append(_with(number(mean, sign=True), interval(low, high, sign=True)))
    p = one["mcnemar_p"]
    cells.append(NONE if p is None else f"{p:.2g}".replace("-", MINUS))
    cells.append("surely" if one["dominates_surely"] else "yes" if one["dominates"] else "no")
    return "", cells


def _with(value: str, small: str) -> Html:
    return joined(value, " ", tag("small", small)) if small else joined(value)


def limits(folder: Folder) -> Html:
    """What arithmetic alone says."""
    lines = []
    for budget, k in folder.budgets.items():
        spent = folder.row(folder.first, budget)["actions_per_episode"]
        never = metrics.undominated(k, spent, tuple(range(1, 9)))
        named = ", ".join(f"h = {d}" for d in never) or "none"
        lines.append(tag("li", f"{budget} budget: {named}{_dominated(folder, budget, never)}"))
    text = (
        f"A fixed depth h never spends more than K h actions, so no agent that spends more can dominate it, whatever "
        f"it solves. Fixed depths that {folder.first.label} is kept from dominating by this alone:"
    )
    return joined(tag("p", text), tag("ul", *lines))


def _dominated(folder: Folder, budget: str, never: list[int]) -> str:
    """Name those of the fixed depths that could be dominated which are."""
    by_verdict: dict[str, list[str]] = {"surely dominated": [], "dominated, but within chance": [], "not dominated": []}
    for agent in folder.agents:
        one = compared(folder, agent, budget)
        if one is not None and agent.depth and agent.depth not in never:
            kind = 0 if one["dominates_surely"] else 1 if one["dominates"] else 2
            by_verdict[list(by_verdict)[kind]].append(agent.label)
    parts = [f"{kind}: {', '.join(names)}" for kind, names in by_verdict.items() if names]
    return f". Of the others played, {'; '.join(parts)}." if parts else "."


def prices(folder: Folder) -> str:
    """What actions and looks cost, in words; nothing if they cost nothing."""
    paid = [
        f"{folder.spec[f'price_{what}']:g} per {what}"
        for what in ("action", "look")
        if folder.spec.get(f"price_{what}")
    ]
    return f", at {' and '.join(paid)}" if paid else ", of solved episodes alone"


def commands(folder: Folder, instances: int) -> Html:
    """What to type for the same figures; folders by their last names."""
    spec = folder.spec
    run = PurePath(str(spec.get("run", "RUN"))).name
    words = ["recommit", "evaluate", run, "--out", "EVAL", "--agents", *(a.label for a in folder.agents)]
    words += ["--budgets", *map(str, spec.get("budgets", ()))]
    words += [w for key in ("instances", "validation", "seed") if key in spec for w in (f"--{key}", str(spec[key]))]
    prices = [name for name in ("price_action", "price_look") if name in spec]
    words += [w for name in prices for w in (f"--{name.replace('_', '-')}", str(spec[name]))]
    words += ["--regret"] if spec.get("regret") else []
    words += ["--length", *map(str, spec["length"])] if spec.get("length") else []
    words += ["--task", spec["task"]] if spec.get("task") else []
    report = ["recommit", "report", "EVAL", "--out", "report.html", "--instances", str(instances)]
    return tag("pre", tag("code", "\n".join(shlex.join(line) for line in (words, report))), tabindex=0)


def versions(folder: Folder) -> Html:
    """List the versions that the run was trained with, without its machine."""
    versions_of = folder.run_json("versions.json")
    if versions_of is None:
        return tag("p", "The run's folder is not there, so its versions are not known.", class_="missing")
    named = [f"{name} {value}" for name, value in versions_of.items() if value is not None and name != "platform"]
    return tag("p", f"Trained with {', '.join(named)}.")
