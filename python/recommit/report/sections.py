"""What the page says in words and tables; every number comes from the evaluation's files."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from recommit.evaluate import metrics
from recommit.evaluate.spec import split_words
from recommit.report.agents.agent import CEILING
from recommit.report.embed import Html, joined, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.report.agents.agent import Agent
    from recommit.report.reading import Folder

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


def compared(folder: Folder, agent: Agent, budget: str) -> dict[str, Any] | None:
    """The first agent against another one."""
    comparisons = folder.comparisons or []
    return next((c for c in comparisons if c["against"] == agent.name and c["budget"] == budget), None)


def dominance(one: dict[str, Any]) -> str:
    """Does the first agent solve as much with as few actions as the other, and how sure is that?"""
    return "beyond chance (95 %)" if one["dominates_surely"] else "within chance" if one["dominates"] else "no"


def interval(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """Both ends."""
    return "" if low is None or high is None else f"{number(low, sign=sign)} .. {number(high, sign=sign)}"


def table(
    head: Sequence[object],
    rows: Sequence[tuple[str, Sequence[object]]],
    label: str,
    *,
    columns: Sequence[str] = (),
) -> Html:
    """A table that scrolls by itself where it is wider than the screen; a row is its class and its cells, ``columns``
    are classes of columns."""
    kinds = [kind or None for kind in columns] or [None] * len(head)
    top = tag("tr", *(tag("th", cell, scope="col", class_=kind) for cell, kind in zip(head, kinds, strict=True)))
    body = [
        tag(
            "tr",
            tag("th", cells[0], scope="row"),
            *(tag("td", cell, class_=kind) for cell, kind in zip(cells[1:], kinds[1:], strict=False)),
            class_=class_ or None,
        )
        for class_, cells in rows
    ]
    element = tag("table", tag("caption", label), tag("thead", top), tag("tbody", *body))
    return tag("div", element, class_="wide", tabindex=0, role="region", aria_label=label)


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
        f"it solves. Fixed depths that {folder.first.words} is kept from dominating by this alone:"
    )
    return joined(tag("p", text), tag("ul", *lines))


def _dominated(folder: Folder, budget: str, never: list[int]) -> str:
    """How many of the fixed depths that could be dominated are, beyond chance, and the names of the rest."""
    by_verdict: dict[str, list[str]] = {"beyond chance": [], "Within chance": [], "Not dominated": []}
    for agent in folder.agents:
        one = compared(folder, agent, budget)
        if one is not None and agent.depth and agent.depth not in never:
            kind = 0 if one["dominates_surely"] else 1 if one["dominates"] else 2
            by_verdict[list(by_verdict)[kind]].append(agent.brief)
    beyond, *rest = by_verdict.items()
    count = sum(map(len, by_verdict.values()))
    if not count:
        return "."
    parts = [f"{kind}: {'; '.join(names)}" for kind, names in rest if names]
    return ". ".join([f". Of the {count} others, {len(beyond[1])} are dominated beyond chance (95 %)", *parts]) + "."


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
    prices = [name for name in ("price_action", "price_observation") if name in spec]
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


def test_set(folder: Folder) -> Html:
    """Name what was played: a digest, by which two evaluations of the same instances know each other."""
    lengths = folder.instances["length"] if folder.instances else None
    reach = f", {min(lengths)} to {max(lengths)} actions from their goals" if lengths else ""
    name = folder.spec.get("test_set")
    called = f" Their digest is {name}." if name else ""
    budgets = " and ".join(f"{word} (K = {k})" for word, k in folder.budgets.items())
    split = split_words(folder.spec.get("split", "test"), folder.spec.get("fresh", 0))
    what = f"{folder.spec['instances']:,} instances of {folder.task}{reach}, of {split}"
    return tag("p", f"{what}; {len(folder.agents)} agents; budgets {budgets}.{called}")
