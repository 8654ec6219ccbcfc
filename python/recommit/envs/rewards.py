"""Rewards: 1 for solving, and exact progress on top for whoever wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.puzzles import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.envs.options import EnvOptions
    from recommit.puzzles.puzzle import Puzzle

    Bytes = NDArray[np.uint8]
    Bools = NDArray[np.bool_]
    Counts = NDArray[np.int64]
    Floats = NDArray[np.float32]

KINDS = ("sparse", "progress", "distance")


class Rewards:
    """What the actions of some slots earn: solved + discount * P(after) - P(before), with P by kind.

    ========== ==============================================
    sparse     P = 0
    progress   P = -d / d0, d0 the distance of the start
    distance   P = -d
    ========== ==============================================

    d is the exact number of actions to the goal. It counts at most ``max_steps``, and so much where there is no way.
    Since P is a function of the state, 0 at the goal, no optimal policy changes for a learner with this discount.
    """

    def __init__(self, task: Puzzle, options: EnvOptions, slots: int, threads: int | None) -> None:
        checks.choice("reward", options.reward, KINDS)
        if not 0 < options.discount <= 1:
            raise ValueError(f"discount: expected more than 0 and at most 1, got {options.discount}")
        self._task, self._kind, self._discount = task, options.reward, float(options.discount)
        self._farthest, self._threads = options.max_steps, threads
        self.shown = options.info_distance
        #: Does anybody want to know distances?
        self.measures = self.shown or self._kind != "sparse"
        self.shaped = self._kind != "sparse"
        self.distances: Counts = np.zeros(slots, np.int64)
        #: Where the slots were before a reset within the last step.
        self.finals: Counts = self.distances
        self._starts: Counts = np.ones(slots, np.int64)

    def begin(self, states: Bytes, chosen: Bools) -> None:
        """Episodes of the chosen slots start from here."""
        if self.measures:
            self.distances[chosen] = self._distance(np.ascontiguousarray(states[chosen]))
            self._starts[chosen] = self._counted(self.distances[chosen])

    def earn(self, solved: Floats, states: Bytes, fresh: Bools | None, ended: Counts, finals: Bytes) -> Floats:
        """The rewards of a step that led to ``states``.

        ``fresh`` slots have begun an episode instead; those that ``ended`` did so in ``finals``, and are in the next
        one already.
        """
        before = self._potential(self.distances)
        self.distances = self._distance(states)
        reached = self.distances
        if len(ended):
            reached = reached.copy()
            reached[ended] = self._distance(finals)
        self.finals = reached
        earned = solved + self._discount * self._potential(reached) - before if self.shaped else solved
        for begun in (fresh, ended):
            if begun is not None and len(begun):
                self._starts[begun] = self._counted(self.distances[begun])
        if fresh is not None and self.shaped:
            earned[fresh] = 0
        return earned.astype(np.float32)

    def _distance(self, states: Bytes) -> Counts:
        return self._task.distance(states, threads=self._threads).astype(np.int64)

    def _counted(self, distances: Counts) -> Counts:
        return np.minimum(np.where(distances < 0, self._farthest, distances), self._farthest)

    def _potential(self, distances: Counts) -> NDArray[np.float64]:
        counted = self._counted(distances)
        return -counted / self._starts if self._kind == "progress" else -counted.astype(np.float64)
