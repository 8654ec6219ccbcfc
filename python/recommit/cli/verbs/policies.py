"""``recommit policies`` and ``recommit score``: what comes with the package, and how good any agent is."""

from __future__ import annotations

from json import dumps
from typing import Any

from recommit.evaluate.score import ScoreOptions
from recommit.policy import pretrained
from recommit.storage.terminal_text import grid, tell


def policies(json: bool = False) -> None:
    """List the trained policies that come with the package, and what they reach; their names stand for their folders.

    Args:
        json: Print their cards as JSON.
    """
    cards = {name: pretrained.card(name) for name in pretrained.names()}
    tell(dumps(cards, indent=2) if json else text(cards))


def text(cards: dict[str, dict[str, Any]]) -> str:
    """A line for each policy and budget, and the best fixed depth beside it."""
    head = ("policy", "budget", "solved, %", "95 % interval", "actions", "best fixed depth, %", "actions", "trained in")
    rows = [
        _row(name, card, row) for name, card in cards.items() for row in card["figures"] if row["agent"] == "adaptive"
    ]
    notes = [f"{name}: {card['about']}; commit {card['commit']}, seed {card['seed']}" for name, card in cards.items()]
    return "\n".join([grid(head, rows), "", *notes])


def _row(name: str, card: dict[str, Any], row: dict[str, Any]) -> list[str]:
    fixed = [r for r in card["figures"] if r["agent"].startswith("fixed-") and r["budget"] == row["budget"]]
    best = max(fixed, key=lambda each: each["solve_rate"])
    return [
        name,
        f"{row['budget']}, K = {row['decisions']}",
        f"{100 * row['solve_rate']:.1f}",
        f"{100 * row['solve_low']:.1f} .. {100 * row['solve_high']:.1f}",
        f"{row['actions_per_episode']:.1f}",
        f"{100 * best['solve_rate']:.1f} (h = {best['agent'].removeprefix('fixed-')})",
        f"{best['actions_per_episode']:.1f}",
        f"{60 * card['hours']:.0f} min of one core",
    ]


def score(options: ScoreOptions, json: bool = False) -> None:
    """Score any agent on a frozen split, and write a record that anybody can check; or check one.

    Args:
        json: Print the record without its commitments as JSON.
    """
    from recommit.evaluate import score as scoring

    record = scoring.score(options)
    if json:
        tell(dumps({key: value for key, value in record.items() if key != "commitments"}, indent=2))
        return
    head = ("agent", "split", "K", "solved, %", "95 % interval", "actions", "observations", "value (95 %)")
    tell(grid(head, [[record["name"], record["split"], *_scored(row)] for row in record["rows"]]))
    where = f"written to {options.out}"
    if options.verify:
        played = f", and {options.agent} plays so" if options.agent else "; nobody played again, as no agent was named"
        where = f"{options.verify}: figures follow from its commitments{played}"
    tell(f"\n{where}; sha256 {record['sha256'][:16]}, agent {record['agent']['kind']} {record['agent']['sha256'][:16]}")


def _scored(row: dict[str, Any]) -> list[str]:
    low, high = 100 * row["solve_low"], 100 * row["solve_high"]
    value = [100 * row[name] for name in ("value", "value_low", "value_high")]
    return [
        str(row["decisions"]),
        f"{100 * row['solve_rate']:.1f}",
        f"{low:.1f} .. {high:.1f}",
        f"{row['actions_per_episode']:.1f}",
        f"{row['decisions_per_episode']:.1f}",
        f"{value[0]:.1f} ({value[1]:.1f} .. {value[2]:.1f})",
    ]
