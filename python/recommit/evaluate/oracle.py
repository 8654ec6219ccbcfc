"""The best that any choice of depths could do with one action head: an exact program, and two greedy rules.

``dp`` knows every state and every decision left: it solves as many instances as any choice of depths can, and among those
choices it takes the fewest actions, then the fewest decisions. It is a ceiling. The greedy rules look one commitment
ahead and are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.config import MAX_ACTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.train.reach import Choose, Reach

#: Costs are decisions + STEP * actions + FAILED where unsolved: whole numbers, compared at once.
STEP = 1 << 8
FAILED = 1 << 32


@dataclass(frozen=True)
class Ceiling:
    """The cheapest way on, for every node and number of decisions left."""

    cost: NDArray[np.int64]  #: [K + 1, nodes]
    column: NDArray[np.int8]  #: [K + 1, nodes]
    #: States that were left out because the graph had grown to its cap; with any, this is a lower bound of the ceiling.
    missing: int

    def choose(self, budget: int) -> Choose:
        """For ``walk`` and ``on_graph`` with this budget."""
        return lambda turn, _episodes, nodes: self.column[budget - turn, nodes].astype(np.int64)


def close(reach: Reach, roots: NDArray[np.int64], budget: int, columns: NDArray[np.int64], cap: int) -> int:
    """Look at every state from which some choice of depths could still solve; how many were left out by ``cap``.

    A state is left out for good where it is lost, or further away than all the decisions left could take it.
    """
    front = np.unique(roots)
    first = np.full(len(reach), -1)
    first[front] = budget
    missing = 0
    for left in range(budget, 0, -1):
        distance = reach.task.distance(reach.states[front])
        front = front[(distance > 0) & (distance <= MAX_ACTIONS * left)]
        room = max(cap - int(reach.expanded.sum()), 0)
        fresh = front[~reach.expanded[front]]
        missing += max(len(fresh) - room, 0)
        reach.expand(fresh[:room])
        seen = front[reach.expanded[front]]
        after = np.unique(reach.landing[seen][:, columns][~reach.solved[seen][:, columns]])
        first = np.concatenate([first, np.full(len(reach) - len(first), -1)])
        # A state that was reached before had more decisions left then: all that follows has been looked at.
        front = after[first[after] < 0]
        first[front] = left - 1
    return missing


def ceiling(
    reach: Reach, starts: NDArray[np.uint8], budget: int, depths: tuple[int, ...], *, cap: int = 1 << 18
) -> Ceiling:
    """Over ``depths``; exact, unless ``cap`` states do not suffice."""
    columns = np.array([reach.depths.index(depth) for depth in depths])
    missing = close(reach, reach.nodes(starts), budget, columns, cap)
    nodes = len(reach)
    cost = np.full((budget + 1, nodes), FAILED, np.int64)
    column = np.zeros((budget + 1, nodes), np.int8)
    cost[:, reach.goal] = 0
    known = np.flatnonzero(reach.expanded)
    shallow = STEP * min(depths) + 1
    for left in range(1, budget + 1):
        solved, landing = reach.solved[known][:, columns], reach.landing[known][:, columns]
        later = np.where(solved, 0, cost[left - 1][landing])
        each = 1 + STEP * reach.executed[known][:, columns].astype(np.int64) + later
        column[left, known] = columns[each.argmin(axis=1)]
        cost[left, known] = each.min(axis=1)
        hopeless = ~reach.expanded & ~reach.goal
        cost[left, hopeless] = FAILED + left * shallow  # the shallowest commitments until the end
    return Ceiling(cost, column, missing)


def greedy(reach: Reach, depths: tuple[int, ...], *, rate: bool) -> Choose:
    """The depth whose commitment lowers the distance most, or most per action; ties to the smaller depth."""
    columns = np.array([reach.depths.index(depth) for depth in depths])

    def choose(turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        del turn, episodes
        here = reach.task.distance(reach.states[nodes])[:, None]
        landing = reach.landing[nodes][:, columns]
        after = reach.task.distance(reach.states[landing.reshape(-1)]).reshape(landing.shape)
        gained = np.where((here < 0) | (after < 0), -np.inf, here - after)
        if rate:
            gained = gained / np.maximum(reach.executed[nodes][:, columns], 1)
        result: NDArray[np.int64] = columns[gained.argmax(axis=1)]
        return result

    return choose
