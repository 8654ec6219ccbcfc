"""What every single commitment cost against the best one, exactly, over the arrays of a commitment graph.

With k looks left, the best value of a state under these plans and the value of a rule that takes depth c_k(s) are

    V^p_k(s) = max over h of Q_k(s, h),   Q_k(s, h) = W_{k-1}(s') - price_action * n - price_observation,   W = V^p
    V^r_k(s) = Q_k(s, c_k(s)) with W = V^r

where s' is where the first h actions end, n of them executed, and a goal is worth 1 whatever is left. The regret of a
commitment is r_k(s) = V^p_k(s) - Q_k(s, c_k(s)) with W = V^p, never below zero, and of any start

    V^p - V^r = the sum of visits_k(s) * r_k(s) over all k and s:

the whole gap is made of single commitments. Prices are in solved episodes. A state without a plan that is no goal is
never solved, and pays for the least depth at every look that is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph import ceiling_values
from recommit.graph.commitments import Prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graph.commitments import Commitments

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

#: Values closer than this are equal: both commitments are best.
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Best:
    """The best choice of depths for the plans of a graph, by looks left."""

    graph: Commitments
    prices: Prices
    value: Floats  #: [K + 1, N]: V^p

    @property
    def budget(self) -> int:
        """K."""
        return len(self.value) - 1

    @cached_property
    def hope(self) -> Flags:
        """[K + 1, N] can any choice of depths still solve it?"""
        return best(self.graph, self.budget).value > 0.5

    def q_values(self, remaining: int, nodes: Nodes) -> Floats:
        """[nodes, depths] Q with ``left`` looks."""
        graph = self.graph
        result: Floats = self.value[remaining - 1][graph.landing[nodes]] - self.prices.of(graph.executed[nodes])
        return result


@dataclass(frozen=True, eq=False)
class Followed:
    """A rule on the plans of a graph, by looks left."""

    best: Best
    column: Nodes  #: [K, N] of its depths
    value: Floats  #: [K + 1, N]: V^r
    regret: Floats  #: [K + 1, N]: r


def best(graph: Commitments, budget: int, prices: Prices | None = None) -> Best:
    """V^p by dynamic programming."""
    prices = prices or Prices()
    return Best(graph, prices, np.ascontiguousarray(ceiling_values.by_looks(graph, budget, [prices])[:, :, 0]))


def follow(best: Best, depths: NDArray[np.integer]) -> Followed:
    """V^r and r of a rule: its depths [N], or [K, N] with row k - 1 for k looks left."""
    graph, rows = best.graph, best.graph.rows
    column = graph.columns(depths, best.budget)
    value, regret = _ends(graph, best.budget, best.prices), np.zeros_like(best.value)
    there = price = np.zeros(0)
    for remaining in range(1, best.budget + 1):
        if remaining == 1 or column.strides[0]:  # a rule that ignores the looks left is the same row again and again
            chosen = column[remaining - 1, rows]
            there, price = graph.landing[rows, chosen].astype(np.intp), best.prices.of(graph.executed[rows, chosen])
        value[remaining, rows] = value[remaining - 1].take(there) - price
        regret[remaining, rows] = best.value[remaining, rows] - (best.value[remaining - 1].take(there) - price)
    return Followed(best, column, value, regret)


def _ends(graph: Commitments, budget: int, prices: Prices) -> Floats:
    """[K + 1, N] what states are worth where nobody chooses, and 0 elsewhere."""
    value = np.zeros((budget + 1, len(graph)))
    least = prices.look + prices.action * graph.depths[0]
    value[:, ~graph.planned] = -least * np.arange(budget + 1)[:, None]
    value[:, graph.goal] = 1.0
    return value


def costs(graph: Commitments, prices: Prices) -> Floats:
    """Costs [N] of the cheapest way to the goal without a budget: a shortest path; infinite where these plans have
    none."""
    result: Floats = ceiling_values.costs(graph, [prices])[:, 0]
    return result


def rule_costs(graph: Commitments, prices: Prices, depths: NDArray[np.integer]) -> Floats:
    """Costs [N] of a rule's way to the goal without a budget; infinite where it goes round or ends."""
    rows = graph.rows
    column = graph.columns(depths, 1)[0, rows]
    landing, cost = graph.landing[rows, column], prices.cost(graph)[np.arange(len(rows)), column]
    result = np.where(graph.goal, 0.0, np.inf)
    while True:
        further = cost + result[landing]
        if np.array_equal(further, result[rows]):
            return result
        result[rows] = further


def cost_regret(graph: Commitments, prices: Prices, depths: NDArray[np.integer]) -> Floats:
    """Regret [N] of each commitment without a budget: what it and the cheapest way on cost, beyond the cheapest way
    from here.

    Along a rule's way to the goal they add up to its cost less the cheapest. Infinite where the commitment leaves all
    ways to the goal, 0 where there was none.
    """
    cheapest, rows = costs(graph, prices), graph.rows
    column = graph.columns(depths, 1)[0, rows]
    result = np.zeros(len(graph))
    onward = prices.cost(graph)[np.arange(len(rows)), column] + cheapest[graph.landing[rows, column]]
    some = np.isfinite(cheapest[rows])
    result[rows[some]] = onward[some] - cheapest[rows[some]]
    return result


def optimal_values(
    distance: NDArray[np.integer], depths: tuple[int, ...], budget: int, prices: Prices | None = None
) -> Floats:
    """[K + 1, N] V*: optimal plans and the best depths for them, from exact distances alone.

    Solving takes ``distance`` actions and a look per deepest commitment; where that is too far, or costs more than it
    is worth, the least depth at every look left is the cheapest way to fail.
    """
    prices = prices or Prices()
    remaining = np.arange(budget + 1)[:, None]
    looks = -(-distance // depths[-1])
    solving = np.where(
        (distance >= 0) & (looks <= remaining), 1.0 - prices.action * distance - prices.look * looks, -np.inf
    )
    result: Floats = np.where(
        distance == 0, 1.0, np.maximum(solving, -remaining * (prices.look + prices.action * depths[0]))
    )
    return result


@dataclass(frozen=True)
class GapParts:
    """The gap V* - V^r in two parts, what the plans lose and what the depths lose, in both orders and as their mean.

    The parts depend on which is mended first, so neither order is right alone: their mean is Shapley's value of two.
    """

    of_plans: tuple[float, float]  #: with the best depths, and with the rule's own
    of_depths: tuple[float, float]  #: under these plans, and under optimal ones

    @property
    def mean(self) -> tuple[float, float]:
        """What the plans lose, and what the depths lose."""
        return sum(self.of_plans) / 2, sum(self.of_depths) / 2


def split(optimal: Floats, best: Floats, optimal_plans: Floats, rule: Floats) -> GapParts:
    """Both parts from values by start: V*, V^p, the rule's depths on optimal plans, and V^r."""
    every, plans, depths, own = (float(np.mean(values)) for values in (optimal, best, optimal_plans, rule))
    return GapParts((every - plans, depths - own), (plans - own, every - depths))


def gain_share(rule: float, constant: float, ceiling: float) -> float:
    """How much of what choosing depths can give a rule takes: 0 is the best constant depth, 1 perfect, NaN if there is
    nothing.
    """
    return (rule - constant) / (ceiling - constant) if ceiling - constant > TIE else float("nan")
