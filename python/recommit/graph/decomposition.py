"""Scores beside two other references than the oracle depth: the solver's plans, and the cheapest way without a budget.

``rule_parts`` splits what is missing to optimal play into what the plans lose and what the depths lose. V* has optimal
plans at the best depths, V^p the policy's plans at the best depths, V^r the policy's plans at a rule's depths. The
fourth value is crossed: optimal plans, cut where the rule cuts the policy's own plan of the same state. Then V* - V^r
is (V* - V^p) + (V^p - V^r), plans first, and (V* - crossed) + (crossed - V^r), depths first.

``rule_costs`` says what the way to the goal costs without a budget. A way costs price_action * actions +
price_observation * observations, so that the cheapest one is a shortest path in the graph. A rule of the present plan
alone takes one way from each state. It reaches the goal, or goes round for ever, or loses the level; the last two cost
infinity, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.graph import ALL_DEPTHS, NOWHERE, PLAN, solver_steps, ways
from recommit.graph.rule_episodes import RulesOnGraph
from recommit.graph.score import SettingRow
from recommit.graph.values import chosen_rows, policy_costs, shortest_costs, solver_values
from recommit.results import intervals
from recommit.results.table import ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.score import GraphScorer, RuleScore
    from recommit.horizon.rule_registry import NamedRule
    from recommit.prices import Prices

    Floats = NDArray[np.float64]
    Ends = tuple[float, float | None, float | None]


def with_optimal_plans(graph: CommitmentGraph) -> CommitmentGraph:
    """The graph of the same nodes with the solver's plans, the first of equally short ones; a start whose way leads out
    of the graph makes it one that is not closed. States out of reach keep the plans that they have."""
    numbers, rows = graph.numbers(), np.flatnonzero(graph.planned & (graph.distance > 0))
    plans, executed, landing = graph.plans.copy(), graph.executed.copy(), graph.landing.copy()
    plans[rows], executed[rows] = 0, np.minimum(graph.distance[rows, None], graph.depths)
    here = graph.states[rows]
    for place, (moving, actions, after) in zip(range(PLAN), solver_steps(graph.puzzle, here), strict=False):
        plans[rows[moving], place], here[moving] = actions, after
        landing[rows, place:] = np.array([numbers.get(state.tobytes(), NOWHERE) for state in here])[:, None]
    return replace(graph, plans=plans, executed=executed, landing=landing)


@dataclass(frozen=True)
class RuleParts(SettingRow):
    """The parts of a rule under a setting, in points of value 0..1; (mean, low, high)."""

    best: float  #: V*: optimal plans, the best depths
    oracle: float  #: V^p: these plans, the best depths
    crossed: float  #: optimal plans, the rule's own depths
    value: float  #: V^r: these plans, the rule's depths
    #: What plans lose and then depths; and what depths lose and then plans.
    plans_first: tuple[float, float]
    depths_first: tuple[float, float]
    #: The means of both orders.
    plans_lose: Ends
    depths_lose: Ends


def rule_parts(scorer: GraphScorer, rows: Sequence[RuleScore], entries: Sequence[NamedRule]) -> list[RuleParts]:
    """The parts of every row with a threshold of its own."""
    graph, by_name, result = _of_every_state(scorer.graph), {entry.name: entry for entry in entries}, []
    part = graph.part(_on_ways(graph, graph.starts), graph.starts, graph.groups)
    # Rules read the policy's plans, and their depths cut the solver's.
    optimal, read = replace(scorer, graph=with_optimal_plans(part)), RulesOnGraph(part)
    distance = graph.distance[graph.starts]
    for row in (each for each in rows if not each.shared):
        setting = next(each for each in scorer.settings if row.under(each))
        entry, returns = row.entry(by_name[row.rule]), setting.prices.returns
        best = solver_values(distance, ALL_DEPTHS, setting.budget, setting.prices)[-1]
        crossed = returns(*optimal.outcome(entry, setting.budget, read))
        rule, oracle = returns(*scorer.outcome(entry, setting.budget)), scorer.oracle(setting)
        plans = ((best - oracle) + (crossed - rule)) / 2
        lose = [ends(intervals.mean(each, graph.groups)) for each in (plans, best - rule - plans)]
        most, by_oracle, across, own = (float(each.mean()) for each in (best, oracle, crossed, rule))
        orders = (most - by_oracle, by_oracle - own), (most - across, across - own)
        of = (row.rule, row.budget, row.price_action, row.price_observation, row.threshold)
        result.append(RuleParts(*of, most, by_oracle, across, own, *orders, *lose))
    return result


def _on_ways(graph: CommitmentGraph, starts: NDArray[np.integer]) -> NDArray[np.bool_]:
    """[N] which nodes are on the solver's ways from these starts?"""
    numbers, result = graph.numbers(), np.zeros(len(graph), np.bool_)
    try:
        result[[numbers[state.tobytes()] for state in ways(graph.puzzle, graph.states[starts])]] = True
    except KeyError:
        raise ValueError(
            "graph: expected one with the solver's ways from its starts, got one without; build it with --ways"
        ) from None
    return result


def _of_every_state(graph: CommitmentGraph) -> CommitmentGraph:
    if graph.budget:
        raise ValueError(
            f"graph: expected one of every state, got one for {graph.budget} observations; build it without --budget"
        )
    return graph


@dataclass(frozen=True)
class RuleCosts:
    """The ways of a rule from all starts of a graph; shares are of the starts."""

    rule: str
    price_action: float
    price_observation: float
    #: None for a rule without one.
    threshold: float | None
    reached: float
    #: Of starts from where it loops for ever, and of those from where it loses a level.
    loops: float
    lost: float
    #: From where the best depths would reach the goal.
    reachable: float
    #: Means over the starts from where the rule reaches the goal: what its way costs, and what the cheapest does; None
    #: if it reaches it from nowhere.
    cost: float | None
    cheapest: float | None
    #: The mean of their difference: all regret on the way; with its 95 % interval.
    more: Ends | None


def rule_costs(
    scorer: GraphScorer, entries: Sequence[NamedRule], prices: Prices, validation: GraphScorer | None = None
) -> list[RuleCosts]:
    """Every rule whose depth follows from the present plan alone; a threshold is the one with the lowest mean cost on
    ``validation``, or on this graph, among those that reach the goal most often."""
    rows, cheapest = [], shortest_costs(_of_every_state(scorer.graph), prices)[scorer.graph.starts]
    for entry in entries:
        if entry.memory or entry.stochastic or "previous" in entry.reads:
            continue
        threshold = _best(validation or scorer, entry, prices) if entry.swept else None
        rows.append(_cost_row(scorer, entry if threshold is None else entry.at(threshold), threshold, prices, cheapest))
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


def _cost_row(
    scorer: GraphScorer, entry: NamedRule, threshold: float | None, prices: Prices, cheapest: Floats
) -> RuleCosts:
    graph, starts, columns = scorer.graph, scorer.graph.starts, scorer.rules.columns(entry)
    own = policy_costs(graph, prices, columns)[starts]
    reached, lost = np.isfinite(own), loses(graph, columns)[starts]
    more = None
    if reached.any():
        more = ends(intervals.mean(own[reached] - cheapest[reached], scorer.graph.groups[reached]))
    return RuleCosts(
        entry.name,
        prices.action,
        prices.observation,
        threshold,
        reached=float(reached.mean()),
        loops=float((~reached & ~lost).mean()),
        lost=float(lost.mean()),
        reachable=float(np.isfinite(cheapest).mean()),
        cost=float(own[reached].mean()) if reached.any() else None,
        cheapest=float(cheapest[reached].mean()) if reached.any() else None,
        more=more,
    )


def loses(graph: CommitmentGraph, columns: NDArray[np.integer]) -> NDArray[np.bool_]:
    """[N] does the way from here come by a state from where nobody can reach the goal, or that has no plan?"""
    rows, onward = chosen_rows(graph), np.arange(len(graph))
    onward[rows] = graph.landing[rows, columns[rows]]
    result: NDArray[np.bool_] = (graph.distance < 0) | (~graph.planned & ~graph.goal)
    for _ in range(len(graph).bit_length()):  # ways of 1, 2, 4, ... commitments
        result, onward = result | result[onward], onward[onward]
    return result
