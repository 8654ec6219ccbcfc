"""The best that any choice of depths could do with one action head: an exact program, and two greedy rules.

``dp`` knows every state and every decision left: it solves as many instances as any choice of depths can, and among
those choices it takes the fewest actions, then the fewest decisions. It is a ceiling. The greedy rules look one
commitment ahead and are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.config import MAX_ACTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.play.plan_graph import Chooser, PlanGraph

#: Costs are decisions + STEP * actions + FAILED where unsolved: whole numbers, compared at once.
STEP = 1 << 8
FAILED = 1 << 32
#: By how many wasted actions the search for a solution is widened at a time.
WIDER = 4


@dataclass(frozen=True)
class Ceiling:
    """The cheapest way on, for every node and number of decisions left."""

    cost: NDArray[np.int64]  #: [K + 1, nodes]
    column: NDArray[np.int8]  #: [K + 1, nodes]
    #: The least depth's column: what is taken in states that the program has not seen, from which nothing is solved.
    shallow: int
    #: States that were left out because the graph had grown to its cap; with any, this is a lower bound of the ceiling.
    missing: int

    def choose(self, budget: int) -> Chooser:
        """For ``walk`` and ``on_graph`` with this budget."""

        def choose(turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
            del episodes
            result = np.full(len(nodes), self.shallow, np.int64)
            seen = nodes < self.column.shape[1]
            result[seen] = self.column[budget - turn, nodes[seen]]
            return result

        return choose


def close(reach: PlanGraph, roots: NDArray[np.int64], budget: int, columns: NDArray[np.int64], cap: int) -> int:
    """Look at every state that a best choice of depths may come by; how many were left out by ``cap``.

    A commitment of n actions that lowers the distance by less than n wastes the difference. States are looked at in the
    order of what had been wasted when they were reached, and a start is done with when it has a solution that wastes no
    more than has been looked at: any other wastes more. One that has none is followed to where all is lost.
    """
    level, open_roots = 0, np.unique(roots)
    before = int(reach.expanded.sum())  # of other agents on the same graph
    while len(open_roots):
        wasted = _wasted(reach, open_roots, budget, columns)
        front = np.flatnonzero(wasted <= level)
        if len(front):
            room = max(cap + before - int(reach.expanded.sum()), 0)
            reach.expand(front[:room])
            if len(front) > room:
                return len(front) - room
            continue
        if wasted.min() == FAILED:
            return 0
        cost = costs(reach, budget, columns)[0][budget, open_roots]
        least = cost // STEP - reach.task.distance(reach.states[open_roots])
        open_roots = open_roots[(cost >= FAILED) | (least > level)]
        level = max(level + WIDER, int(wasted.min()))
    return 0


def _wasted(reach: PlanGraph, roots: NDArray[np.int64], budget: int, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fewest wasted actions with which each state that nobody has looked at is reached, ``FAILED`` where it is not.

    A state does not count where it is lost, or further away than all the decisions left could take it.
    """
    distance = reach.task.distance(reach.states).astype(np.int64)
    looked = np.flatnonzero(reach.expanded)
    landing, solved = reach.landing[looked][:, columns], reach.solved[looked][:, columns]
    waste = reach.executed[looked][:, columns] + distance[landing] - distance[looked, None]
    least, now = np.full(len(reach), FAILED), np.full(len(reach), FAILED)
    now[roots] = 0
    for left in range(budget, 0, -1):
        now[(distance <= 0) | (distance > MAX_ACTIONS * left)] = FAILED
        least = np.minimum(least, now)
        on = (now[looked, None] < FAILED) & ~solved
        after = np.full(len(reach), FAILED)
        np.minimum.at(after, landing[on], (now[looked, None] + waste)[on])
        now = after
    least[reach.expanded] = FAILED
    return least


def ceiling(
    reach: PlanGraph, starts: NDArray[np.uint8], budget: int, depths: tuple[int, ...], *, cap: int = 1 << 18
) -> Ceiling:
    """Over ``depths``; exact, unless ``cap`` states do not suffice."""
    columns = np.array([reach.depths.index(depth) for depth in depths])
    missing = close(reach, reach.nodes(starts, budget), budget, columns, cap)
    shallow = int(columns[np.argmin(depths)])
    return Ceiling(*costs(reach, budget, columns), shallow, missing)


def costs(reach: PlanGraph, budget: int, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """``Ceiling.cost`` and ``Ceiling.column`` over what has been looked at."""
    nodes, depths = len(reach), [reach.depths[column] for column in columns]
    cost = np.full((budget + 1, nodes), FAILED, np.int64)
    column = np.full((budget + 1, nodes), columns[np.argmin(depths)], np.int8)
    cost[:, reach.goal] = 0
    looked = np.flatnonzero(reach.expanded)
    shallow = STEP * min(depths) + 1
    solved, landing = reach.solved[looked][:, columns], reach.landing[looked][:, columns]
    taken = 1 + STEP * reach.executed[looked][:, columns].astype(np.int64)
    hopeless = ~reach.expanded & ~reach.goal
    for left in range(1, budget + 1):
        each = taken + np.where(solved, 0, cost[left - 1][landing])
        column[left, looked] = columns[each.argmin(axis=1)]
        cost[left, looked] = each.min(axis=1)
        cost[left, hopeless] = FAILED + left * shallow  # the shallowest commitments until the end
    return cost, column


def greedy(reach: PlanGraph, depths: tuple[int, ...], *, rate: bool) -> Chooser:
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
