"""Is a card what it says? Its bytes, what it was made from, and a sample of its episodes, played again."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.horizon.sweep import card as cards
from recommit.horizon.sweep import programs
from recommit.horizon.sweep.options import MOST_SEED, SweepOptions
from recommit.horizon.sweep.run import ELSEWHERE, blocks, content, made_from
from recommit.horizon.sweep.worker import Players
from recommit.storage import errors, schema, verified
from recommit.storage.recipe_text import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.horizon.sweep.card import Card
    from recommit.horizon.sweep.options import VerifyOptions
    from recommit.horizon.sweep.run import Ask
    from recommit.storage.children import Reply, Request

#: Fields of a card that are checked where it is read.
FOLLOWS = ("schema", "version", "best_fixed", "summary", "digest")


#: Why an honest card may be rejected, in the messages of what was played otherwise.
CHANCE = (
    "a policy or an environment that draws without a seed cannot be verified (a policy may draw from the global "
    "streams of Python, numpy and torch)"
)


class Rejected(errors.DataError):
    """A card that is not what it says; the message says in what."""


def verify(
    options: VerifyOptions,
    *,
    env: Callable[[], Any] | None = None,
    policy: Any = None,
    progress: Callable[[int, int, str], None] = lambda _done, _total, _what: None,
) -> int:
    """Check a card and play a sample of its episodes again; how many episodes that were.

    A changed byte, a policy, an environment, a file or code that hashes otherwise and an episode that ends otherwise
    are each ``Rejected`` with a sentence. Nothing that the card names is run: the call says where policy and
    environment are.
    """
    card = read(options)
    again = sweep_of(options, card)
    _check_sources(options, card, env, policy)
    _same("seeds", card["seeds"], again.seeds)
    if not options.episodes:
        return 0
    with Players(again, env, policy) as players:
        swept = content(again, Recorded(card, players.ask).get, lambda *_: None)
        made = {**made_from(again, env, policy), **swept, "versions": card["versions"]}
        for name in sorted((card.keys() | made.keys()) - set(FOLLOWS)):
            _same({"state": "weights of the policy"}.get(name, name), card.get(name), made.get(name))
        seed = secrets.randbelow(MOST_SEED) if options.seed is None else options.seed
        requests, done = sample(card, options.episodes, seed), 0
        total = sum(len(request["with"]["seeds"]) for *_, request in requests)
        for i, reply in players.ask([request for _, _, request in requests]):
            _compare(card, *requests[i], reply["outcomes"])
            done += len(requests[i][2]["with"]["seeds"])
            progress(done, total, requests[i][0]["name"])
    return done


class Recorded:
    """What was played, from the card; what else a sweep asks, of the policy. So a sweep is made again, which gives
    the rows, thresholds and episodes that there must be: none can be left out."""

    def __init__(self, card: Card, ask: Ask) -> None:
        self._card, self._ask = card, ask
        self._episodes: dict[tuple[str, int], dict[str, Any]] = {}
        for name, split in (("validation", "validation"), ("rows", "test")):
            for row in card[name]:
                for i, seed in enumerate(card["seeds"][split]):
                    outcome = {field: row["outcomes"][field][i] for field in cards.OUTCOMES}
                    self._episodes[_key(row["rule"]), seed] = outcome

    def get(self, requests: Sequence[Request], heard: Callable[[Request], None]) -> list[Reply]:  # noqa: ARG002
        """An answer to each, in order."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Reply:
        if request["ask"] == "play":
            rule, seeds = request["with"]["rule"], request["with"]["seeds"]
            found = [self._episodes.get((_key(rule), seed)) for seed in seeds]
            if None in found:
                hint = f"; {CHANCE}" if rule["rule"] != "Fixed" else ""
                raise Rejected(
                    f"rows: expected {_key(rule)}, which a sweep of this policy has, got no episodes of it{hint}"
                )
            return {"outcomes": {name: [each[name] for each in found if each] for name in cards.OUTCOMES}}
        ((_, reply),) = self._ask([request])
        if request["ask"] == "rules":
            there = {
                name: [row["rule"] for row in self._card["validation"] if row["name"] == name]
                for name in reply["rules"]
            }
            reply["rules"] = {
                name: there[name] if verified.alike(there[name], now, 1e-6) else now
                for name, now in reply["rules"].items()
            }
        return reply


def _key(rule: dict[str, Any]) -> str:
    return json.dumps(rule, sort_keys=True)


def read(options: VerifyOptions) -> Card:
    """The card, if no byte of it has changed."""
    try:
        return cards.read(options.card)
    except errors.Damaged as error:
        raise Rejected(str(error)) from None


def sweep_of(options: VerifyOptions, card: Card) -> SweepOptions:
    """The options of the sweep that made the card, with programs that the call names."""
    own = {each.name for each in fields(SweepOptions)} - set(ELSEWHERE)
    _same("settings", sorted(card["settings"]), sorted(own))
    _same("arguments of the environment (--env-kwargs)", card["settings"]["env_kwargs"], options.env_kwargs)
    env = options.env or card["env"]["name"]
    if not options.env and (":" in env or not programs.is_id(env)):
        env = ""
    told = {"out": Path(), "env": env, "files": options.files, "policy": options.policy, "lerobot": options.lerobot}
    try:
        parsed: SweepOptions = schema.parse(SweepOptions, {**card["settings"], **told}, owner="settings")
        return parsed
    except (TypeError, ValueError) as error:
        raise Rejected(f"settings: {error}") from None


def _check_sources(options: VerifyOptions, card: Card, env: Any, policy: Any) -> None:
    """Whether policy, environment, files and this package are those of the card; nothing of them is run."""
    _same("code of recommit.horizon", card["code"], programs.code())
    made = sweep_of(options, card)
    for what, live, name in (("policy", policy, made.policy), ("env", env, made.env)):
        if live is None and not name:
            raise ValueError(
                f"{what}: expected --{what} with the program that the card calls {card[what]['name']}, since nothing "
                "that a card names is run, got none"
            )
        now = programs.of_object(live) if live is not None else programs.source(what, name)
        _same(what, card[what]["name"], now["name"])
        _same(f"{what}: {now['name'].partition(':')[0]}", card[what].get("sha256"), now["sha256"])
    now_files = programs.tree(made.files)
    for name in sorted({*card["files"], *now_files}):
        _same(f"file {name}", card["files"].get(name), now_files.get(name))


def _same(what: str, expected: Any, got: Any) -> None:
    if expected == got:
        return
    if all(re.fullmatch("[0-9a-f]{64}", str(each)) for each in (expected, got)):
        raise Rejected(f"{what} has changed since the card was written: sha256 {expected[:12]} then, {got[:12]} now")
    raise Rejected(f"{what}: expected {_shown(expected)}, as the card has it, got {_shown(got)}")


def _shown(value: Any) -> str:
    return "none" if value is None else cut(str(value), 64)


def sample(card: Card, episodes: int, seed: int) -> list[tuple[dict[str, Any], int, dict[str, Any]]]:
    """Batches of at least ``episodes`` episodes, drawn from all rows, and the most extreme episodes of each test row
    and of its choice on validation: row, first episode, request."""
    every, always = list[tuple[dict[str, Any], int, dict[str, Any]]](), set[int]()
    chosen = [row["rule"] for row in card["rows"]]
    for name, split in (("rows", "test"), ("validation", "validation")):
        for row in card[name]:
            first, reported = len(every), name == "rows" or row["rule"] in chosen
            for i, request in enumerate(blocks(row["rule"], card["seeds"][split], card["batch"])):
                every.append((row, i * card["batch"], request))
            always |= {first + place // card["batch"] for place in _extremes(card, row)} if reported else set()
    order = np.argsort(rng.draw(rng.streams(seed, rng.Purpose.INSTANCES, np.arange(len(every))), 0), kind="stable")
    drawn, count = list[int](), 0
    for i in order.tolist():
        if count >= episodes:
            break
        drawn.append(i)
        count += len(every[i][2]["with"]["seeds"])
    return [every[i] for i in dict.fromkeys([*drawn, *sorted(always)])]


def _extremes(card: Card, row: dict[str, Any]) -> list[int]:
    """The episodes that move a row's figures most: with the fewest and the most queries, the best and the worst."""
    queries, merits = np.array(row["outcomes"]["queries"]), cards.scores(row["outcomes"], card["score"])
    return [int(place) for each in (queries, merits) for place in (each.argmin(), each.argmax())]


def _compare(card: Card, row: dict[str, Any], first: int, request: dict[str, Any], outcomes: dict[str, Any]) -> None:
    for i, seed in enumerate(request["with"]["seeds"]):
        for name, values in outcomes.items():
            if values[i] != row["outcomes"][name][first + i]:
                raise Rejected(
                    f"{row['name']}, episode of seed {seed}: {name}: the card has {row['outcomes'][name][first + i]}, "
                    f"played again it is {values[i]}{other_versions(card)}; {CHANCE}"
                )


def other_versions(card: Card) -> str:
    """Versions that differ from the card's, in brackets; empty where none does."""
    now = programs.versions()
    there = {name: was for name, was in card["versions"].items() if now.get(name, was) != was}
    other = [f"{name} was {was}, is {now[name]}" for name, was in there.items()]
    return f" ({'; '.join(other)})" if other else ""
