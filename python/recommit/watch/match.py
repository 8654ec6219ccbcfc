"""A match: a policy at its own depths beside the same plans at a fixed depth, on one level and under one budget.

live.PolicyMatch        plays, which needs torch
recorded.RecordedMatch  was played before; ``terminal`` shows either, ``recorded.page`` a recording in a browser
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recommit.graph.regret import CAUSES
from recommit.policy.config import PLAN_LENGTH
from recommit.puzzles.registry import TASKS
from recommit.report.episodes import pack_episode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recommit.prices import Prices
    from recommit.puzzles.levels import Grid
    from recommit.puzzles.puzzle import Puzzle

#: The fixed depth that is shown first.
USUAL = 4


@dataclass(frozen=True, eq=False)
class Level:
    """Start state of a match."""

    task: Puzzle
    state: Grid
    title: str

    def described(self) -> dict[str, Any]:
        """Fields for a page."""
        rows, cols = self.state.shape
        return {"title": self.title, "rows": rows, "cols": cols, "state": self.state.tobytes().hex()}


@dataclass(frozen=True)
class About:
    """Description of a match: policy, puzzle, budget and prices."""

    policy: str
    #: sha256 of the policy's files.
    weights: str
    task: str
    #: The depths that its head chooses from.
    depths: tuple[int, ...]
    budget: int
    #: Definition of an episode's value, in words.
    value: str
    #: Command that plays the match again.
    command: str = ""

    @property
    def fixed(self) -> tuple[int, ...]:
        """Fixed depths that the policy's own are compared with: all of a plan."""
        return tuple(range(1, max(PLAN_LENGTH, *self.depths) + 1))

    def described(self) -> dict[str, Any]:
        """Fields for a page."""
        return {**vars(self), "depths": list(self.depths), "causes": list(CAUSES)}


@dataclass(frozen=True)
class Commitment:
    """One observation, its plan and commitment, and its regret."""

    depth: int
    executed: int
    #: All actions; ``depth`` of them were committed to.
    plan: tuple[int, ...]
    #: Probabilities of the policy's own depths, in 255ths.
    chances: tuple[int, ...]
    #: Regret against the best of all depths (None: not known), the nearest best depth, and an index of ``CAUSES``, -1
    #: if no depth is better.
    regret: float | None = None
    best: int = 0
    cause: int = -1


@dataclass(frozen=True)
class Played:
    """An episode: its commitments, and the exact distance to the goal before and after each."""

    commitments: tuple[Commitment, ...]
    distances: tuple[int, ...]
    solved: bool

    def packed(self) -> dict[str, Any]:
        """Packed form for pages."""
        every = self.commitments
        known = all(each.regret is not None for each in every)
        costs = [each.regret or 0.0 for each in every], [each.best for each in every], [each.cause for each in every]
        return pack_episode(
            [each.depth for each in every],
            [each.executed for each in every],
            self.distances,
            (action for each in every for action in each.plan),
            solved=self.solved,
            whole=True,
            chances=bytes(chance for each in every for chance in each.chances),
            costs=costs if known else None,
        )

    @classmethod
    def unpacked(cls, values: Mapping[str, Any], depths: int) -> Played:
        """Inverse of ``packed``, for a policy with this number of depths."""
        rows, length = [], len(values["w"]) // max(len(values["h"]), 1)
        for k, (depth, executed) in enumerate(zip(values["h"], values["x"], strict=True)):
            plan = tuple(map(int, values["w"][length * k : length * (k + 1)]))
            chances = tuple(bytes.fromhex(values["p"][2 * depths * k : 2 * depths * (k + 1)]))
            cost = (values["r"][k] / 1000, int(values["b"][k], 36), int(values["c"][k]) - 1) if "r" in values else ()
            rows.append(Commitment(int(depth, 36), int(executed, 36), plan, chances, *cost))
        return cls(tuple(rows), tuple(values["d"]), bool(values["solved"]))


class Match(Protocol):
    """A policy that can be watched."""

    about: About

    def level(self, number: int) -> Level:
        """The level of this number; raises ``LookupError`` or ``ValueError`` if there is none."""

    def episode(self, level: Level, depth: int) -> Played:
        """An episode from one of its levels at a fixed ``depth``, or with 0 at the policy's own."""


def of_state(task: str, state: Grid, title: str) -> Level:
    """Make a level from any state of a puzzle, which is checked."""
    rows, cols = state.shape
    puzzle = TASKS[task].of_states((int(rows), int(cols)))
    puzzle.rows, puzzle.cols = int(rows), int(cols)  # some puzzles take any size
    puzzle.check(state[None])
    return Level(puzzle, state, title)


def ends(level: Level, played: Played) -> list[Grid]:
    """The board at every observation, and at the end."""
    states = [level.state]
    for each in played.commitments:
        actions = np.array([each.plan[: each.executed]], np.uint8)
        states.append(level.task.execute(states[-1][None], actions, np.array([each.executed], np.int32)).states[0])
    return states


def words(prices: Prices) -> str:
    """Definition of an episode's value at these prices, in words."""
    return f"solved, less {' and '.join(prices.words)}" if prices.words else "solved or not"


def cost(regret: float, best: int, cause: int) -> str:
    """Regret of a commitment, the best depth and the cause, in words."""
    if cause < 0:
        return "none"
    lost = "the solution" if round(regret, 3) == 1 else f"{regret:.3f}"
    return f"{lost} lost, best was h = {best} ({CAUSES[cause]})"
