"""The solver's plans in the place of the policy's, and what is missing to them: plans or depths."""

from __future__ import annotations

from recommit.graph.optimal.plans import ways, with_optimal_plans

__all__ = ["ways", "with_optimal_plans"]
