"""The table of a card, as text that is Markdown too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon.sweep.card import best_on_validation, is_fixed
from recommit.horizon.sweep.rules import chosen
from recommit.results.intervals import Interval
from recommit.results.table import MARGIN, Grid, deepest_within, number, of_bounds, spread
from recommit.storage.terminal_text import cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from recommit.horizon.sweep.card import Card


def text(card: Card, milliseconds: float | None = None) -> str:
    """Text of a card: all rows with intervals, the recommendation, and notes on episodes and omitted rules."""
    kind, success = card["score"], card["score"] == "success"
    digits, scale = (1, 100.0) if success else (2, 1.0)
    rules, reference = {row["name"]: chosen(row["rule"]) for row in card["rows"]}, card["best_fixed"]
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "": lambda each: each["name"] + (" *" if each["frontier"] else ""),
        "chosen": lambda each: rules[each["name"]],
        f"{kind}, %" if success else kind: lambda each: _interval(each["score"], digits, scale),
        "queries": lambda each: number(each["queries"][0]),
        "of successes": lambda each: number(each["queries_of_successes"]).replace("-", ""),
        "ticks": lambda each: number(each["ticks"]),
        "stale, %": lambda each: number(each["stale_action_ratio"], 1, 100),
        "minus best fixed" + (", priced" if card["settings"]["price"] else ""): lambda each: (
            "" if each["name"] == reference else _interval(each["minus_best_fixed"], digits, scale)
        ),
    }
    for name in (
        *(["of successes"] if not success else []),
        *(["stale, %"] if not card["settings"]["latency"] else []),
    ):
        del columns[name]
    parts = [Grid.by(columns, card["summary"]).markdown(), "", in_short(card), "", *notes(card)]
    if milliseconds is not None:
        parts.append(f"A query took {milliseconds:.3g} ms of one thread here, as measured; the card does not have it.")
    return "\n".join(parts) + "\n"


def in_short(card: Card) -> str:
    """Sentences on how much of a chunk to execute: the deepest fixed depth that is certain to be no worse than the best
    one by more than ``table.MARGIN``, of success or of the return's range."""
    kind, best = card["score"], card["best_fixed"]
    own = {each["name"]: each for each in card["summary"]}
    names = {int(row["rule"]["depth"]): row["name"] for row in card["rows"] if is_fixed(row)}
    depths = {name: depth for depth, name in names.items()}
    minus, margin, deepest = _fixed(card)
    horizon, top = card["horizon"], max(minus, key=lambda depth: minus[depth].mean)
    digits, scale = (1, 100.0) if kind == "success" else (2, 1.0)
    if minus[top].low > 0:
        return (
            f"Validation picked {depths[best]} of {horizon} as the best fixed depth, but on the test episodes "
            f"{top} is better by {spread(minus[top], digits, scale)}: {len(card['seeds']['validation'])} validation "
            "episodes are too few to choose by, more (--validation) would tell."
        )
    words = f"{100 * MARGIN:g} points" if kind == "success" else f"{margin:.3g}"
    deeper = sorted(depth for depth in minus if depth > deepest)
    parts = [f"The best fixed depth is {deepest} of {horizon}"]
    if deepest != depths[best]:
        few, many = (f"{own[names[depth]]['queries'][0]:.1f}" for depth in (deepest, depths[best]))
        parts[0] = (
            f"Execute {deepest} of {horizon} actions: {spread(minus[deepest], digits, scale)} beside the best fixed "
            f"depth, {depths[best]}, within the margin of {words}, with {few} queries an episode instead of {many}"
        )
    elif any(each.high > margin for depth, each in minus.items() if depth < deepest):
        parts.append(f"these episodes do not tell whether a shallower one is better by more than {words}")
    if open_ := [depth for depth in deeper if minus[depth].high >= -margin]:
        listed = f"depth {open_[0]} is" if len(open_) == 1 else f"depths {', '.join(map(str, open_))} are"
        parts.append(
            f"these episodes do not tell whether {listed} worse by more than {words}: "
            f"{_more(minus[open_[0]], margin, len(card['seeds']['test']))} (--episodes) would"
        )
    if worse := [depth for depth in deeper if depth not in open_]:
        parts.append(f"depth {worse[0]} differs by {spread(minus[worse[0]], digits, scale)}")
    return f"{'; '.join(parts)}. {_adaptive_in_short(card)}".rstrip()


def _adaptive_in_short(card: Card) -> str:
    """Sentence on whether the rule that is best on validation episodes helps; empty if none was tried."""
    rule, ahead, helps = _adaptive(card)
    if not rule:
        return ""
    digits, scale = (1, 100.0) if card["score"] == "success" else (2, 1.0)
    queries = next(each["queries"][0] for each in card["summary"] if each["name"] == rule)
    differs = f"{cell(rule)} differs by {spread(ahead, digits, scale)}, with {queries:.1f} queries"
    if helps:
        return f"An adaptive depth helps: {differs}."
    if ahead.high < _fixed(card)[1]:
        return f"None of the rules helps: {differs}."
    more = _more(ahead, 0.0, len(card["seeds"]["test"]))
    return f"These episodes do not tell whether an adaptive depth helps: {differs}; {more} would."


def _adaptive(card: Card) -> tuple[str, Interval, bool]:
    """The rule that is best on validation episodes, its difference to the best fixed depth, and whether it helps: it is
    better, or certain to be no worse by more than the margin with fewer queries than the depth to execute, and no other
    fixed depth is better than that best one."""
    rule, own = best_on_validation(card, fixed=False), {each["name"]: each for each in card["summary"]}
    if not rule:
        return rule, Interval(0.0, 0.0, 0.0), False
    ahead, (minus, margin, depth) = of_bounds(own[rule]["minus_best_fixed"]), _fixed(card)
    fewer = own[rule]["queries"][0] < own[f"fixed-{depth}"]["queries"][0]
    misled = max(each.low for each in minus.values()) > 0
    return rule, ahead, not misled and (ahead.low > 0 or (ahead.low > -margin and fewer))


def _more(difference: Interval, margin: float, episodes: int) -> str:
    """Number of episodes that would tell a difference from minus the margin if its mean stays, to two digits."""
    apart = difference.mean + margin
    half = difference.mean - difference.low if apart > 0 else difference.high - difference.mean
    needed = episodes * (half / apart) ** 2 if abs(apart) > half / 100 else np.inf  # also of one episode, without ends
    return f"some {float(f'{needed:.1e}'):,.0f}" if needed < np.inf else "many more"


def recommended(card: Card) -> str:
    """The row to use: the best rule where an adaptive depth helps, or else the fixed depth to execute."""
    rule, _, helps = _adaptive(card)
    return rule if helps else f"fixed-{_fixed(card)[2]}"


def for_lerobot(card: Card, policy: str, env: str, path: Path) -> str:
    """Options for LeRobot's commands, and a paragraph for the policy's model card; ``path`` is the sweep card's."""
    name, episodes = recommended(card), len(card["seeds"]["test"])
    rule = name if name.startswith("fixed-") else path
    words = f"--policy.type=recommit --policy.base={policy} --policy.rule={rule}"
    own = next(each for each in card["summary"] if each["name"] == name)
    digits, scale, unit = (1, 100.0, " % succeed") if card["score"] == "success" else (2, 1.0, " is the return")
    return (
        f"For LeRobot:\n\n    {words}\n\nFor a model card:\n\nOf {episodes} episodes of {env} with `{words}` "
        f"{_interval(own['score'], digits, scale)}{unit}, at {own['queries'][0]:.1f} queries an "
        f"episode. {in_short(card)} Measured with `recommit sweep`; in brackets 95 % intervals over episodes.\n"
    )


def _fixed(card: Card) -> tuple[dict[int, Interval], float, int]:
    """Difference of each fixed depth to the best one of validation; the margin; the deepest depth that is certain to be
    within it, or one that is significantly better."""
    own = {each["name"]: each for each in card["summary"]}
    depths = {row["name"]: int(row["rule"]["depth"]) for row in card["rows"] if is_fixed(row)}
    minus = {depth: of_bounds(own[name]["minus_best_fixed"]) for name, depth in depths.items()}
    means = [each.mean for each in minus.values()]
    margin = MARGIN if card["score"] == "success" else MARGIN * (max(means) - min(means))
    top = max(minus, key=lambda depth: minus[depth].mean)
    if minus[top].low > 0:
        return minus, margin, top
    return minus, margin, max(deepest_within(minus, margin) or 0, depths[card["best_fixed"]])


def _interval(values: Sequence[float | None], digits: int, scale: float) -> str:
    return spread(of_bounds(values), digits, scale)


def notes(card: Card) -> list[str]:
    """Sentences on how the episodes were played."""
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
        lines += ["", f"Left out, for what they lack (card.json says it): {', '.join(map(cell, card['left_out']))}."]
    return lines
