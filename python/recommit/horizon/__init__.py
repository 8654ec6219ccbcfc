"""How much of a plan to commit to before the next observation: rules that need numpy and nothing of this package."""

from __future__ import annotations

from recommit.horizon.confidence import Confidence, EntropyJump
from recommit.horizon.consecutive import Consecutive
from recommit.horizon.fixed import FirstEvent, Fixed, Repetition
from recommit.horizon.memory import WithMemory
from recommit.horizon.plans import Plans, Tail
from recommit.horizon.queue import Decision, Queue
from recommit.horizon.rule import Rule, ThresholdRule
from recommit.horizon.sampled import Agreement, Disagreement, medoid

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
    "medoid",
]
