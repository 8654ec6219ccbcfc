"""How much each single commitment of a rule gave away, and why.

With k looks left, a commitment to depth h in state s gives away V_k(s) - Q_k(s, h): what the best choice of depths for
these plans is worth there, less what is left after this one. It is never negative, and over an episode it adds up:

    V_K(start) - value of the rule's episode = sum of what its commitments gave away

so that the whole distance between a rule and the ceiling is owed by single commitments, each of which has a cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graphs import values
from recommit.graphs.graph import columns_of
from recommit.graphs.values import ALL_DEPTHS, FREE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graphs.graph import CommitmentGraph
    from recommit.graphs.values import Price
    from recommit.graphs.walks import Walks

    Floats = NDArray[np.float64]

#: Why a commitment gave something away; the first that holds is the cause.
CAUSES = {
    "last look": "there was a depth that would have reached the goal, and no later look to mend it",
    "lost level": "the level could be solved before it and cannot after it",
    "round": "it led back to a state where the episode had been before",
    "too deep": "every best depth was shallower, or the nearest best one was",
    "too shallow": "every best depth was deeper, or the nearest best one was",
}
#: Depths whose values differ by less are equally good.
TIE = 1e-12


@dataclass(frozen=True)
class Regret:
    """By commitment of ``walks``."""

    walks: Walks
    #: What it gave away.
    lost: Floats
    #: Place in ``CAUSES``; what is said of a commitment that gave nothing away means nothing.
    cause: NDArray[np.int8]
    #: A best depth there: the nearest to the one chosen, the shallower of two.
    best: NDArray[np.int64]

    def per_start(self) -> Floats:
        """[starts] what each episode gave away in all."""
        return self.walks.per_start(self.lost)

    def shares(self) -> dict[str, float]:
        """The part of all that was given away by cause; all zero where nothing was."""
        total = float(self.lost.sum())
        sums = np.bincount(self.cause, self.lost, len(CAUSES))
        return {name: float(part / total) if total else 0.0 for name, part in zip(CAUSES, sums, strict=True)}


def regret(
    graph: CommitmentGraph,
    walks: Walks,
    value: Floats,
    price: Price = FREE,
    depths: Sequence[int] = ALL_DEPTHS,
) -> Regret:
    """``value`` [budget + 1, N] is what ``values.best`` says for this price and these depths."""
    left = walks.budget - walks.turn
    lost, best = np.zeros(len(left)), np.zeros(len(left), np.int64)
    for k in np.unique(left):
        rows = np.flatnonzero(left == k)
        nodes, chosen = walks.node[rows], walks.depth[rows]
        lost[rows] = value[k, nodes] - values.quality(value[k - 1], graph, nodes, chosen, price)
        best[rows] = _nearest(graph, value, int(k), nodes, chosen, price, depths)
    return Regret(walks, lost, _causes(graph, walks, left, best), best)


def _nearest(
    graph: CommitmentGraph,
    value: Floats,
    k: int,
    nodes: NDArray[np.int64],
    chosen: NDArray[np.int64],
    price: Price,
    depths: Sequence[int],
) -> NDArray[np.int64]:
    """Of the depths that are worth as much as any, the nearest to the chosen one."""
    nearest, gap = np.zeros(len(nodes), np.int64), np.full(len(nodes), np.inf)
    for column in columns_of(depths):
        depth = np.full(len(nodes), column + 1)
        good = values.quality(value[k - 1], graph, nodes, depth, price) >= value[k, nodes] - TIE
        nearer = good & (np.abs(depth - chosen) < gap)
        nearest[nearer], gap[nearer] = column + 1, np.abs(depth - chosen)[nearer]
    return nearest


def _causes(graph: CommitmentGraph, walks: Walks, left: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.int8]:
    holds = [
        left == 1,
        (graph.distance[walks.node] >= 0) & (graph.distance[walks.landing] < 0),
        walks.came_back(),
        walks.depth > best,
    ]
    result: NDArray[np.int8] = np.select(holds, range(len(holds)), default=len(holds)).astype(np.int8)
    return result


def perfect(distance: NDArray[np.integer], budget: int, price: Price = FREE) -> Floats:
    """V* of states with this exact distance: optimal plans, and the best depths for them.

    A solved episode takes the distance in actions and an eighth of it, rounded up, in looks. Whoever cannot reach the
    goal, or not for less than it is worth, pays the least: one action per look.
    """
    far = np.asarray(distance, np.int64)
    looks = -(-far // 8)
    arrives = (far >= 0) & (looks <= budget)
    worth = np.where(far == 0, 1.0, 1.0 - price.action * far - price.look * looks)
    waits = -budget * (price.action + price.look)
    return np.where(far == 0, 1.0, np.where(arrives, np.maximum(worth, waits), waits))
