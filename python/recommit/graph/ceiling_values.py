"""What the best choice of depths is worth in a commitment graph, for many prices at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.commitments import Commitments, Prices

    Floats = NDArray[np.float64]

#: States that are worked on together: as many as stay in a processor's cache with their values for 16 prices.
BLOCK = 2048


def by_looks(graph: Commitments, budget: int, prices: Sequence[Prices]) -> Floats:
    """[budget + 1, N, prices] the best value of every state by looks left.

    A state without a plan that is no goal is never solved, and pays for the least depth at every look that is left.
    """
    value = np.stack([_ends(graph, remaining, prices) for remaining in range(budget + 1)])
    for remaining in range(1, budget + 1):
        _one_more(graph, value[remaining - 1], value[remaining], prices)
    return value


def with_all_looks(graph: Commitments, budget: int, prices: Sequence[Prices]) -> Floats:
    """[N, prices] the last of ``by_looks``, in the memory of two of them."""
    value = _ends(graph, 0, prices)
    for remaining in range(1, budget + 1):
        before, value = value, _ends(graph, remaining, prices)
        _one_more(graph, before, value, prices)
    return value


def _ends(graph: Commitments, remaining: int, prices: Sequence[Prices]) -> Floats:
    """[N, prices] what states are worth where nobody chooses, and 0 elsewhere."""
    action, look = _arrays(prices)
    value = np.zeros((len(graph), len(prices)))
    value[~graph.planned] = -remaining * (look + action * graph.depths[0])
    value[graph.goal] = 1.0
    return value


def _one_more(graph: Commitments, before: Floats, value: Floats, prices: Sequence[Prices]) -> None:
    """Put the values with one look more than ``before`` where somebody chooses."""
    action, look = _arrays(prices)
    for begin in range(0, len(graph.rows), BLOCK):
        rows = graph.rows[begin : begin + BLOCK]
        value[rows] = _largest(graph, rows, before, action) - look


def costs(graph: Commitments, prices: Sequence[Prices]) -> Floats:
    """[N, prices] the cost of the cheapest way to the goal without a budget; infinite where these plans have none.

    States are brought up to date nearest first, each from what its nearer ones have just become: most commitments lead
    nearer, so that few rounds are needed until nothing changes any more.
    """
    action, look = _arrays(prices)
    far = np.where(graph.distance < 0, np.iinfo(np.int32).max, graph.distance)
    order = graph.rows[np.argsort(far[graph.rows], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(far[order])) + 1)
    blocks = [part[begin : begin + BLOCK] for part in parts for begin in range(0, len(part), BLOCK)]
    value = np.full((len(graph), len(prices)), -np.inf)
    value[graph.goal] = 0.0
    changed = True
    while changed:
        changed = False
        for rows in blocks:
            fresh = _largest(graph, rows, value, action) - look
            if not np.array_equal(fresh, value[rows]):
                value[rows], changed = fresh, True
    result: Floats = -value
    return result


def _largest(graph: Commitments, rows: NDArray[np.int64], value: Floats, action: Floats) -> Floats:
    """[rows, prices] the largest of what the landings are worth, less the price of the actions until there."""
    result = np.full((len(rows), len(action)), -np.inf)
    onward, cost = np.empty_like(result), np.empty_like(result)
    for landing, executed in zip(graph.landing[rows].T, graph.executed[rows].T, strict=True):
        value.take(landing, axis=0, out=onward, mode="clip")  # clip: without it, the result is copied once more
        onward -= np.multiply(executed[:, None], action, out=cost)
        np.maximum(result, onward, out=result)
    return result


def _arrays(prices: Sequence[Prices]) -> tuple[Floats, Floats]:
    return np.array([price.action for price in prices]), np.array([price.look for price in prices])
