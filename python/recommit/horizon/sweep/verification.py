"""Is a card what it says? Its bytes, what it was made from, and a sample of its episodes, played again."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.horizon.sweep import card as cards
from recommit.horizon.sweep import programs
from recommit.horizon.sweep.options import SweepOptions
from recommit.horizon.sweep.run import blocks
from recommit.horizon.sweep.worker import Children, Seat, local
from recommit.storage import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.horizon.sweep.card import Card
    from recommit.horizon.sweep.options import VerifyOptions


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
    if not options.episodes:
        return 0
    requests = sample(card, options.episodes, options.seed)
    look = {"ask": "look", "with": {"seed": card["seeds"]["validation"][0]}}
    with Children(again) as children:
        seat = Seat(again, env, policy)
        live = env is not None or policy is not None
        ask = (lambda asked: local(seat, asked)) if live else children.ask
        for _, reply in ask([look]):
            _same("state of the policy", card.get("state"), reply["state"])
        asked: Iterator[tuple[int, Any]] = ask([request for _, _, request in requests])
        done = 0
        for i, reply in asked:
            _compare(card, *requests[i], reply["outcomes"])
            done += len(requests[i][2]["with"]["seeds"])
            progress(done, options.episodes, requests[i][0]["name"])
    return done


def read(options: VerifyOptions) -> Card:
    """The card, if no byte of it has changed."""
    try:
        return cards.read(options.card)
    except errors.Damaged as error:
        raise Rejected(str(error)) from None


def sweep_of(options: VerifyOptions, card: Card) -> SweepOptions:
    """The options of the sweep that made the card, with programs that the call names."""
    own = {each.name for each in fields(SweepOptions)}
    settings = {name: value for name, value in card["settings"].items() if name in own}
    env = options.env or card["env"]["name"]
    if not options.env and (":" in env or not programs.is_id(env)):
        env = ""
    settings |= {"depths": tuple(settings.get("depths", ())), "out": Path(), "jobs": options.jobs}
    return SweepOptions(**settings, env=env, policy=options.policy)


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
        if what == "env" and now["sha256"] is None:
            _same("env", card[what]["name"], now["name"])
        _same(f"{what} ({card[what]['name']})", card[what].get("sha256"), now["sha256"])
    now_files = programs.tree(options.files)
    for name in sorted({*card["files"], *now_files}):
        _same(f"file {name}", card["files"].get(name), now_files.get(name))


def _same(what: str, expected: Any, got: Any) -> None:
    if expected != got:
        raise Rejected(f"{what}: expected {_short(expected)}, as the card has it, got {_short(got)}")


def _short(value: Any) -> str:
    return "none" if value is None else str(value)[:60]


def sample(card: Card, episodes: int, seed: int) -> list[tuple[dict[str, Any], int, dict[str, Any]]]:
    """Batches of at least so many test and validation episodes, drawn from all rows: row, first episode, request."""
    every = []
    for name, split in (("rows", "test"), ("validation", "validation")):
        for row in card[name]:
            for i, request in enumerate(blocks(row["rule"], card["seeds"][split], card["batch"])):
                every.append((row, i * card["batch"], request))
    order = np.argsort(rng.draw(rng.streams(seed, rng.Purpose.INSTANCES, np.arange(len(every))), 0), kind="stable")
    chosen, count = [], 0
    for i in order.tolist():
        if count >= episodes:
            break
        chosen.append(every[i])
        count += len(every[i][2]["with"]["seeds"])
    return chosen


def _compare(card: Card, row: dict[str, Any], first: int, request: dict[str, Any], outcomes: dict[str, Any]) -> None:
    for i, seed in enumerate(request["with"]["seeds"]):
        for name, values in outcomes.items():
            if values[i] != row["outcomes"][name][first + i]:
                raise Rejected(
                    f"{row['name']}, episode of seed {seed}: {name}: the card has {row['outcomes'][name][first + i]}, "
                    f"played again it is {values[i]}{other_versions(card)}"
                )


def other_versions(card: Card) -> str:
    """Which versions differ from the card's, for whoever wonders why."""
    now = programs.versions()
    there = {name: was for name, was in card["versions"].items() if now.get(name, was) != was}
    other = [f"{name} was {was}, is {now[name]}" for name, was in there.items()]
    return f" ({'; '.join(other)})" if other else ""
