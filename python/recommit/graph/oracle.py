"""The best that any choice of depths could do with one action head: an exact program, and two greedy rules.

``dp`` knows every state and every decision left, and reaches the highest value that any choice of depths can: solved,
less what actions and looks cost at the prices that it is asked for. Ties are broken in this order: solved, the fewest
actions, the fewest decisions, the first of the depths. Without prices the value is solved alone, so that it solves as
many instances as can be, and the rest is ties. It is a ceiling. The greedy rules look one commitment ahead and are
none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.commitments import Prices
from recommit.policy.config import MAX_ACTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.plan_graph import Chooser, PlanGraph

#: Values that differ by no more are equal.
TIE = 1e-12
#: Costs are decisions + STEP * actions + FAILED where unsolved: whole numbers, compared at once.
STEP = 1 << 8
FAILED = 1 << 32
#: More than any way costs.
NEVER = 1 << 62
#: States that are looked at for a ceiling, at most.
CAP = 1 << 18
#: By how many wasted actions the search for a solution is widened at a time.
WIDER = 4


@dataclass(frozen=True)
class Ceiling:
    """The best way on, for every node and number of decisions left."""

    value: NDArray[np.float64]  #: [K + 1, nodes]
    cost: NDArray[np.int64]  #: [K + 1, nodes]
    column: NDArray[np.int8]  #: [K + 1, nodes]
    #: [K + 1, nodes] how many depths reach the value: where more than one do, the order of ties decides.
    ties: NDArray[np.int8]
    #: The least depth's column: what is taken in states that the program has not seen, from which nothing is solved.
    shallow: int
    #: States that were left out because the graph had grown to its cap; with any, this is a lower bound of the ceiling.
    missing: int = 0

    def choose(self, budget: int) -> Chooser:
        """For ``walk`` and ``on_graph`` with this budget."""

        def choose(turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
            del episodes
            result = np.full(len(nodes), self.shallow, np.int64)
            seen = nodes < self.column.shape[1]
            result[seen] = self.column[budget - turn, nodes[seen]]
            return result

        return choose


def close(
    reach: PlanGraph, roots: NDArray[np.int64], budget: int, columns: NDArray[np.int64], cap: int, prices: Prices
) -> int:
    """Look at every state that a best choice of depths may come by; how many were left out by ``cap``.

    A commitment of n actions that lowers the distance by less than n wastes the difference. States are looked at in the
    order of what had been wasted when they were reached. A start is done with when no solution that wastes more than
    has been looked at can be better than what it has. One that has none is followed to where all is lost.
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
        open_roots = open_roots[~_done(reach, open_roots, budget, columns, level, prices)]
        level = max(level + WIDER, int(wasted.min()))
    return 0


def _done(
    reach: PlanGraph, roots: NDArray[np.int64], budget: int, columns: NDArray[np.int64], level: int, prices: Prices
) -> NDArray[np.bool_]:
    """Which starts have a way that no solution with more than ``level`` wasted actions can better.

    Such a solution has at least so many actions, and as many looks as its deepest commitments would need for them.
    """
    best = costs(reach, budget, columns, prices)
    value, cost = best.value[budget, roots], best.cost[budget, roots]
    distance = reach.task.distance(reach.states[roots]).astype(np.int64)
    actions = distance + level + 1
    deepest = max(reach.depths[column] for column in columns)
    bound = 1.0 - prices.action * actions - prices.look * -(-actions // deepest)
    cheapest = (cost < FAILED) & (cost // STEP - distance <= level)
    result: NDArray[np.bool_] = (value > bound + TIE) | ((value >= bound - TIE) & cheapest)
    return result


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
    for remaining in range(budget, 0, -1):
        now[(distance <= 0) | (distance > MAX_ACTIONS * remaining)] = FAILED
        least = np.minimum(least, now)
        on = (now[looked, None] < FAILED) & ~solved
        after = np.full(len(reach), FAILED)
        np.minimum.at(after, landing[on], (now[looked, None] + waste)[on])
        now = after
    least[reach.expanded] = FAILED
    return least


def ceiling(
    reach: PlanGraph,
    starts: NDArray[np.uint8],
    budget: int,
    depths: tuple[int, ...],
    prices: Prices | None = None,
    *,
    cap: int = CAP,
) -> Ceiling:
    """Over ``depths``, at ``prices`` or without; exact, unless ``cap`` states do not suffice."""
    prices = prices or Prices()
    columns = np.array([reach.depths.index(depth) for depth in depths])
    missing = close(reach, reach.nodes(starts, budget), budget, columns, cap, prices)
    return replace(costs(reach, budget, columns, prices), missing=missing)


def costs(reach: PlanGraph, budget: int, columns: NDArray[np.int64], prices: Prices | None = None) -> Ceiling:
    """The ceiling over what has been looked at."""
    prices = prices or Prices()
    nodes, least = len(reach), min(reach.depths[column] for column in columns)
    shallow = int(columns[[reach.depths[column] for column in columns].index(least)])
    value, cost = np.zeros((budget + 1, nodes)), np.full((budget + 1, nodes), FAILED, np.int64)
    column, ties = np.full((budget + 1, nodes), shallow, np.int8), np.zeros((budget + 1, nodes), np.int8)
    value[:, reach.goal], cost[:, reach.goal] = 1.0, 0
    looked = np.flatnonzero(reach.expanded)
    landing, executed = (each[looked][:, columns] for each in (reach.landing, reach.executed))
    hopeless = ~reach.expanded & ~reach.goal  # the shallowest commitments until the end
    for remaining in range(1, budget + 1):
        worth = value[remaining - 1][landing] - prices.of(executed)
        best = worth.max(axis=1)
        tied = worth >= best[:, None] - TIE
        each = np.where(tied, 1 + STEP * executed.astype(np.int64) + cost[remaining - 1][landing], NEVER)
        column[remaining, looked] = columns[each.argmin(axis=1)]
        value[remaining, looked], cost[remaining, looked], ties[remaining, looked] = (
            best,
            each.min(axis=1),
            tied.sum(axis=1),
        )
        value[remaining, hopeless] = -remaining * (prices.look + prices.action * least)
        cost[remaining, hopeless] = FAILED + remaining * (STEP * least + 1)
    return Ceiling(value, cost, column, ties, shallow)


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
