"""The same rule on optimal plans: how much of what is missing is the plans', and how much the depths'.

With V* for optimal plans and depths, V^p for these plans and the best depths, V^r for these plans and the rule's
depths,

    V* - V^r = (V* - V^p) + (V^p - V^r)              plans first, then depths
    V* - V^r = (V* - V^o) + (V^o - V^r)              depths first, then plans

where V^o is the rule's own depths on optimal plans: in every state it commits as deep as it does for its own plan
there. The split depends on the order; both are said, and their mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.graphs.graph import NEVER, NOWHERE, PLAN
from recommit.graphs.regret import perfect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graphs.graph import CommitmentGraph
    from recommit.graphs.values import Price


def with_optimal_plans(graph: CommitmentGraph) -> CommitmentGraph:
    """The graph of the same nodes with the solver's plans, the first of equally short ones; a start whose way leads out
    of the graph makes it one that is not closed. States out of reach keep the plans that they have."""
    nodes = {state.tobytes(): i for i, state in enumerate(graph.states)}
    puzzle = graph.puzzle
    rows = np.flatnonzero(graph.looked & (graph.distance > 0))
    plans, stop, landing = graph.plans.copy(), graph.stop.copy(), graph.landing.copy()
    solutions = puzzle.solve(graph.states[rows])
    here = graph.states[rows]
    lengths = np.diff(solutions.offsets)
    stop[rows] = np.where(lengths <= PLAN, lengths, NEVER)
    for place in range(PLAN):
        moving = lengths > place
        plans[rows, place] = 0
        plans[rows[moving], place] = solutions.actions[solutions.offsets[:-1][moving] + place]
        here = np.where(moving[:, None, None], puzzle.step(here, np.ascontiguousarray(plans[rows, place])), here)
        landing[rows, place] = [nodes.get(state.tobytes(), NOWHERE) for state in here]
    return replace(graph, plans=plans, stop=stop, landing=landing)


@dataclass(frozen=True)
class Split:
    """Mean over the starts of what is missing, by order and on average."""

    missing: float
    plans_first: tuple[float, float]  #: plans, depths
    depths_first: tuple[float, float]  #: plans, depths

    @property
    def plans(self) -> float:
        """What the plans owe, as the mean of both orders."""
        return (self.plans_first[0] + self.depths_first[0]) / 2

    @property
    def depths(self) -> float:
        """What the depths owe, as the mean of both orders."""
        return (self.plans_first[1] + self.depths_first[1]) / 2


def split(
    graph: CommitmentGraph,
    budget: int,
    price: Price,
    ceiling: NDArray[np.float64],
    rule: NDArray[np.float64],
    rule_on_optimal: NDArray[np.float64],
) -> Split:
    """From values per start: of the ceiling (V^p), the rule (V^r), and the rule's depths on optimal plans (V^o)."""
    best = float(perfect(graph.distance[graph.starts], budget, price).mean())
    best_depths, own, own_on_optimal = float(ceiling.mean()), float(rule.mean()), float(rule_on_optimal.mean())
    return Split(
        best - own,
        (best - best_depths, best_depths - own),
        (own_on_optimal - own, best - own_on_optimal),
    )
