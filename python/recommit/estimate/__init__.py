"""What a run will take, counted before anything is loaded: parameters, passes, operations, bytes, time.

    estimate = recommit.estimate.estimate(config, model, task, Machine(CARDS["a100"], gpus=8))

Importing this costs nothing; ``estimate`` imports torch and transformers when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.estimate.counting.passes import EvaluationStage
from recommit.estimate.machine.cards import CARDS, SHARE, Card, Machine, machine
from recommit.estimate.results import GIB, Count, Estimate, Memory, ModelSize, Phase, Rate

if TYPE_CHECKING:
    from recommit.estimate.counting.passes import Stage
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ModelConfig

__all__ = [
    "CARDS",
    "GIB",
    "SHARE",
    "Card",
    "Count",
    "Estimate",
    "EvaluationStage",
    "Machine",
    "Memory",
    "ModelSize",
    "Phase",
    "Rate",
    "estimate",
    "machine",
]


def estimate(config: Stage, model: ModelConfig, task: Puzzle, machine: Machine, *, fit: bool = True) -> Estimate:
    """Estimate a stage on a machine; where training does not fit, with the settings under which it does (``fit``).

    ``model`` is that of the warm start, also for reinforcement, whose recipe does not name one.
    """
    from dataclasses import replace

    from recommit.estimate.estimating import counted
    from recommit.estimate.fit import settings

    result = counted(config, model, task, machine)
    return result if result.fits or not fit else replace(result, fits_with=settings(config, model, task, machine))
