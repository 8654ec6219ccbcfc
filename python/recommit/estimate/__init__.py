"""What a run will take, estimated before anything is loaded: parameters, observations, FLOPs, bytes, time.

    for estimate in recommit.estimate.EstimateOptions("paper-sliding", gpus=8).estimates():
        print(recommit.estimate.text(estimate))

Importing this costs nothing; estimates need torch and transformers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recommit.estimate.machine import CARDS, GIB, Machine
from recommit.estimate.options import EstimateOptions

if TYPE_CHECKING:
    from recommit.estimate.costs import Estimate, Memory, PhaseCost, estimate, text
    from recommit.estimate.schedule import EvaluationStage

__all__ = [
    "CARDS",
    "GIB",
    "Estimate",
    "EstimateOptions",
    "EvaluationStage",
    "Machine",
    "Memory",
    "PhaseCost",
    "estimate",
    "text",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'recommit.estimate' has no attribute {name!r}")
    home = "schedule" if name == "EvaluationStage" else "costs"
    value = globals()[name] = getattr(import_module(f"recommit.estimate.{home}"), name)
    return value
