"""Estimates of a run before anything is loaded: parameters, observations, FLOPs, bytes, time.

    for estimate in recommit.estimate.EstimateOptions("paper-sliding", gpus=8).estimates():
        print(recommit.estimate.text(estimate))

Cheap to import; estimates need torch and transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.estimate.costs import Estimate, Memory, PhaseCost, estimate, text
    from recommit.estimate.machine import GIB, Machine
    from recommit.estimate.options import EstimateOptions

__all__ = ["GIB", "Estimate", "EstimateOptions", "Machine", "Memory", "PhaseCost", "estimate", "text"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "recommit.estimate.costs": "Estimate Memory PhaseCost estimate text",
        "recommit.estimate.machine": "GIB Machine",
        "recommit.estimate.options": "EstimateOptions",
    },
)
