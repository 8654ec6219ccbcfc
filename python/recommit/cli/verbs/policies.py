"""``recommit policies`` and ``recommit score``: packaged policies, and scoring of any agent on the leaderboard."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any

from recommit.cli.boards import check_place
from recommit.evaluate.score import ScoreOptions
from recommit.policy import pretrained
from recommit.results.table import Grid, best, figure, number, percent
from recommit.storage.terminal_text import tell

if TYPE_CHECKING:
    from collections.abc import Callable


def policies(json: bool = False) -> None:
    """List the trained policies in the package and what they reach.

    Their names stand for their folders.

    Args:
        json: Print their cards as JSON.
    """
    cards = {name: pretrained.card(name) for name in pretrained.names()}
    tell(dumps(cards, indent=2) if json else text(cards))


def text(cards: dict[str, dict[str, Any]]) -> str:
    """A table with a row per policy and budget, compared with the best fixed depth."""
    rows = [
        (name, card, row, _best_fixed(card, row["budget"]))
        for name, card in cards.items()
        for row in card["figures"]
        if row["agent"] == "adaptive"
    ]
    columns: dict[str, Callable[[Any], str]] = {
        "policy": lambda each: each[0],
        "budget": lambda each: f"{each[2]['budget']}, K = {each[2]['decisions']}",
        "solved, % (95 %)": lambda each: figure(each[2], "solve_rate", 1, 100.0),
        "actions": lambda each: number(each[2]["actions_per_episode"]),
        "best fixed depth of its plans, %": lambda each: f"{percent(each[3]['solve_rate'])} (h = {_depth(each[3])})",
        "actions of it": lambda each: number(each[3]["actions_per_episode"]),
        "trained in": lambda each: f"{60 * each[1]['hours']:.0f} min of one core",
    }
    notes = [f"{name}: {card['about']}; commit {card['commit']}, seed {card['seed']}" for name, card in cards.items()]
    return "\n".join([Grid.by(columns, rows).markdown(), "", *notes])


def _best_fixed(card: dict[str, Any], budget: str) -> dict[str, Any]:
    rows = {
        _depth(row): row for row in card["figures"] if row["agent"].startswith("fixed-") and row["budget"] == budget
    }
    found = best({depth: row["solve_rate"] for depth, row in rows.items()})
    assert found is not None
    return rows[found]


def _depth(row: dict[str, Any]) -> int:
    return int(row["agent"].removeprefix("fixed-"))


def score(options: ScoreOptions, json: bool = False) -> None:
    """Score an agent on a split of the leaderboard, or check such a record.

    Args:
        json: Print the record without its commitments as JSON.
    """
    from recommit.evaluate import score as scoring

    if options.out is not None:
        check_place(options.out)
    record = scoring.score(options)
    if json:
        tell(dumps({key: value for key, value in record.items() if key != "commitments"}, indent=2))
        return
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "agent": lambda _: record["name"],
        "split": lambda _: record["split"],
        "K": lambda row: str(row["decisions"]),
        "solved, % (95 %)": lambda row: figure(row, "solve_rate", 1, 100.0),
        "actions": lambda row: number(row["actions_per_episode"]),
        "observations": lambda row: number(row["decisions_per_episode"]),
        "value, points (95 %)": lambda row: figure(row, "value", 1, 100.0),
    }
    tell(Grid.by(columns, record["rows"]).markdown())
    where = f"written to {options.out}"
    if options.verify:
        unseen = "who played them, kind and sha256 of the agent, the version of recommit"
        where = f"{options.verify}: figures follow from its commitments; not checked: {unseen}"
    tell(f"\n{where}; sha256 {record['sha256'][:16]}, agent {record['agent']['kind']} {record['agent']['sha256'][:16]}")
