"""The oracle depth: the optimal choice of depths for the plans of one policy; and two greedy rules.

It knows every state and the decisions left, and reaches the highest value that any choice of depths can: solved, less
the prices of actions and observations. Ties are broken in this order: solved, the fewest actions, the fewest decisions,
the least depth. Without prices the value is solved alone, so that it solves as many instances as possible, and the rest
is ties. The greedy rules look one commitment ahead and are no upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.values import TIE, OptimalValues, backup
from recommit.prices import Prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.build import PolicyGraph
    from recommit.graph.episodes import Chooser
    from recommit.graph.graph import CommitmentGraph, Nodes


#: Costs are decisions + STEP * actions + FAILED where unsolved: whole numbers, compared at once.
STEP = 1 << 8
FAILED = 1 << 32
#: More than the cost of any episode.
NEVER = 1 << 62
#: Most states that are planned for the oracle.
CAP = 1 << 18
#: Wasted actions by which the search for a solution is widened at a time.
WIDER = 4


@dataclass(frozen=True)
class OracleDepths:
    """Optimal depths for every node and number of decisions left."""

    value: NDArray[np.float64]  #: [K + 1, nodes]
    cost: Nodes  #: [K + 1, nodes]
    column: NDArray[np.int8]  #: [K + 1, nodes]
    #: Column of the least depth, which is taken in states without a plan, from which nothing is solved.
    shallow: int
    #: States that were left out because the graph had grown to its cap; with any, this is a lower bound.
    missing: int = 0

    def choose(self, budget: int) -> Chooser:
        """Chooser for episodes with this budget."""

        def choose(turn: int, _episodes: Nodes, nodes: Nodes) -> Nodes:
            result = np.full(len(nodes), self.shallow, np.int64)
            seen = nodes < self.column.shape[1]
            result[seen] = self.column[budget - turn, nodes[seen]]
            return result

        return choose


def oracle(
    graph: PolicyGraph,
    starts: Nodes,
    budget: int,
    depths: tuple[int, ...],
    prices: Prices | None = None,
    *,
    cap: int = CAP,
) -> OracleDepths:
    """Compute the optimal ``depths``, planning the states it needs; exact, unless ``cap`` states do not suffice."""
    prices = prices or Prices()
    missing = search(graph, starts, budget, depths, cap, prices)
    return best_depths(graph, budget, depths, prices, missing)


def best_depths(
    graph: CommitmentGraph, budget: int, depths: tuple[int, ...], prices: Prices | None = None, missing: int = 0
) -> OracleDepths:
    """Back up over the planned states: of the depths that reach the optimal value, the one with the lowest cost."""
    columns = np.array([graph.column(depth) for depth in sorted(depths)])
    best = OptimalValues.of(graph.only(depths), budget, prices)
    rows, hopeless = graph.rows, ~graph.planned & ~graph.goal
    cost, column = np.full(best.value.shape, FAILED, np.int64), np.full(best.value.shape, columns[0], np.int8)
    cost[:, hopeless] += np.arange(budget + 1)[:, None] * (STEP * min(depths) + 1)  # the least depth until the end
    cost[:, graph.goal] = 0
    landing, steps = best.graph.landing[rows], 1 + STEP * best.graph.executed[rows].astype(np.int64)

    def cheapest(remaining: int, before: Nodes, now: Nodes) -> None:
        tied = best.q_values(remaining, rows) >= best.value[remaining, rows, None] - TIE
        each = np.where(tied, steps + before[landing], NEVER)
        column[remaining, rows], now[rows] = columns[each.argmin(axis=1)], each.min(axis=1)

    for _ in backup(budget, cost.__getitem__, cheapest):
        pass
    return OracleDepths(best.value, cost, column, int(columns[0]), missing)


def search(graph: PolicyGraph, roots: Nodes, budget: int, depths: tuple[int, ...], cap: int, prices: Prices) -> int:
    """Plan every state that an optimal choice of depths may visit; returns how many were left out by ``cap``.

    A commitment of n actions that lowers the distance by less than n wastes the difference. States are planned in the
    order of the actions wasted on the way to them. A start is done when no solution with more waste than was searched
    can be better than its best one. A start without a solution is searched until no state within reach is left.
    """
    columns = np.array([graph.column(depth) for depth in depths])
    level, open_roots = 0, np.unique(roots)
    before = int(graph.planned.sum())  # for other agents on the same graph
    while len(open_roots):
        wasted = _wasted(graph, open_roots, budget, columns)
        front = np.flatnonzero(wasted <= level)
        if len(front):
            room = max(cap + before - int(graph.planned.sum()), 0)
            graph.expand(front[:room])
            if len(front) > room:
                return len(front) - room
            continue
        if wasted.min() == FAILED:
            return 0
        open_roots = open_roots[~_done(graph, open_roots, budget, depths, level, prices)]
        level = max(level + WIDER, int(wasted.min()))
    return 0


def _done(
    graph: PolicyGraph, roots: Nodes, budget: int, depths: tuple[int, ...], level: int, prices: Prices
) -> NDArray[np.bool_]:
    """True for starts whose value no solution with more than ``level`` wasted actions can improve.

    Such a solution has more actions than that, and as many observations as its deepest commitments would need.
    """
    best = best_depths(graph, budget, depths, prices)
    value, cost = best.value[budget, roots], best.cost[budget, roots]
    distance = graph.distance[roots].astype(np.int64)
    actions = distance + level + 1
    bound = prices.returns(1.0, actions, -(-actions // max(depths)))
    cheapest = (cost < FAILED) & (cost // STEP - distance <= level)
    return (value > bound + TIE) | ((value >= bound - TIE) & cheapest)


def _wasted(graph: PolicyGraph, roots: Nodes, budget: int, columns: Nodes) -> Nodes:
    """The fewest wasted actions on the way to each state without a plan; ``FAILED`` if it is not reached.

    States do not count if they are unsolvable, or too far from the goal for the decisions left.
    """
    distance, planned = graph.distance.astype(np.int64), graph.rows
    landing = graph.landing[planned][:, columns]
    waste = graph.executed[planned][:, columns] + distance[landing] - distance[planned, None]
    least, now = np.full(len(graph), FAILED), np.full(len(graph), FAILED)
    now[roots] = 0
    for remaining in range(budget, 0, -1):
        now[(distance <= 0) | (distance > graph.plan_length * remaining)] = FAILED
        least = np.minimum(least, now)
        on = (now[planned, None] < FAILED) & ~graph.goal[landing]
        after = np.full(len(graph), FAILED)
        np.minimum.at(after, landing[on], (now[planned, None] + waste)[on])
        now = after
    least[graph.planned] = FAILED
    return least


def greedy(graph: CommitmentGraph, depths: tuple[int, ...], *, rate: bool) -> Chooser:
    """The depth whose commitment lowers the distance most, or most per action; ties to the smaller depth."""
    columns = np.array([graph.column(depth) for depth in depths])

    def choose(_turn: int, _episodes: Nodes, nodes: Nodes) -> Nodes:
        here, after = graph.distance[nodes][:, None], graph.distance[graph.landing[nodes][:, columns]]
        gained = np.where((here < 0) | (after < 0), -np.inf, here - after)
        if rate:
            gained = gained / np.maximum(graph.executed[nodes][:, columns], 1)
        return columns[gained.argmax(axis=1)]

    return choose
