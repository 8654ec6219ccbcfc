"""The table of a card, as text that is Markdown too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from recommit.horizon.sweep.card import best_rule
from recommit.horizon.sweep.rules import number
from recommit.storage.terminal_text import cell, grid

if TYPE_CHECKING:
    from recommit.horizon.sweep.card import Card


#: A success whose difference to the best depth's is known no better than this is not known.
WIDE = 0.2
#: What a policy may say besides its actions, and how a rule begins that lacks it.
INPUTS = ("probabilities", "samples", "entropies", "events")
LACKING = re.compile(rf"\S+ needs Plans\.({'|'.join(INPUTS)})\b")


def text(card: Card, milliseconds: float | None = None) -> str:
    """All rows with their intervals; what was left out, and why; how it was played."""
    kind, unit = card["score"], "%" if card["score"] == "success" else ""
    less = "minus best fixed" + (", priced" if card["settings"]["price"] else "")
    won = ["of successes"] if unit else []
    head = ["", "number", f"{kind}, {unit}" if unit else kind, "queries", *won, "ticks", less]
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
    minus = {name: summary[name]["minus_best_fixed"] for name in names}
    if better := [name for name in names if minus[name][1] > 0]:
        top = max(better, key=lambda name: minus[name][0])
        return (
            f"Validation picked {depths[best]} of {card['horizon']} as the best fixed depth, but on the test episodes "
            f"{depths[top]} is better by {_interval(minus[top], kind)}: {len(card['seeds']['validation'])} validation "
            "episodes are too few to choose by, more (--validation) would tell."
        )
    level = [name for name in names if name == best or minus[name][2] >= 0]
    deeper = names[names.index(level[-1]) + 1 :]
    reach = f"{depths[level[-1]]} of {card['horizon']}"
    if level[-1] != best:
        asks = [f"{summary[name]['queries'][0]:.1f}" for name in (level[-1], best)]
        first = f"Depth {reach} is not significantly worse than the best fixed depth, {depths[best]}: "
        parts = [f"{first}{asks[0]} queries an episode instead of {asks[1]}"]
    elif deeper:
        parts = [f"The best fixed depth is {reach}, and every deeper one is significantly worse"]
    else:
        parts = [f"The best fixed depth is {reach}, the deepest that was played"]
    doubted = [minus[name] for name in (level if level[-1] == best else level[-1:])]
    if len(card["seeds"]["test"]) == 1 or any(_unknown(each, [*minus.values()], kind) for each in doubted):
        parts.append("these episodes are too few to be sure: more (--episodes) would tell")
    if deeper:
        parts.append(f"{deeper[0]} differs by {_interval(minus[deeper[0]], kind)}")
    if (rule := best_rule(card)) and summary[rule]["minus_best_fixed"][1] > 0:
        parts.append(f"{cell(rule)} is better by {_interval(summary[rule]['minus_best_fixed'], kind)}")
    return "; ".join(parts) + "."


def _unknown(difference: list[float], every: list[list[float]], kind: str) -> bool:
    """Is an interval so wide that it says little: of success wider than ``WIDE``, of a return down to worse than half
    of what lies between the best and the worst fixed depth?"""
    _, low, high = difference
    means = [mean for mean, _, _ in every]
    return high - low > WIDE if kind == "success" else low < -(max(means) - min(means)) / 2


def _interval(values: list[float], kind: str) -> str:
    scale, digits = (100, 1) if kind == "success" else (1, 2)
    mean, low, high = (f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in values)
    return f"{mean} ({low} .. {high})"


def _line(each: dict[str, Any], chosen: float | None, kind: str, reference: str) -> list[str]:
    won = each["queries_of_successes"]
    column = [] if kind != "success" else ["" if won is None else f"{won:.1f}"]
    return [
        each["name"] + (" *" if each["frontier"] else ""),
        "" if chosen is None else f"{chosen:.3g}",
        _interval(each["score"], kind),
        f"{each['queries'][0]:.1f}",
        *column,
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
    lacking = {name: found[1] for name, why in card["left_out"].items() if (found := LACKING.match(why))}
    if lacking:
        *first, last = [each for each in INPUTS if each in lacking.values()]
        inputs, many = f"{', '.join(first)} or {last}" if first else last, len(lacking)
        rules = f"{many} rules (they are in card.json)" if many > 1 else "1 rule (it is in card.json)"
        lines += ["", f"Left out, since the policy returns no {inputs}: {rules}."]
    if others := {name: why for name, why in card["left_out"].items() if name not in lacking}:
        lines += ["", "Left out:", ""]
        lines += [f"* {cell(name)}: {cell(why)}" for name, why in others.items()]
    return lines
