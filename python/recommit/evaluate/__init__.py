"""Measuring agents: episodes, metrics with intervals, an exact ceiling, and every table of the paper.
``evaluate(run, out, ...)`` is ``recommit evaluate`` from Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.evaluate.evaluation import Evaluation
    from recommit.evaluate.measure import evaluate
    from recommit.evaluate.spec import EvaluationSpec
    from recommit.evaluate.store import EvaluationStore
    from recommit.evaluate.summaries import compare

__all__ = ["Evaluation", "EvaluationSpec", "EvaluationStore", "compare", "evaluate"]

_HOME = {
    "Evaluation": "evaluation",
    "EvaluationSpec": "spec",
    "EvaluationStore": "store",
    "compare": "summaries",
    "evaluate": "measure",
}


def __getattr__(name: str) -> Any:
    """A name that is imported when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'recommit.evaluate' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"recommit.evaluate.{_HOME[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
