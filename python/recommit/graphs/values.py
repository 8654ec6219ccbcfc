"""What the best choice of depths is worth in a commitment graph, exactly: with a number of looks, or without one.

Every action and every look has a price, and reaching the goal is worth 1. With k looks left, committing to depth h in s

    Q_k(s, h) = V_{k-1}(where that lands) - price.action * executed(s, h) - price.look
    V_k(s)    = the largest Q_k(s, h) of the depths allowed;   V_0(s) = 0,   V_k(goal) = 1 for every k

Without a number of looks, what remains is the cost to the goal, a shortest path in the graph; it is infinite where no
choice of depths ever arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graphs.graph import PLAN, columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graphs.graph import CommitmentGraph

    Floats = NDArray[np.float64]

ALL_DEPTHS = tuple(range(1, PLAN + 1))
#: Nodes that are worked on together: as many as stay in a processor's cache with their values for 16 prices.
BLOCK = 4096


@dataclass(frozen=True)
class Price:
    """What is paid for every executed action and for every look, where reaching the goal is worth 1."""

    action: float = 0.0
    look: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("price_action", self.action), ("price_look", self.look)):
            if not 0.0 <= value < float("inf"):
                raise ValueError(f"{name}: expected a number of at least 0, got {value}")


#: The goal counts, and nothing has a price.
FREE = Price()


def require_closed(graph: CommitmentGraph) -> None:
    """Refuse a graph whose edges lead out of it: no value in it would be exact."""
    if not graph.closed:
        raise ValueError(
            "graph: expected one whose edges all lead to nodes, got one that was cut; build it with a higher limit"
        )


def best(
    graph: CommitmentGraph, budget: int, prices: Sequence[Price] = (FREE,), depths: Sequence[int] = ALL_DEPTHS
) -> Floats:
    """[budget + 1, N, prices] V of every node by looks left."""
    require_closed(graph)
    action, look = _arrays(prices)
    columns = columns_of(depths)
    open_ = np.flatnonzero(graph.looked)
    executed = graph.executed(columns).astype(np.float64)
    value = np.zeros((budget + 1, len(graph), len(prices)))
    value[:, graph.goal] = 1.0
    for k in range(1, budget + 1):
        for begin in range(0, len(open_), BLOCK):
            nodes = open_[begin : begin + BLOCK]
            value[k, nodes] = _largest(graph, columns, executed, nodes, value[k - 1], action) - look
    return value


def quality(
    value: Floats, graph: CommitmentGraph, nodes: NDArray[np.int64], depth: NDArray[np.int64], price: Price
) -> Floats:
    """Q of committing to ``depth`` at each of ``nodes``, where ``value`` [N] is V with one look less."""
    landing = graph.landing[nodes, depth - 1]
    last = np.where(graph.stop[nodes] == 0, PLAN, graph.stop[nodes])
    result: Floats = value[landing] - price.action * np.minimum(depth, last) - price.look
    return result


def cost_to_goal(graph: CommitmentGraph, prices: Sequence[Price], depths: Sequence[int] = ALL_DEPTHS) -> Floats:
    """[N, prices] the least cost of reaching the goal with as many looks as it takes; infinite where none do.

    Nodes are brought up to date nearest first, each from what its nearer ones have just become: most edges lead nearer,
    so few rounds are needed until nothing changes any more.
    """
    require_closed(graph)
    action, look = _arrays(prices)
    columns = columns_of(depths)
    executed = graph.executed(columns).astype(np.float64)
    far = np.where(graph.distance < 0, np.iinfo(np.int32).max, graph.distance)
    order = np.argsort(far, kind="stable")
    order = order[graph.looked[order]]
    blocks = _by_distance(order, far)
    value = np.full((len(graph), len(prices)), -np.inf)
    value[graph.goal] = 0.0
    changed = True
    while changed:
        changed = False
        for nodes in blocks:
            fresh = _largest(graph, columns, executed, nodes, value, action) - look
            if not np.array_equal(fresh, value[nodes]):
                value[nodes] = fresh
                changed = True
    result: Floats = -value
    return result


def _largest(
    graph: CommitmentGraph,
    columns: list[int],
    executed: Floats,
    nodes: NDArray[np.int64],
    value: Floats,
    action: Floats,
) -> Floats:
    """[nodes, prices] the largest of what the landings are worth less the price of the actions."""
    result = np.full((len(nodes), len(action)), -np.inf)
    for place, column in enumerate(columns):
        onward = value[graph.landing[nodes, column]]
        onward -= executed[nodes, place, None] * action
        np.maximum(result, onward, out=result)
    return result


def _arrays(prices: Sequence[Price]) -> tuple[Floats, Floats]:
    return np.array([price.action for price in prices]), np.array([price.look for price in prices])


def _by_distance(order: NDArray[np.int64], far: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """The nodes in blocks of one distance each, nearest first."""
    cuts = np.flatnonzero(np.diff(far[order])) + 1
    parts = np.split(order, cuts)
    return [part[begin : begin + BLOCK] for part in parts for begin in range(0, len(part), BLOCK)]
