"""A match without a policy: every plan pushes to the right, and some commitments have a cost."""

from __future__ import annotations

import numpy as np

from recommit.puzzles.levels import parse_levels
from recommit.watch.match import About, Commitment, Level, Played, of_state

#: Solved by two pushes to the right; dead where the box is pushed up or down.
LEVEL = "######\n#    #\n#@$ .#\n#    #\n######\n"
RIGHT = 3
#: What one commitment cost, the best depth there, and why.
COSTLY = 0.02, 2, 4
HOSTILE = "x<img src=y onerror=alert(1)>&amp;'\""


class ScriptedMatch:
    """The policy's own depth is always 1, and its first commitment should have been deeper."""

    def __init__(self, budget: int = 4) -> None:
        self.about = About(HOSTILE, "0" * 64, "sokoban", (1, 2, 4, 8), budget, "solved", "recommit play --agent x")

    def level(self, number: int) -> Level:
        if number > 1:
            raise LookupError("there are two levels")
        return of_state("sokoban", parse_levels(LEVEL)[0], f"level {number} {HOSTILE}")

    def episode(self, level: Level, depth: int) -> Played:
        task, here, rows, distances = level.task, level.state, [], [self._far(level.state, level)]
        while len(rows) < self.about.budget and not task.is_solved(here):
            h = depth or 1
            outcome = task.execute(here[None], np.full((1, 8), RIGHT, np.uint8), np.array([h], np.int32))
            cost = COSTLY if not rows and not depth else (0.0, h, -1)
            rows.append(Commitment(h, int(outcome.executed[0]), (RIGHT,) * 8, (204, 51, 0, 0), *cost))
            here = outcome.states[0]
            distances.append(self._far(here, level))
        return Played(tuple(rows), tuple(distances), bool(task.is_solved(here)))

    def _far(self, state: np.ndarray, level: Level) -> int:
        return int(level.task.distance(state[None])[0])
