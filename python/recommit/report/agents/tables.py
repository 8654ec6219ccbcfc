"""Every agent under every budget, in groups that fold, beside the paired differences of the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report.agents import groups, plotted
from recommit.report.embed import Html, joined, tag
from recommit.report.sections import MINUS, NONE, compared, dominance, interval, number, percent, table

if TYPE_CHECKING:
    from recommit.report.agents.plotted import PlottedAgent
    from recommit.report.reading import Folder

#: Columns that stand only where some agent has the figure.
EXTRA = {"value": "value", "threshold": "threshold", "gain share": "gain"}
#: Those that wait for a wish to see all; on a narrow screen the others of ``_WIDE`` do too.
_ALL = ("SPL, %", "lost, %", "mean depth", "McNemar p")
_WIDE = ("looks", "dominated", "value", "threshold")
_ASK = Html('<label class="all"><input type="checkbox" class="show-all"> all columns</label>')


def tables(folder: Folder) -> Html:
    """A block of groups per budget."""
    return joined(*(_of_budget(folder, budget) for budget in folder.budgets))


def _of_budget(folder: Folder, budget: str) -> Html:
    points = {point.agent: point for point in plotted.points(folder, budget)}
    extra = [name for name in EXTRA if any(_extra(row, name) for row in folder.summary)]
    why, parts = groups.compared(folder, budget), []
    for name, agents in groups.groups(folder, budget).items():
        rows = [_row(folder, points[agent], budget, extra, why.get(agent, "")) for agent in agents]
        solved = [points[agent].solved for agent in agents]
        reach = f"{number(min(solved))} to {number(max(solved))} % solved" if len(agents) > 1 else ""
        about = ", ".join(filter(None, (f"{len(agents)} agent{'s' if len(agents) > 1 else ''}", reach)))
        summary = tag("summary", tag("b", name), " ", tag("small", about))
        label = f"{name}, {budget} budget"
        grid = table(_head(folder, extra), rows, label, columns=_classes(_head(folder, extra)))
        parts.append(tag("details", summary, grid, class_="group", open=name == groups.COMPARED))
    title = tag("h3", f"{budget} budget: at most {folder.budgets[budget]} looks")
    return tag("div", tag("div", title, _ASK, class_="line"), *parts, class_="agents")


def _head(folder: Folder, extra: list[str]) -> list[str]:
    difference = f"{folder.first.words} minus this: solved, points"
    return [
        *("agent", "solved, %", "actions"),
        *[name for name in extra if name == "gain share"],
        *(difference, "... actions", "dominated", "looks"),
        *[name for name in extra if name != "gain share"],
        *_ALL,
    ]


def _classes(head: list[str]) -> list[str]:
    often = (name in _WIDE or " minus " in name or name.startswith("...") for name in head)
    return ["rare" if name in _ALL else "wide-only" if wide else "" for name, wide in zip(head, often, strict=True)]


def _row(folder: Folder, point: PlottedAgent, budget: str, extra: list[str], why: str) -> tuple[str, list[object]]:
    agent, row = point.agent, folder.row(point.agent, budget)
    swatch = tag("span", class_=f"swatch {agent.role}", aria_hidden="true")
    p = (compared(folder, agent, budget) or {}).get("mcnemar_p")
    cells: list[object] = [
        joined(swatch, tag("span", agent.words, title=agent.label), tag("small", why) if why else ""),
        _with(percent(row["solve_rate"]), interval(point.solved_low, point.solved_high)),
        _with(number(point.actions), interval(point.actions_low, point.actions_high)),
        *[_extra(row, name) or NONE for name in extra if name == "gain share"],
        *_differences(folder, point, budget),
        number(row["decisions_per_episode"]),
        *[_extra(row, name) or NONE for name in extra if name != "gain share"],
        percent(row["spl"]),
        percent(row["lost"]),
        number(row["mean_depth"]),
        NONE if p is None else f"{p:.2g}".replace("-", MINUS),
    ]
    return ("first" if agent is folder.first else ""), cells


def _differences(folder: Folder, point: PlottedAgent, budget: str) -> list[object]:
    """Paired differences of solved and of actions, and whether the first agent dominates this one."""
    one = compared(folder, point.agent, budget)
    if one is None:
        return ["", "", ""]
    cells: list[object] = []
    for field, factor in (("solve_difference", 100.0), ("actions_difference", 1.0)):
        mean, low, high = (factor * one[field][key] for key in ("mean", "low", "high"))
        star = "beyond" if low > 0 or high < 0 else ""
        cells.append(tag("span", _with(number(mean, sign=True), interval(low, high, sign=True)), class_=star or None))
    return [*cells, dominance(one)]


def _extra(row: dict[str, Any], name: str) -> Html | str:
    """Fill a column that only some evaluations have; empty where this agent has no such figure."""
    if row.get(EXTRA[name]) is None:
        return ""
    if name == "threshold":
        return f"{row['threshold']:.3g}"
    key, digits = EXTRA[name], 2 if name == "gain share" else 3
    value, low, high = (number(row.get(field), digits) for field in (key, f"{key}_low", f"{key}_high"))
    return _with(value, f"{low} .. {high}")


def _with(value: str, small: str) -> Html:
    return joined(value, " ", tag("small", small)) if small else joined(value)
