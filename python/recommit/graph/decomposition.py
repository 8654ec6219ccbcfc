"""The gap to optimal play, decomposed into the loss of the plans and the loss of the depths.

V* has optimal plans at the best depths, V^p the policy's plans at the best depths, V^r the policy's plans at a rule's
depths. The fourth value is crossed: optimal plans, cut where the rule cuts the policy's own plan of the same state.
Then V* - V^r is (V* - V^p) + (V^p - V^r), plans first, and (V* - crossed) + (crossed - V^r), depths first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.graph import ALL_DEPTHS, NOWHERE, PLAN, solver_steps, ways
from recommit.graph.rule_episodes import RulesOnGraph
from recommit.graph.score import SettingRow
from recommit.graph.values import solver_values
from recommit.results import intervals
from recommit.results.table import bounds
from recommit.storage.schema import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.score import GraphScorer, RuleScore
    from recommit.horizon.rule_registry import NamedRule

    Ends = tuple[float, float | None, float | None]


def with_optimal_plans(graph: CommitmentGraph) -> CommitmentGraph:
    """Replace the plans by the solver's, the first of equally short ones. The result is not ``closed`` if such a plan
    leads out of the graph. Unsolvable states keep their plans."""
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
    """Decomposed gap of a rule under a setting, in value (0..1); intervals are (mean, low, high)."""

    best: float  #: V*: optimal plans, the best depths
    oracle: float  #: V^p: these plans, the best depths
    crossed: float  #: optimal plans, the rule's own depths
    value: float  #: V^r: these plans, the rule's depths
    #: Losses in the order (plans, depths), and in the order (depths, plans).
    plans_first: tuple[float, float]
    depths_first: tuple[float, float]
    #: Loss of plans and loss of depths, each the mean of both orders.
    plans_lose: Ends
    depths_lose: Ends


def rule_parts(scorer: GraphScorer, rows: Sequence[RuleScore], entries: Sequence[NamedRule]) -> list[RuleParts]:
    """Decompose the gap of every row, except those with a threshold ``shared`` by all settings."""
    graph, by_name, result = scorer.graph, {entry.name: entry for entry in entries}, []
    budget = f"one for {graph.budget} observations; build it without --budget"
    refuse((graph.budget, "graph", "one of every state", budget))
    part = graph.part(_on_ways(graph, graph.starts), graph.starts, graph.groups)
    # Rules read the policy's plans, and their depths cut the solver's.
    optimal, read = replace(scorer, graph=with_optimal_plans(part)), RulesOnGraph(part)
    distance = graph.distance[graph.starts]
    for row in (each for each in rows if not each.shared):
        setting = next(each for each in scorer.settings if row.under(each))
        entry, returns = by_name[row.rule].at(row.threshold), setting.prices.returns
        best = solver_values(distance, ALL_DEPTHS, setting.budget, setting.prices)[-1]
        crossed = returns(*optimal.outcome(entry, setting.budget, read))
        rule, oracle = returns(*scorer.outcome(entry, setting.budget)), scorer.oracle(setting)
        plans = ((best - oracle) + (crossed - rule)) / 2
        lose = [bounds(intervals.mean(each, graph.groups)) for each in (plans, best - rule - plans)]
        most, by_oracle, across, own = (float(each.mean()) for each in (best, oracle, crossed, rule))
        orders = (most - by_oracle, by_oracle - own), (most - across, across - own)
        of = (row.rule, row.budget, row.price_action, row.price_observation, row.threshold)
        result.append(RuleParts(*of, most, by_oracle, across, own, *orders, *lose))
    return result


def _on_ways(graph: CommitmentGraph, starts: NDArray[np.integer]) -> NDArray[np.bool_]:
    """[N] True for nodes on the solver's ways from these starts."""
    numbers, result = graph.numbers(), np.zeros(len(graph), np.bool_)
    try:
        result[[numbers[state.tobytes()] for state in ways(graph.puzzle, graph.states[starts])]] = True
    except KeyError:
        raise ValueError(
            "graph: expected one with the solver's ways from its starts, got one without; build it with --ways"
        ) from None
    return result
