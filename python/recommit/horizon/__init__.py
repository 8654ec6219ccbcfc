"""How much of a plan to commit to before the next observation: rules that need numpy and nothing of this package."""

from __future__ import annotations

from recommit.horizon.actions import Consecutive, FirstEvent, Fixed, Repetition
from recommit.horizon.confidence import Agreement, Confidence, Disagreement, EntropyJump
from recommit.horizon.plans import Plans, Tail
from recommit.horizon.queue import Decision, Queue
from recommit.horizon.rule import Rule, ThresholdRule, WithMemory

__all__ = [
    "Agreement",
    "Confidence",
    "Consecutive",
    "Decision",
    "Disagreement",
    "EntropyJump",
    "FirstEvent",
    "Fixed",
    "Plans",
    "Queue",
    "Repetition",
    "Rule",
    "Tail",
    "ThresholdRule",
    "WithMemory",
]
