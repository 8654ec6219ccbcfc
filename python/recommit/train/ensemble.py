"""Distillation of the mean of several views into a policy of one view.

A teacher with several views plans in every state; the target of the learner is the mean distribution along that plan,
all eight actions of it, or up to the goal. States are those of the data, turned at random (``targets.augment``), and a
share of them is left for where the learner's own plan leads, as in DAgger. No solver is asked. The learner begins with
the teacher's weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.policy.config import MAX_ACTIONS
from recommit.policy.policy import CommitPolicy
from recommit.train import targets
from recommit.train.targets import EnsembleTargets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import TargetConfig

    #: Eight actions for every state.
    Planner = Callable[[NDArray[np.uint8]], NDArray[np.uint8]]


class Ensemble:
    """A frozen teacher, and the targets it makes of states."""

    def __init__(self, folder: Path, config: TargetConfig, *, device: object) -> None:
        self.config = config
        self.teacher = CommitPolicy.from_pretrained(folder, device=device).eval().requires_grad_(False)
        if not self.teacher.plans_first:
            raise ValueError("targets.teacher: expected decoder.depth_conditioning none, got embedding")
        self.teacher.replace_augmentations(config.views)

    def learner(self, folder: Path, *, device: object) -> CommitPolicy:
        """The same weights, with one view."""
        policy: CommitPolicy = CommitPolicy.from_pretrained(folder, device=device)
        policy.replace_augmentations(1)
        return policy

    def targets(
        self, task: Puzzle, states: NDArray[np.uint8], planner: Planner, *, seed: int, first: int
    ) -> EnsembleTargets:
        """Turn states into targets; row i is number ``first + i`` of the run, which fixes its random choices."""
        number = first + np.arange(len(states), dtype=np.uint64)
        if self.config.augment and task.turns:
            states = targets.turned(states, targets.symmetries(seed, number))
        if self.config.reached:
            states = landed(task, states, planner(states), self.config.reached, seed=seed, number=number)
        remaining = 1 + rng.below(rng.draw(rng.streams(seed, rng.Purpose.LEFT, number), 0), self.config.budget)
        more = {"remaining": remaining} if self.teacher.config.budget_conditioned else {}
        _, _, plans, chances = self.teacher.plan_with_probabilities(task, states, (MAX_ACTIONS,), **more)
        actions = plans[:, 0].astype(np.int64)
        outcome = task.execute(states, plans[:, 0], np.full(len(states), MAX_ACTIONS, np.int32))
        until = np.where(outcome.solved, outcome.executed, MAX_ACTIONS).astype(np.int32)
        marked = np.arange(4) == actions[..., None]
        return EnsembleTargets(states, actions, marked, until, remaining, chances[:, 0])


def landed(
    task: Puzzle,
    states: NDArray[np.uint8],
    plans: NDArray[np.uint8],
    share: float,
    *,
    seed: int,
    number: NDArray[np.uint64],
) -> NDArray[np.uint8]:
    """A share of states left for where 1 to 8 actions of their plans lead, unless that is the goal."""
    stream = rng.streams(seed, rng.Purpose.REACHED, number)
    moves = (rng.draw(stream, 0) >> np.uint64(11)).astype(np.float64) * 2.0**-53 < share
    depth = (1 + rng.below(rng.draw(stream, 1), MAX_ACTIONS)).astype(np.int32)
    outcome = task.execute(states, plans, depth)
    moves &= ~outcome.solved
    return np.ascontiguousarray(np.where(moves[:, None, None], outcome.states, states))
