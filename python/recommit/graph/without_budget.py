"""Rules without a budget: what the way to the goal costs, beside the cheapest way that these plans have.

A way costs price_action * actions + price_observation * observations, so that the cheapest one is a shortest path in
the graph. A rule of the present plan alone takes one way from each state. It reaches the goal, or goes round for ever,
or loses the level; the last two cost infinity, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.values import chosen_rows, policy_costs, shortest_costs
from recommit.stats import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.rules import NamedRule
    from recommit.graph.score import GraphScorer
    from recommit.prices import Prices

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RuleCosts:
    """The ways of a rule from all starts of a graph; shares are of the starts."""

    rule: str
    price_action: float
    price_observation: float
    #: None for a rule without one.
    threshold: float | None
    reached: float
    #: Of starts from where it goes round for ever, and of those from where it loses a level.
    rounds: float
    lost: float
    #: From where the best depths would reach the goal.
    reachable: float
    #: Means over the starts from where the rule reaches the goal: what its way costs, and what the cheapest does; None
    #: if it reaches it from nowhere.
    cost: float | None
    cheapest: float | None
    #: The mean of their difference: all regret on the way; with its 95 % interval.
    more: tuple[float, float, float] | None


def rule_costs(
    scorer: GraphScorer, entries: Sequence[NamedRule], prices: Prices, validation: GraphScorer | None = None
) -> list[RuleCosts]:
    """Every rule whose depth follows from the present plan alone; a threshold is the one with the lowest mean cost on
    ``validation``, or on this graph, among those that reach the goal most often."""
    rows, cheapest = [], shortest_costs(scorer.graph, prices)[scorer.graph.starts]
    for entry in entries:
        if entry.memory or entry.stochastic or "previous" in entry.reads:
            continue
        threshold = _best(validation or scorer, entry, prices) if entry.swept else None
        rows.append(_row(scorer, entry if threshold is None else entry.at(threshold), threshold, prices, cheapest))
    return rows


def _best(scorer: GraphScorer, entry: NamedRule, prices: Prices) -> float:
    """Reached most often, then cheapest, then the lowest."""
    every, starts = scorer.thresholds(entry), scorer.graph.starts
    ends = []
    for threshold in every.tolist():
        cost = policy_costs(scorer.graph, prices, scorer.rules.columns(entry.at(threshold)))[starts]
        some = np.isfinite(cost)
        ends.append((some.mean(), -cost[some].mean() if some.any() else 0.0))
    return float(every[max(range(len(ends)), key=lambda i: (*ends[i], -i))])


def _row(scorer: GraphScorer, entry: NamedRule, threshold: float | None, prices: Prices, cheapest: Floats) -> RuleCosts:
    graph, starts, columns = scorer.graph, scorer.graph.starts, scorer.rules.columns(entry)
    own = policy_costs(graph, prices, columns)[starts]
    reached, lost = np.isfinite(own), loses(graph, columns)[starts]
    more = None
    if reached.any():
        spread = bootstrap(own[reached] - cheapest[reached], scorer.graph.groups[reached])
        more = (spread.mean, spread.low, spread.high)
    return RuleCosts(
        entry.name,
        prices.action,
        prices.observation,
        threshold,
        reached=float(reached.mean()),
        rounds=float((~reached & ~lost).mean()),
        lost=float(lost.mean()),
        reachable=float(np.isfinite(cheapest).mean()),
        cost=float(own[reached].mean()) if reached.any() else None,
        cheapest=float(cheapest[reached].mean()) if reached.any() else None,
        more=more,
    )


def loses(graph: CommitmentGraph, columns: NDArray[np.integer]) -> Flags:
    """[N] does the way from here come by a state from where nobody can reach the goal, or that has no plan?"""
    rows, onward = chosen_rows(graph), np.arange(len(graph))
    onward[rows] = graph.landing[rows, columns[rows]]
    result: Flags = (graph.distance < 0) | (~graph.planned & ~graph.goal)
    for _ in range(len(graph).bit_length()):  # ways of 1, 2, 4, ... commitments
        result, onward = result | result[onward], onward[onward]
    return result
