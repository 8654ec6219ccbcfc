"""A commitment graph as arrays, and what a way through it costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit.horizon import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Commitments:
    """A commitment graph: a row per state, a column per depth; the columns of every array are ``depths``, ascending."""

    depths: tuple[int, ...]
    landing: NDArray[np.integer]  #: [N, depths] the row of the state where the commitment ends
    executed: NDArray[np.integer]  #: [N, depths] actions until there or until the goal
    goal: Flags  #: [N] solved states
    planned: Flags  #: [N] states with a plan; the rows of others are not read
    distance: NDArray[np.integer]  #: [N] to the goal, below zero where nobody can solve it any more

    def __post_init__(self) -> None:
        shape = (len(self.goal), len(self.depths))
        for name in ("landing", "executed", "distance"):
            checks.shape(name, checks.array(name, getattr(self, name), "iu"), shape[: getattr(self, name).ndim])
        for name in ("goal", "planned"):
            checks.shape(name, checks.array(name, getattr(self, name), "b"), shape[:1])
        chosen = (self.planned & ~self.goal)[:, None]
        checks.between("landing", np.where(chosen, self.landing, 0), 0, max(len(self) - 1, 0), "rows")
        checks.between("executed", np.where(chosen, self.executed, 0), 0, self.depths[-1], "counts")

    def __len__(self) -> int:
        return len(self.goal)

    @cached_property
    def rows(self) -> Nodes:
        """The states where somebody has to choose."""
        return np.flatnonzero(self.planned & ~self.goal)

    def only(self, depths: tuple[int, ...]) -> Commitments:
        """With these depths alone to choose from."""
        columns = [self._column(depth) for depth in depths]
        arrays = (self.landing[:, columns], self.executed[:, columns])
        return Commitments(depths, *arrays, self.goal, self.planned, self.distance)

    def columns(self, depths: NDArray[np.integer], budget: int) -> Nodes:
        """[budget, N] the column of a rule's depths, [N] or [budget, N], row k - 1 with k looks left; any where it has
        no choice.
        """
        values = checks.array("depths", depths, "iu")
        checks.shape("depths", values, (len(self),), (budget, len(self)))
        rows = np.atleast_2d(values)
        result = np.searchsorted(self.depths, rows).clip(max=len(self.depths) - 1)
        wrong = (np.array(self.depths)[result] != rows)[:, self.rows]
        if wrong.any():
            raise ValueError(f"depths: expected those of the graph, {self.depths}, got {rows[:, self.rows][wrong][0]}")
        return np.broadcast_to(result, (budget, len(self)))

    def _column(self, depth: int) -> int:
        if depth not in self.depths:
            raise ValueError(f"depths: expected some of {self.depths}, got {depth}")
        return self.depths.index(depth)


@dataclass(frozen=True)
class Prices:
    """What an action and a look cost, in solved episodes."""

    action: float = 0.0
    look: float = 0.0

    def __post_init__(self) -> None:
        checks.number("action", self.action, 0.0)
        checks.number("look", self.look, 0.0)

    def cost(self, graph: Commitments) -> Floats:
        """[rows, depths] of each commitment where somebody has to choose."""
        return self.of(graph.executed[graph.rows])

    def of(self, executed: NDArray[np.integer]) -> Floats:
        """A look and so many actions."""
        return executed.astype(np.float64) * self.action + self.look
