"""Evaluating agents: episodes, metrics with intervals, the oracle depth, and every table of the paper.
``evaluate(EvaluateOptions(run, out, ...))`` is ``recommit evaluate`` from Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recommit.evaluate.evaluation import Evaluation, evaluate
    from recommit.evaluate.options import EvaluateOptions
    from recommit.evaluate.store import EvaluationStore
    from recommit.evaluate.summaries import compare

_HOME = {
    "EvaluateOptions": "options",
    "Evaluation": "evaluation",
    "EvaluationStore": "store",
    "compare": "summaries",
    "evaluate": "evaluation",
}
__all__ = ["EvaluateOptions", "Evaluation", "EvaluationStore", "compare", "evaluate"]


def __getattr__(name: str) -> Any:
    """A name that is imported when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'recommit.evaluate' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"recommit.evaluate.{_HOME[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
