"""Exact policy evaluation for training: values, visits and advantages of a depth policy.

With k observations left, committing to depth h in state s brings

    Q_k(s, h) = V_{k-1}(s') - c(s, h)                c = price_observation + price_action * n, n the actions executed
    V_k(s) = sum over h of pi(h | s) Q_k(s, h),      V_k(goal) = 1, V_0 = 0

and the expected visits m_k(s) follow forward from the starts. The gradient of the expected return is then exactly the
sum of m_k(s) pi(h | s) (Q_k(s, h) - V_k(s)) grad log pi(h | s).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.values import backup, chosen_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph, Floats, Nodes
    from recommit.prices import Prices


@dataclass(frozen=True)
class GraphValues:
    """Values, visits and advantages of a depth policy on a graph that may still grow; rows are observations left 0..K.
    Nodes without a plan have values only."""

    value: Floats  #: [K + 1, nodes]
    q_values: Floats  #: [K + 1, nodes with a plan in order, depths]
    visits: Floats  #: [K + 1, nodes], expected
    advantage: Floats  #: [nodes, depths]: Q - V, averaged over the observations left with the visits of each
    by_distance: Floats  #: [K + 1, longest distance + 2]; the last column is of states that cannot be solved
    distance: NDArray[np.integer]
    begin: Floats  #: [K + 1]: the share of the episodes that begin with 0..K observations left
    #: Share of the expected visits at nodes with a plan or without hope; values are exact if it is 1.
    exact_fraction: float

    def buckets(self, distance: NDArray[np.int32]) -> NDArray[np.int64]:
        """Columns of ``by_distance`` for these distances, which may be longer than any in the graph."""
        lost = self.by_distance.shape[1] - 1
        return np.where(distance < 0, lost, np.minimum(distance, lost - 1)).astype(np.int64)

    def returns(self, nodes: Nodes, landing: Nodes, bucket: Nodes, solved: NDArray[np.bool_]) -> Floats:
        """[nodes, ...] value after commitments from ``nodes`` that end at ``landing`` (-1: in no node of the graph, and
        then the value of its ``bucket``), averaged over the observations left, weighted by their visits."""
        visits, wide = self.visits[:, nodes], (slice(None), *(None for _ in landing.shape[1:]))
        result = np.zeros(landing.shape)
        for k in range(1, len(self.value)):
            later = np.where(landing >= 0, self.value[k - 1][landing], self.by_distance[k - 1][bucket])
            result += visits[k][wide] * np.where(solved, 1.0, later)
        result /= np.maximum(visits.sum(axis=0), 1e-12)[wide]
        return result


class PolicyEvaluation:
    """Values, visits and advantages of depth policies on one graph; what no policy changes is computed once. A policy
    is ``probs`` [rows, depths], or [K + 1, rows, depths] if it sees the observations left.

    Values and visits go through all states; nothing is learned in those that are not ``learnable`` [nodes].
    Each of ``budgets``, at most ``budget``, is that of an equal share of the episodes from ``starts``; without
    ``budgets`` all have ``budget``. States that were never planned (their visits are few) share one place per distance,
    behind the nodes with a plan, with the mean value of the planned states at that distance. Unsolvable states, and
    those too far for the observations left, are never solved (a theorem); their remaining observations are charged at
    the average cost of a commitment, since otherwise losing a level would save the cost of playing on.
    """

    def __init__(
        self,
        graph: CommitmentGraph,
        starts: NDArray[np.integer],
        budget: int,
        prices: Prices,
        budgets: Sequence[int] = (),
        learnable: NDArray[np.bool_] | None = None,
    ) -> None:
        self.graph, self.rows = graph, chosen_rows(graph)
        self.learnable = np.ones(len(graph), bool) if learnable is None else learnable
        distance = graph.distance
        self._longest = max(int(distance.max(initial=0)), 1)
        bucket = np.where(distance < 0, self._longest + 1, distance).astype(np.int64)
        self._planned = len(self.rows)
        self._place = self._planned + bucket
        self._place[self.rows] = np.arange(self._planned)
        self._landing, self._bucket = self._place[graph.landing[self.rows]], bucket[self.rows]
        self.cost = prices.cost(graph.executed[self.rows])
        self._places = self._planned + self._longest + 2
        self._unplanned = bool((self._landing > self._planned).any())
        count = np.bincount([min(k, budget) for k in budgets] or [budget], minlength=budget + 1)
        self.begin: Floats = count / max(len(budgets), 1)
        self._starts = np.bincount(self._place[starts], minlength=self._places).astype(np.float64)
        self._starts[self._planned] = 0.0  # solved from the start

    def values(self, probs: Floats) -> GraphValues:
        """Values, visits and advantages of a policy, by node."""
        q_values, value = self._backward(probs, by_distance=True)
        visits = self._forward(probs)
        own = np.zeros((len(visits), len(self.graph)))
        own[:, self.rows] = visits[:, : self._planned]
        advantage = np.zeros((len(self.graph), probs.shape[-1]))
        advantage[self.rows], _ = self._averaged(q_values, visits[:, : self._planned], probs)
        remaining, distance = np.arange(len(visits))[:, None], np.arange(self._longest + 2)
        hopeless = (distance > self._longest) | (distance > self.graph.plan_length * remaining)
        exact = visits[:, : self._planned].sum() + (visits[:, self._planned :] * hopeless).sum()
        return GraphValues(
            value=value[:, self._place],
            q_values=q_values,
            visits=own,
            advantage=advantage,
            by_distance=value[:, self._planned :],
            distance=self.graph.distance,
            begin=self.begin,
            exact_fraction=float(exact / visits.sum()) if visits.any() else 1.0,
        )

    def value(self, probs: Floats) -> Floats:
        """[K + 1, N] V."""
        return self._backward(probs)[1][:, self._place]

    def visits(self, probs: Floats) -> Floats:
        """[K + 1, rows] expected visits where something is learned, each start counted once."""
        return self._forward(probs)[:, : self._planned] * self.learnable[self.rows]

    def advantages(self, probs: Floats) -> tuple[Floats, Floats]:
        """Q - V [rows, depths], averaged over the observations left, and visits [rows]; of ``probs`` [rows, depths]."""
        return self._averaged(self._backward(probs)[0], self.visits(probs), probs)

    def advantages_by_budget(self, probs: Floats) -> Floats:
        """[K + 1, rows, depths] Q - V by observations left."""
        q_values, value = self._backward(probs)
        q_values[1:] -= value[1:, : self._planned, None]
        return q_values

    def _backward(self, probs: Floats, *, by_distance: bool = False) -> tuple[Floats, Floats]:
        """Q [K + 1, rows, depths], and the value of every place [K + 1, places]; those of distances only if some state
        was not planned, or with ``by_distance``."""
        q_values = np.zeros((len(self.begin), *self._landing.shape))
        table = np.zeros((len(self.begin), self._places))
        table[:, self._planned] = 1.0  # a goal, whatever is left
        estimated = by_distance or self._unplanned
        # The cost of a decision in a lost state.
        wasted = float((self.cost * probs).sum(axis=-1).mean()) if estimated and self._planned else 0.0

        def expected(k: int, before: Floats, value: Floats) -> None:
            np.subtract(before[self._landing], self.cost, out=q_values[k])
            own = value[: self._planned] = np.einsum("nd,nd->n", probs if probs.ndim == 2 else probs[k], q_values[k])
            if estimated:
                value[self._planned + 1 :] = self._mean_by_distance(own, k, -wasted * k)

        for _ in backup(len(table) - 1, table.__getitem__, expected):
            pass
        return q_values, table

    def _forward(self, probs: Floats) -> Floats:
        """Expected visits [K + 1, places]."""
        visits: Floats = self.begin[:, None] * self._starts
        for k in range(len(visits) - 1, 1, -1):
            moved = visits[k, : self._planned, None] * (probs if probs.ndim == 2 else probs[k])
            visits[k - 1] += np.bincount(self._landing.ravel(), moved.ravel(), self._places)
            visits[k - 1, self._planned] = 0.0  # nothing goes on from a goal
        return visits

    def _averaged(self, q_values: Floats, visits: Floats, probs: Floats) -> tuple[Floats, Floats]:
        mass, total = np.zeros(self._planned), np.zeros(probs.shape)
        for k in range(len(q_values) - 1, 0, -1):
            mass += visits[k]
            total += visits[k][:, None] * q_values[k]
        total /= np.maximum(mass, 1e-12)[:, None]
        return total - (probs * total).sum(axis=1, keepdims=True), mass

    def _mean_by_distance(self, own: Floats, remaining: int, lost: float) -> Floats:
        """Mean value at each distance 1..longest, interpolated where no state has it; then ``lost``, also where the
        observations left do not suffice."""
        longest = self._longest
        count = np.bincount(self._bucket, minlength=longest + 2)[1 : longest + 1]
        total = np.bincount(self._bucket, weights=own, minlength=longest + 2)[1 : longest + 1]
        result = np.full(longest + 1, lost)
        have = np.flatnonzero(count)
        if len(have):
            result[:longest] = np.interp(np.arange(longest), have, total[have] / count[have])
        result[min(self.graph.plan_length * remaining, longest) :] = lost
        return result
