"""The card of a sweep: every episode of every row, what was played with, and a digest over all of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import stats
from recommit.storage import errors, files, safe_open, verified

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Card = dict[str, Any]
    #: By field, what each episode came to.
    Outcomes = dict[str, list[Any]]
    Floats = NDArray[np.float64]

SCHEMA, VERSION = "recommit.sweep", 1
#: Its name in the folder of a sweep.
CARD = "card.json"
#: Bytes of a card that are read.
MOST = 1 << 28
#: What an episode comes to.
OUTCOMES: verified.Fields = {"success": (bool, type(None)), "total": verified.NUMBER, "ticks": int, "queries": int}
_ROW = {"name": str, "rule": {"rule": str}, "outcomes": {name: [kind] for name, kind in OUTCOMES.items()}}
_FIELDS = {
    "schema": str,
    "version": int,
    "digest": str,
    "env": {"name": str},
    "policy": {"name": str},
    "files": {},
    "code": str,
    "settings": {"env_kwargs": str, "depths": [int], "price": verified.NUMBER},
    "versions": {},
    "score": str,
    "left_out": {},
    "batch": int,
    "seeds": {"validation": [int], "test": [int]},
    "validation": [_ROW],
    "rows": [_ROW],
}


def score_kind(outcomes: Sequence[Outcomes], key: str) -> str:
    """success where info says it, else return."""
    if any(each is not None for row in outcomes for each in row["success"]):
        return "success"
    if key:
        raise ValueError(
            f"success: expected a key of info that the environment gives, got {key}, which it gave in no episode"
        )
    return "return"


def merged(parts: Sequence[Outcomes]) -> Outcomes:
    """Batches of episodes as one."""
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def scores(outcomes: Outcomes, kind: str) -> Floats:
    """The number of each episode that is reported."""
    won = [bool(each) for each in outcomes["success"]]
    return np.array(won if kind == "success" else outcomes["total"], np.float64)


def worth(outcomes: Outcomes, kind: str, price: float) -> Floats:
    """What choices go by: the score of each episode, less the price of its queries."""
    return scores(outcomes, kind) - price * np.array(outcomes["queries"], np.float64)


def chosen(rows: Sequence[dict[str, Any]], kind: str, price: float) -> dict[str, dict[str, Any]]:
    """By name, the rule that is worth most in the mean; of equals the one with fewer queries."""
    best: dict[str, tuple[float, float]] = {}
    rules: dict[str, dict[str, Any]] = {}
    for row in rows:
        merit = (float(worth(row["outcomes"], kind, price).mean()), -float(np.mean(row["outcomes"]["queries"])))
        if row["name"] not in best or merit > best[row["name"]]:
            best[row["name"]], rules[row["name"]] = merit, row["rule"]
    return rules


def best_fixed(card: Card) -> str:
    """The name of the best fixed depth on validation episodes, by the same measure."""
    fixed = [{**row, "name": "", "rule": row["name"]} for row in card["validation"] if row["rule"]["rule"] == "Fixed"]
    name: Any = chosen(fixed, card["score"], card["settings"]["price"])[""]
    return str(name)


def best_rule(card: Card) -> str:
    """The name of the rule that is best on validation episodes, by the same measure; empty where there is none."""
    rules = [{**row, "name": "", "rule": row["name"]} for row in card["validation"] if row["rule"]["rule"] != "Fixed"]
    name: Any = chosen(rules, card["score"], card["settings"]["price"]).get("", "")
    return str(name)


def summary(card: Card) -> list[dict[str, Any]]:
    """What each row comes to, with 95 % intervals over episodes; differences of what they are worth are paired, to the
    best fixed depth."""
    kind, price, reference = card["score"], card["settings"]["price"], best_fixed(card)
    own = {row["name"]: row["outcomes"] for row in card["rows"]}
    result = []
    for row in card["rows"]:
        values, queries = scores(row["outcomes"], kind), np.array(row["outcomes"]["queries"], np.float64)
        low, high = stats.share(values) if kind == "success" else _ends(values)
        less = difference(row["outcomes"], own[reference], kind, price)
        if row["name"] == reference:
            less = stats.Interval(0.0, 0.0, 0.0)
        won = queries[values > 0] if kind == "success" else queries[:0]
        result.append(
            {
                "name": row["name"],
                "score": [float(values.mean()), low, high],
                "queries": [float(queries.mean()), *_ends(queries)],
                "queries_of_successes": float(won.mean()) if len(won) else None,
                "ticks": float(np.mean(row["outcomes"]["ticks"])),
                "minus_best_fixed": [less.mean, less.low, less.high],
            }
        )
    for each in result:
        each["frontier"] = not any(_beats(other, each) for other in result)
    return result


def difference(one: Outcomes, other: Outcomes, kind: str, price: float) -> stats.Interval:
    """How much more ``one`` is worth, paired. An interval of success has to stay wide where no episode differs, so it
    is not a bootstrap; the queries' part is added by squares."""
    if kind != "success":
        return stats.bootstrap(worth(one, kind, price) - worth(other, kind, price))
    won = stats.paired_shares(*(scores(each, kind) > 0 for each in (one, other)))
    paid = stats.bootstrap(price * (np.array(other["queries"], np.float64) - one["queries"]))
    mean, low, high = won.mean + paid.mean, won.mean - won.low, won.high - won.mean
    low, high = (float(np.hypot(low, paid.mean - paid.low)), float(np.hypot(high, paid.high - paid.mean)))
    return stats.Interval(mean, mean - low, mean + high)


def _ends(values: Floats) -> tuple[float, float]:
    interval = stats.bootstrap(values)
    return interval.low, interval.high


def _beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """At least as good and as cheap, and better in one of them."""
    a, b = (one["score"][0], -one["queries"][0]), (other["score"][0], -other["queries"][0])
    return a != b and a[0] >= b[0] and a[1] >= b[1]


def made(content: Card) -> Card:
    """The card of these values, with its summary and its digest."""
    card = {"schema": SCHEMA, "version": VERSION, **content}
    card["best_fixed"], card["summary"] = best_fixed(card), summary(card)
    return {**card, "digest": digest(card)}


def digest(card: Card) -> str:
    """Over everything but itself."""
    rest = {name: value for name, value in card.items() if name != "digest"}
    return files.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode())


def text(card: Card) -> str:
    """A card has one spelling: keys in order, a line for each field and each row."""
    lines = []
    for name in sorted(card):
        value = card[name]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            inner = ",\n".join(json.dumps(each, sort_keys=True, allow_nan=False) for each in value)
            lines.append(f"{json.dumps(name)}: [\n{inner}\n]")
        else:
            lines.append(f"{json.dumps(name)}: {json.dumps(value, sort_keys=True, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: Path) -> Card:
    """A card that is as it was written, or that of a sweep's folder: every byte is checked against its digest, and its
    summary against its episodes. It may be a stranger's: nothing of it is run."""
    path = path / CARD if path.is_dir() else path
    try:
        data = safe_open.content(path, MOST)
    except FileNotFoundError:
        raise ValueError(f"card: expected the card.json of a sweep, found no {path}") from None
    except OSError as error:
        raise errors.from_os(error, path) from error
    card: Card = verified.parsed(path, data)
    verified.expect(path, card, {"schema": str, "version": int, "digest": str})
    if (card["schema"], card["version"]) != (SCHEMA, VERSION):
        raise ValueError(f"card: expected {SCHEMA} {VERSION}, got {card['schema']} {card['version']}")
    try:
        same = digest(card) == card["digest"] and text(card).encode() == data
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise errors.Damaged(f"{path}: expected what was written there, got other bytes: the digest does not fit")
    verified.expect(path, card, _FIELDS)
    _check(path, card)
    return card


def _check(path: Path, card: Card) -> None:
    """Refuse episodes that do not fit their seeds, and a summary or a choice that is not that of the episodes."""
    for name, split in (("validation", "validation"), ("rows", "test")):
        for row in card[name]:
            for field in OUTCOMES:
                if len(row["outcomes"][field]) != len(card["seeds"][split]):
                    raise errors.Damaged(f"{path}: {name}, {row['name']}: expected an episode for each seed")
    try:
        rules = chosen(card["validation"], card["score"], card["settings"]["price"])
        again = {"best_fixed": best_fixed(card), "summary": summary(card)}
        again["rows"] = [{**row, "rule": rules.get(row["name"])} for row in card["rows"]]
    except (ValueError, TypeError, KeyError) as error:
        raise errors.Damaged(f"{path}: expected numbers of episodes, got something else: {error}") from None
    for name, value in again.items():
        if not verified.alike(json.loads(json.dumps(value)), card.get(name)):
            raise errors.Damaged(f"{path}: {name}: expected what follows from the episodes, got something else")
