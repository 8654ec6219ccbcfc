"""``recommit policies``: the trained policies that come with the package."""

from __future__ import annotations

from json import dumps
from typing import Any

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
