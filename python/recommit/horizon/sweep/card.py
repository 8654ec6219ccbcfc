"""The card of a sweep: every episode of every row, hashes of policy and environment, and a digest over all of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon.sweep.rules import rule_of
from recommit.results import intervals, table
from recommit.results.intervals import Interval
from recommit.results.table import pareto
from recommit.storage import errors, safe_open, verified

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.results.intervals import Floats

    Card = dict[str, Any]
    #: Outcomes of episodes, as lists by field.
    Outcomes = dict[str, list[Any]]

SCHEMA, VERSION = "recommit.sweep", 1
#: Name of a card in the folder of a sweep.
CARD = "card.json"
#: Largest card in bytes.
MOST = 1 << 25
#: A name or a version of a package, such as torch and 2.11.0+cpu.
_WELL_FORMED = re.compile(r"[A-Za-z0-9][\w.+!-]{0,63}").fullmatch
#: Fields of an episode's outcome.
OUTCOMES: verified.Fields = {
    "success": (bool, type(None)),
    "total": verified.NUMBER,
    **dict.fromkeys(("ticks", "queries", "stale"), int),
}
_ROW = {"name": str, "rule": {"rule": str}, "outcomes": {name: [kind] for name, kind in OUTCOMES.items()}}
_FIELDS = {
    "schema": str,
    "version": int,
    "digest": str,
    "env": {"name": str},
    "policy": {"name": str},
    "files": {},
    "code": str,
    "settings": {"env_kwargs": str, "depths": [int], "price": verified.NUMBER, "max_steps": int},
    "versions": verified.Where(
        {...: str},
        lambda of: {"python", "machine", "numpy"} <= set(of) and all(map(_WELL_FORMED, (*of, *of.values()))),
        "names and versions of packages, of python, machine and numpy among them",
    ),
    "score": str,
    "left_out": {},
    "batch": verified.within(1),
    "seeds": {"validation": [int], "test": [int]},
    "validation": [_ROW],
    "rows": [_ROW],
}


def score_kind(outcomes: Sequence[Outcomes], key: str) -> str:
    """``success`` if info has it in some episode, else ``return``."""
    if any(each is not None for row in outcomes for each in row["success"]):
        return "success"
    if key:
        raise ValueError(
            f"success: expected a key of info that the environment gives, got {key}, which it gave in no episode"
        )
    return "return"


def merged(parts: Sequence[Outcomes]) -> Outcomes:
    """Concatenate batches of episodes."""
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def scores(outcomes: Outcomes, kind: str) -> Floats:
    """Score of each episode: success (0 or 1), or return."""
    won = [bool(each) for each in outcomes["success"]]
    return np.array(won if kind == "success" else outcomes["total"], np.float64)


def values(outcomes: Outcomes, kind: str, price: float) -> Floats:
    """Value of each episode, by which rules are chosen: its score less the price of its queries."""
    return scores(outcomes, kind) - price * np.array(outcomes["queries"], np.float64)


def choice_price(rows: Sequence[dict[str, Any]], kind: str, price: float) -> float:
    """Price of a query for the choice of rules and thresholds: ``price``, or if that is 0, the price at which the most
    queries of any fixed depth cost ``table.MARGIN``, of success or of the return's range. Without it, a threshold that
    queries at every tick would be chosen for the slightest gain in score."""
    own = [row["outcomes"] for row in rows if is_fixed(row)]
    if price or not own:
        return price
    means = [float(scores(each, kind).mean()) for each in own]
    worth = table.MARGIN * (1.0 if kind == "success" else max(means) - min(means))
    return worth / max(float(np.mean(each["queries"])) for each in own)


def chosen(rows: Sequence[dict[str, Any]], kind: str, price: float) -> dict[str, dict[str, Any]]:
    """The rule with the highest mean value, by name; ties go to fewer queries."""
    merits: dict[str, dict[int, tuple[float, float]]] = {}
    for i, row in enumerate(rows):
        outcomes = row["outcomes"]
        merit = float(values(outcomes, kind, price).mean()), -float(np.mean(outcomes["queries"]))
        merits.setdefault(row["name"], {})[i] = merit
    return {name: rows[table.best(own)]["rule"] for name, own in merits.items()}  # type: ignore[index]


def best_on_validation(card: Card, *, fixed: bool) -> str:
    """Name of the best fixed depth, or of the best rule, on validation episodes; empty if there is none."""
    rows, price = card["validation"], card["settings"]["price"]
    price = price if fixed else choice_price(rows, card["score"], price)
    every = [{**row, "name": "", "rule": row["name"]} for row in rows if is_fixed(row) == fixed]
    name: Any = chosen(every, card["score"], price).get("", "")
    return str(name)


def is_fixed(row: dict[str, Any]) -> bool:
    """True for the row of a fixed depth."""
    return bool(row["rule"]["rule"] == "Fixed")


def summary(card: Card) -> list[dict[str, Any]]:
    """Figures of each row, with 95 % intervals over episodes: [mean, low, high]; ends are None for a single episode.
    Differences of value are paired, to the best fixed depth."""
    kind, price, reference = card["score"], card["settings"]["price"], best_on_validation(card, fixed=True)
    own, result = {row["name"]: row["outcomes"] for row in card["rows"]}, []
    for name, outcomes in own.items():
        reached, queries = scores(outcomes, kind), np.array(outcomes["queries"], np.float64)
        less = difference(outcomes, own[reference], kind, price) if name != reference else Interval(0.0, 0.0, 0.0)
        won = queries[reached > 0] if kind == "success" else queries[:0]
        result.append(
            {
                "name": name,
                "score": [*table.bounds(intervals.share(reached) if kind == "success" else intervals.mean(reached))],
                "queries": [*table.bounds(intervals.mean(queries))],
                "queries_of_successes": float(won.mean()) if len(won) else None,
                "ticks": float(np.mean(outcomes["ticks"])),
                "stale_action_ratio": float(
                    np.sum(outcomes["stale"]) / np.sum(outcomes["ticks"])
                ),  # as vla-eval has it
                "minus_best_fixed": [*table.bounds(less)],
            }
        )
    front = pareto({i: (each["score"][0], each["queries"][0]) for i, each in enumerate(result)})
    return [{**each, "frontier": i in front} for i, each in enumerate(result)]


def difference(one: Outcomes, other: Outcomes, kind: str, price: float) -> Interval:
    """Value of ``one`` minus that of ``other``, paired. The interval of success has to stay wide where no episode
    differs; that of the queries' price is added in quadrature."""
    if kind != "success":
        return intervals.difference(values(one, kind, price), values(other, kind, price))
    won = intervals.difference(scores(one, kind), scores(other, kind))
    if not price:
        return won
    paid = intervals.mean(price * (np.array(other["queries"], np.float64) - one["queries"]))
    mean = won.mean + paid.mean
    low, high = np.hypot(won.mean - won.low, paid.mean - paid.low), np.hypot(won.high - won.mean, paid.high - paid.mean)
    return Interval(mean, mean - float(low), mean + float(high))


def made(content: Card) -> Card:
    """Make a card of this content, with its summary and its digest."""
    card = {"schema": SCHEMA, "version": VERSION, **content}
    card["best_fixed"], card["summary"] = best_on_validation(card, fixed=True), summary(card)
    return {**card, "digest": verified.digest(card, "digest")}


def text(card: Card) -> str:
    """The only valid text of a card."""
    return json.dumps(card, sort_keys=True, allow_nan=False) + "\n"


def read(path: Path) -> Card:
    """Read a card, or that of a sweep's folder, and check its digest, and its summary against its episodes. The file
    may be untrusted: nothing of it is run."""
    path = path / CARD if path.is_dir() else path
    try:
        data = safe_open.content(path, MOST)
    except FileNotFoundError:
        raise ValueError(f"card: expected the card.json of a sweep, found no {path}") from None
    except OSError as error:
        raise errors.from_os(error, path) from error
    about = verified.parsed(path, data)
    verified.expect(path, about, {"schema": str, "version": int})
    if (about["schema"], about["version"]) != (SCHEMA, VERSION):
        raise ValueError(f"card: expected {SCHEMA} {VERSION}, got {about['schema']:.80} {about['version']}")
    card: Card = verified.record(path, data, _FIELDS, text, "digest")
    _check(path, card)
    return card


def _check(path: Path, card: Card) -> None:
    """Refuse impossible episodes, and a summary or a choice that does not follow from the episodes."""
    most = card["settings"]["max_steps"]
    for name, split in (("validation", "validation"), ("rows", "test")):
        for row in card[name]:
            played, what = row["outcomes"], f"{path}: {name}, {row['name']}"
            if any(len(played[field]) != len(card["seeds"][split]) for field in OUTCOMES):
                raise errors.Damaged(f"{what}: expected an episode for each seed")
            for ticks, queries, stale in zip(*(played[field] for field in ("ticks", "queries", "stale")), strict=True):
                if not (1 <= queries <= ticks <= most and 0 <= stale <= ticks):
                    raise errors.Damaged(
                        f"{what}: expected 1 <= queries <= ticks <= {most} and 0 <= stale <= ticks, got {queries} "
                        f"queries and {stale} stale in {ticks} ticks"
                    )
    try:
        for row in (*card["validation"], *card["rows"]):
            rule_of(row["rule"])
            if is_fixed(row) and row["name"] != f"fixed-{row['rule']['depth']:d}":
                raise ValueError(f"rule: expected that of {row['name']}, got depth {row['rule']['depth']}")
        price = choice_price(card["validation"], card["score"], card["settings"]["price"])
        rules = chosen(card["validation"], card["score"], price)
        again = {"best_fixed": best_on_validation(card, fixed=True), "summary": summary(card)}
        again["rows"] = [{**row, "name": own, "rule": rules[own]} for row, own in zip(card["rows"], rules, strict=True)]
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise errors.Damaged(f"{path}: expected rules and numbers of episodes, got something else: {error}") from None
    for name, value in again.items():
        if not verified.alike(json.loads(json.dumps(value)), card.get(name)):
            raise errors.Damaged(f"{path}: {name}: expected what follows from the episodes, got something else")
