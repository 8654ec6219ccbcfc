"""The value of every depth, without sampling: a dynamic program over the states that greedy plans reach.

Under greedy plans an episode is a walk in a ``PlanGraph``, and the depth head turns it into a Markov chain. With
k decisions left, the value of committing to depth h in state s is

    Q_k(s, h) = 1 - c                                if that reaches the goal, c = price_observation + price_action * n
                V_{k-1}(s') - c                      otherwise, n the actions executed, s' the state where it ends
    V_k(s) = sum over h of pi(h | s) Q_k(s, h),      V_0 = 0

and the expected visits m_k(s) follow forward from the starts. The gradient of the expected return is then exactly sum
of m_k(s) pi(h | s) (Q_k(s, h) - V_k(s)) grad log pi(h | s). States that were not looked at (their visits are few, see
``AdvantageConfig.max_expansions``) take the mean value of the known states at their distance. States that nobody can
solve any more, or not with the decisions left, are never solved, which is a theorem; what is done there until the end
still has its price, that of as many looks and as many commitments of average length, or else to lose a level would save
what playing on costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.config import MAX_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.graph.commitments import Prices
    from recommit.graph.plan_graph import PlanGraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Values:
    """What depths chosen with certain chances are worth; rows are decisions left 0..K. Nodes that nobody has looked
    at have a value, and neither visits nor advantages."""

    value: Floats  #: [K + 1, nodes]
    q_values: Floats  #: [K + 1, nodes with a plan in order, depths]: Q
    visits: Floats  #: [K + 1, nodes], expected
    advantage: Floats  #: [nodes, depths]: Q - V, averaged over the decisions left with the visits of each
    by_distance: Floats  #: [K + 1, longest distance + 2]; the last column is of states that cannot be solved
    distance: NDArray[np.int32]
    begin: Floats  #: [K + 1]: which share of the episodes begins with so many decisions left
    #: Expected visits that fell on nodes with a plan or without a hope, as a share: all of it, and values are exact.
    settled: float

    def buckets(self, distance: NDArray[np.int32]) -> NDArray[np.int64]:
        """The columns of ``by_distance`` of states at these distances, which may be longer than any in the graph."""
        lost = self.by_distance.shape[1] - 1
        return np.where(distance < 0, lost, np.minimum(distance, lost - 1)).astype(np.int64)


def explore(
    graph: PlanGraph,
    roots: NDArray[np.int64],
    budget: int,
    choose: Callable[[PlanGraph, NDArray[np.int64]], Floats],
    limit: int,
) -> None:
    """Look at the states that are likeliest to be visited, at most ``limit`` new ones per decision.

    ``choose`` gives the probabilities [N, depths] of the depths at nodes that have a plan.
    """
    mass = np.zeros(len(graph))
    np.add.at(mass, roots, 1.0)
    for remaining in range(budget, 0, -1):
        distance = graph.task.distance(graph.states)
        hopeless = (distance < 0) | (distance > MAX_ACTIONS * remaining)
        wanted = np.flatnonzero((mass > 0) & ~graph.expanded & ~graph.goal & ~hopeless)
        graph.expand(wanted[np.argsort(-mass[wanted], kind="stable")[:limit]])
        here = np.flatnonzero((mass > 0) & graph.expanded[: len(mass)])
        moved = mass[here, None] * choose(graph, here)
        mass = np.bincount(graph.landing[here].ravel(), moved.ravel(), len(graph)).astype(np.float64)
        mass[graph.goal] = 0.0  # what is solved lands on a goal, where nothing goes on


class Program:
    """The program over a graph that does not grow, for one choice of depths after the other.

    What no choice changes is worked out once, and states that were not looked at stand together by their distance,
    behind the nodes with a plan: they are worth the same and lead nowhere. Equal parts of the episodes have each of
    ``budgets``, or ``budget`` where that is less (so that a recipe's budgets do not forbid to train with fewer
    decisions); all have ``budget`` if there are none.
    """

    def __init__(
        self, graph: PlanGraph, roots: NDArray[np.int64], budget: int, prices: Prices, budgets: Sequence[int] = ()
    ) -> None:
        self.graph, self.nodes = graph, np.flatnonzero(graph.expanded)
        self._distance = graph.task.distance(graph.states)
        bucket, self._longest = _buckets(self._distance)
        self._looked = len(self.nodes)
        self._place = self._looked + bucket
        self._place[self.nodes] = np.arange(self._looked)
        self._landing, self._bucket = self._place[graph.landing[self.nodes]], bucket[self.nodes]
        self._cost = prices.of(graph.executed[self.nodes])
        self._places = self._looked + self._longest + 2
        self._begin = _begin(budget, budgets)
        self._roots = np.bincount(self._place[roots], minlength=self._places).astype(np.float64)
        self._roots[self._looked] = 0.0  # solved from the start

    def advantages(self, probs: Floats) -> tuple[Floats, Floats]:
        """Q - V [looked, depths] and visits [looked] of ``nodes``, under probabilities ``chance`` [looked, depths]."""
        q_values, _ = self._qualities(probs)
        return self._averaged(q_values, self._visits(probs)[:, : self._looked], probs)

    def values(self, probs: Floats) -> Values:
        """Everything, node by node."""
        q_values, worth = self._qualities(probs)
        visits = self._visits(probs)
        own = np.zeros((len(visits), len(self.graph)))
        own[:, self.nodes] = visits[:, : self._looked]
        advantage = np.zeros((len(self.graph), probs.shape[1]))
        advantage[self.nodes], _ = self._averaged(q_values, visits[:, : self._looked], probs)
        return Values(
            value=worth[:, self._place],
            q_values=q_values,
            visits=own,
            advantage=advantage,
            by_distance=worth[:, self._looked :],
            distance=self._distance,
            begin=self._begin,
            settled=self._settled(visits),
        )

    def _qualities(self, probs: Floats) -> tuple[Floats, Floats]:
        """Q [K + 1, looked, depths], and what every place is worth [K + 1, places]."""
        q_values = np.zeros((len(self._begin), *self._landing.shape))
        worth = np.zeros((len(self._begin), self._places))
        worth[:, self._looked] = 1.0  # a goal, whatever is left
        wasted = (
            float((self._cost * probs).sum(axis=1).mean()) if self._looked else 0.0
        )  # by a decision in a lost state
        for k in range(1, len(q_values)):
            np.subtract(worth[k - 1][self._landing], self._cost, out=q_values[k])
            own = worth[k, : self._looked] = np.einsum("nd,nd->n", probs, q_values[k])
            worth[k, self._looked + 1 :] = _mean_by(self._bucket, own, self._longest, k, -wasted * k)
        return q_values, worth

    def _visits(self, probs: Floats) -> Floats:
        """Expected visits [K + 1, places]."""
        visits: Floats = self._begin[:, None] * self._roots
        for k in range(len(visits) - 1, 1, -1):
            moved = visits[k, : self._looked, None] * probs
            visits[k - 1] += np.bincount(self._landing.ravel(), moved.ravel(), self._places)
            visits[k - 1, self._looked] = 0.0  # nothing goes on from a goal
        return visits

    def _averaged(self, q_values: Floats, visits: Floats, probs: Floats) -> tuple[Floats, Floats]:
        mass, total = np.zeros(self._looked), np.zeros(probs.shape)
        for k in range(len(q_values) - 1, 0, -1):
            mass += visits[k]
            total += visits[k][:, None] * q_values[k]
        total /= np.maximum(mass, 1e-12)[:, None]
        return total - (probs * total).sum(axis=1, keepdims=True), mass

    def _settled(self, visits: Floats) -> float:
        """See ``Values``."""
        remaining, distance = np.arange(len(visits))[:, None], np.arange(self._longest + 2)
        hopeless = (distance > self._longest) | (distance > MAX_ACTIONS * remaining)
        settled = visits[:, : self._looked].sum() + (visits[:, self._looked :] * hopeless).sum()
        total = visits.sum()
        return float(settled / total) if total else 1.0


def _buckets(distance: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """Every node's column of ``Values.by_distance``, and the longest distance."""
    longest = max(int(distance.max(initial=0)), 1)
    return np.where(distance < 0, longest + 1, distance).astype(np.int64), longest


def _begin(budget: int, budgets: Sequence[int]) -> Floats:
    """Which share of the episodes begins with so many decisions left."""
    count = np.bincount([min(k, budget) for k in budgets] or [budget], minlength=budget + 1)
    share: Floats = count / max(len(budgets), 1)
    return share


def _mean_by(bucket: NDArray[np.int64], value: Floats, longest: int, remaining: int, lost: float) -> Floats:
    """Mean value at each distance 1..longest, interpolated where no state has it; then ``lost``, also beyond reach."""
    count = np.bincount(bucket, minlength=longest + 2)[1 : longest + 1]
    total = np.bincount(bucket, weights=value, minlength=longest + 2)[1 : longest + 1]
    result = np.full(longest + 1, lost)
    have = np.flatnonzero(count)
    if len(have):
        result[:longest] = np.interp(np.arange(longest), have, total[have] / count[have])
    result[min(MAX_ACTIONS * remaining, longest) :] = lost
    return result


def plan_advantages(
    values: Values,
    visits: Floats,
    probs: Floats,
    depths: tuple[int, ...],
    landing: NDArray[np.int64],
    bucket: NDArray[np.int64],
    solved: NDArray[np.bool_],
    executed: NDArray[np.int32],
    prices: Prices,
) -> tuple[Floats, Floats]:
    """Advantages and weights [N, G, 8] of the actions of sampled plans.

    ``landing`` [N, G, depths] are nodes, -1 where a plan ends in a state that is none; ``bucket`` the columns of
    ``by_distance``, ``chance`` [N, depths] how much each depth counts. Action j is executed by the depths beyond it;
    what it is credited with is their expected return against the mean over the plans of the same state and depth.
    """
    many, plans, _ = landing.shape
    worth = np.zeros(landing.shape)
    for k in range(1, len(values.value)):
        later = np.where(landing >= 0, values.value[k - 1][landing], values.by_distance[k - 1][bucket])
        worth += visits[k][:, None, None] * np.where(solved, 1.0, later)
    worth /= np.maximum(visits.sum(axis=0), 1e-12)[:, None, None]
    worth -= prices.of(executed)
    centred = worth - worth.mean(axis=1, keepdims=True)
    advantage, weight = np.zeros((many, plans, MAX_ACTIONS)), np.zeros((many, plans, MAX_ACTIONS))
    for column, depth in enumerate(depths):
        reached = (np.arange(MAX_ACTIONS) < depth) & (np.arange(MAX_ACTIONS) < executed[:, :, column, None])
        share = probs[:, None, column, None] * reached
        advantage += share * centred[:, :, column, None]
        weight += share
    return advantage / np.maximum(weight, 1e-12), weight
