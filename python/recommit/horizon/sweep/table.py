"""The table of a card, as text that is Markdown too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.horizon.sweep.card import best_rule
from recommit.horizon.sweep.rules import number
from recommit.storage.terminal_text import cell, grid

if TYPE_CHECKING:
    from recommit.horizon.sweep.card import Card


def text(card: Card, milliseconds: float | None = None) -> str:
    """All rows with their intervals; what was left out, and why; how it was played."""
    kind, unit = card["score"], "%" if card["score"] == "success" else ""
    less = "minus best fixed" + (", priced" if card["settings"]["price"] else "")
    head = ["", "number", f"{kind}, {unit}" if unit else kind, "queries", "of successes", "ticks", less]
    rules = {row["name"]: number(row["rule"]) for row in card["rows"]}
    lines = [_line(each, rules[each["name"]], kind, card["best_fixed"]) for each in card["summary"]]
    parts = [grid(head, lines), "", in_short(card), "", *notes(card)]
    if milliseconds is not None:
        parts.append(f"A query took {milliseconds:.3g} ms of one thread here, as measured; the card does not have it.")
    return "\n".join(parts) + "\n"


def in_short(card: Card) -> str:
    """How much of a chunk to execute, as far as the intervals say."""
    summary, kind = {each["name"]: each for each in card["summary"]}, card["score"]
    depths = {row["name"]: row["rule"]["depth"] for row in card["rows"] if row["rule"]["rule"] == "Fixed"}
    best, names = card["best_fixed"], sorted(depths, key=depths.__getitem__)
    level = [name for name in names if name == best or summary[name]["minus_best_fixed"][2] >= 0]
    asks = [f"{summary[name]['queries'][0]:.1f}" for name in (level[-1], best)]
    reach = f"{depths[level[-1]]} of {card['horizon']} actions"
    parts = [f"Not significantly worse than the best fixed depth: up to {reach}"]
    if level[-1] != best:
        parts[0] += f", with {asks[0]} queries an episode and not {asks[1]}"
    if deeper := names[names.index(level[-1]) + 1 :]:
        parts.append(f"{deeper[0]} differs by {_interval(summary[deeper[0]]['minus_best_fixed'], kind)}")
    if (first := best_rule(card)) and summary[first]["minus_best_fixed"][1] > 0:
        parts.append(f"{cell(first)} is better by {_interval(summary[first]['minus_best_fixed'], kind)}")
    return "; ".join(parts) + "."


def _interval(values: list[float], kind: str) -> str:
    scale, digits = (100, 1) if kind == "success" else (1, 2)
    mean, low, high = (f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in values)
    return f"{mean} ({low} .. {high})"


def _line(each: dict[str, Any], chosen: float | None, kind: str, reference: str) -> list[str]:
    won = each["queries_of_successes"]
    return [
        each["name"] + (" *" if each["frontier"] else ""),
        "" if chosen is None else f"{chosen:.3g}",
        _interval(each["score"], kind),
        f"{each['queries'][0]:.1f}",
        "" if won is None else f"{won:.1f}",
        f"{each['ticks']:.1f}",
        "" if each["name"] == reference else _interval(each["minus_best_fixed"], kind),
    ]


def notes(card: Card) -> list[str]:
    """How it was played, in sentences."""
    settings, seeds = card["settings"], card["seeds"]
    latency = f"latency {settings['latency']}, mode {settings['mode']}" if settings["latency"] else "no latency"
    lines = [
        (
            f"{cell(card['env']['name'])}, {cell(card['policy']['name'])}: {card['horizon']} actions a chunk, "
            f"{latency}, {len(seeds['test'])} test episodes a row, the same for all (seeds {seeds['test'][0]} to "
            f"{seeds['test'][-1]})."
        ),
        (
            f"Numbers and the best fixed depth ({card['best_fixed']}) were chosen on {len(seeds['validation'])} other "
            "episodes. In brackets: 95 % intervals over episodes; differences are paired. *: no row has more at fewer "
            "queries."
        ),
    ]
    if price := settings["price"]:
        lines[1] += f" Choices and differences are of the {card['score']} less {price:g} for each query."
    if card["left_out"]:
        lines += ["", "Left out:", ""]
        lines += [f"* {cell(name)}: {cell(why)}" for name, why in card["left_out"].items()]
    return lines
