"""Evaluating agents: episodes, metrics with intervals, the oracle depth, and every table of the paper.
``evaluate(EvaluateOptions(run, out, ...))`` is ``recommit evaluate`` from Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.lazy import attach

if TYPE_CHECKING:
    from recommit.evaluate.evaluation import Evaluation, evaluate
    from recommit.evaluate.options import EvaluateOptions
    from recommit.evaluate.store import EvaluationStore
    from recommit.evaluate.summaries import compare

__all__ = ["EvaluateOptions", "Evaluation", "EvaluationStore", "compare", "evaluate"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "recommit.evaluate.evaluation": "Evaluation evaluate",
        "recommit.evaluate.options": "EvaluateOptions",
        "recommit.evaluate.store": "EvaluationStore",
        "recommit.evaluate.summaries": "compare",
    },
)
