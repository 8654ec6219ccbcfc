"""Rules for how much of a plan to commit to before the next observation; they need numpy alone."""

from __future__ import annotations

from pathlib import Path

from recommit.horizon.actions import Consecutive, FirstEvent, Fixed, LowSpeed, Repetition
from recommit.horizon.combining import BackwardCoherence, TemporalEnsemble
from recommit.horizon.confidence import Agreement, Confidence, Disagreement, EntropyJump
from recommit.horizon.plans import Plans, Tail
from recommit.horizon.queue import Decision, Queue
from recommit.horizon.rule import Rule, ThresholdRule, WithMemory

__all__ = [
    "Agreement",
    "BackwardCoherence",
    "Confidence",
    "Consecutive",
    "Decision",
    "Disagreement",
    "EntropyJump",
    "FirstEvent",
    "Fixed",
    "LowSpeed",
    "Plans",
    "Queue",
    "Repetition",
    "Rule",
    "Tail",
    "TemporalEnsemble",
    "ThresholdRule",
    "WithMemory",
    "load",
]


def load(card: Path | str) -> Rule:
    """Load the rule that a sweep recommends, from its card.json or its folder; checks the card's digest and figures."""
    from recommit.horizon.sweep import card as cards
    from recommit.horizon.sweep import rules, table

    content = cards.read(Path(card))
    name = table.recommended(content)
    return rules.rule_of(next(row["rule"] for row in content["rows"] if row["name"] == name))
