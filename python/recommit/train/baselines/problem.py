"""What a depth head learns on a commitment graph: what it reads in every state, and what its choices lead to.

With k looks left, probabilities pi of the depths, and c the price of a commitment, everything is exact:

    Q_k(s, h) = V_{k-1}(s') - c(s, h),   V_k(s) = sum over h of pi(h | s) Q_k(s, h),   V_k(goal) = 1,   V_0 = 0
    gradient of the mean value by a logit = sum over k of visits_k(s) pi(h | s) (Q_k(s, h) - V_k(s))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit.policy.config import AGREEMENT, FEATURES, MAX_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.commitments import Commitments, Prices
    from recommit.graph.graph import CommitmentGraph

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Of ``FEATURES`` those that a graph has.
ON_GRAPHS = ("z", "confidence", "z+confidence", "agreement", "z+agreement")
#: How many numbers say how far augmentations agree.
APART = AGREEMENT * MAX_ACTIONS


def head_inputs(
    read: NDArray[np.floating] | None, probabilities: NDArray[np.floating], features: str, several: bool = False
) -> Floats:
    """[N, numbers] the parts of a head's ``features``. ``read`` is that of the graph; the last of it says how far
    augmentations agree if there are ``several``."""
    if features not in ON_GRAPHS:
        raise ValueError(f"features: expected one of {', '.join(ON_GRAPHS)}, got {features}")
    if features != "confidence" and read is None:
        raise ValueError(f"graph: expected one with features (recommit graph build --features), got {features}")
    if "agreement" in FEATURES[features] and not several:
        raise ValueError(f"graph: expected one of several views (recommit graph build --views 8), got {features}")
    z, apart = (read[:, :-APART], read[:, -APART:]) if several and read is not None else (read, None)
    logs = np.log(np.maximum(probabilities.astype(np.float64), 1e-30))
    best = logs.max(axis=-1)
    sure = [np.exp(best), np.exp(best.cumsum(axis=-1)), -(np.exp(logs) * logs).sum(axis=-1)]
    parts = {"z": z, "confidence": np.concatenate(sure, axis=-1), "agreement": apart}
    return np.concatenate([parts[part] for part in FEATURES[features]], axis=-1)


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Choosing depths from these starts of a graph: equal parts of the episodes have each of ``budgets``."""

    graph: CommitmentGraph
    depths: tuple[int, ...]
    budgets: tuple[int, ...]
    prices: Prices
    #: Nodes where episodes begin.
    starts: Nodes
    features: str = "z+confidence"

    @classmethod
    def of(
        cls,
        graph: CommitmentGraph,
        depths: Sequence[int],
        budgets: Sequence[int],
        prices: Prices,
        features: str = "z+confidence",
    ) -> HeadProblem:
        """All starts of a graph."""
        if not graph.closed:
            raise ValueError("graph: expected one whose edges all lead to nodes, got one that was cut")
        if not budgets or min(budgets) < 1:
            raise ValueError(f"budgets: expected numbers from 1 on, got {tuple(budgets)}")
        return cls(graph, tuple(depths), tuple(budgets), prices, graph.starts.astype(np.int64), features)

    @cached_property
    def edges(self) -> Commitments:
        """Where commitments lead; columns are ``depths``."""
        return self.graph.commitments(self.depths)

    @cached_property
    def rows(self) -> Nodes:
        """The nodes where somebody chooses."""
        return self.edges.rows

    @cached_property
    def cost(self) -> Floats:
        """[rows, depths] what each commitment costs."""
        return self.prices.cost(self.edges)[np.searchsorted(self.edges.rows, self.rows)]

    @cached_property
    def landing(self) -> Nodes:
        """[rows, depths] nodes."""
        return self.edges.landing[self.rows].astype(np.int64)

    @property
    def inputs(self) -> NDArray[np.float32]:
        """[N, numbers] what the head reads at every node, with mean 0 and deviation 1 over ``rows``."""
        return self._read[0]

    @property
    def norm(self) -> tuple[Floats, Floats]:
        """Mean and deviation of what the head reads."""
        return self._read[1:]

    @cached_property
    def _read(self) -> tuple[NDArray[np.float32], Floats, Floats]:
        graph = self.graph
        chances = np.where(graph.looked[:, None, None], graph.probabilities, np.float32(0.25))
        raw = head_inputs(graph.read, chances, self.features, graph.disagreement is not None)
        mean, deviation = raw[self.rows].mean(axis=0), np.maximum(raw[self.rows].std(axis=0), 1e-6)
        return ((raw - mean) / deviation).astype(np.float32), mean, deviation

    def over(
        self, *, starts: Nodes | None = None, budgets: Sequence[int] = (), prices: Prices | None = None
    ) -> HeadProblem:
        """The same graph with other starts, budgets or prices; what does not depend on them is not worked out again."""
        result = HeadProblem(
            self.graph,
            self.depths,
            tuple(budgets) or self.budgets,
            prices or self.prices,
            self.starts if starts is None else starts,
            self.features,
        )
        result.__dict__.update({name: getattr(self, name) for name in ("edges", "rows", "landing", "_read")})
        if starts is None:
            result.__dict__["earliest"] = self.earliest
        return result

    def within_reach(self) -> HeadProblem:
        """The same without nodes that no episode comes to: graphs have all depths, a head some of them."""
        result = self.over()
        rows = self.rows[self.earliest[self.rows] < self.longest]
        result.__dict__.update(rows=rows, landing=self.edges.landing[rows].astype(np.int64))
        return result

    @cached_property
    def earliest(self) -> Nodes:
        """[N] after how many commitments an episode may be at a node; as many as there are nodes if never."""
        result = np.full(len(self.graph), len(self.graph))
        here, commitments = np.unique(self.starts), 0
        while len(here):
            result[here] = commitments
            there = np.unique(self.edges.landing[here[~self.graph.goal[here]]])
            here, commitments = there[result[there] == len(self.graph)], commitments + 1
        return result

    @property
    def longest(self) -> int:
        """The largest budget."""
        return max(self.budgets)

    def values(self, probs: Floats) -> Floats:
        """[K + 1, N] V, under probabilities [rows, depths]."""
        value = np.zeros((self.longest + 1, len(self.graph)))
        value[:, self.graph.goal] = 1.0
        for k in range(1, len(value)):
            value[k, self.rows] = (probs * (value[k - 1][self.landing] - self.cost)).sum(axis=1)
        return value

    def visits(self, probs: Floats) -> Floats:
        """[K + 1, N] expected, of one episode: that of a start drawn evenly."""
        result = np.zeros((self.longest + 1, len(self.graph)))
        for k in self.budgets:
            np.add.at(result[k], self.starts, 1.0 / len(self.starts) / len(self.budgets))
        for k in range(self.longest, 1, -1):
            moved = result[k, self.rows, None] * probs
            result[k - 1] += np.bincount(self.landing.ravel(), moved.ravel(), len(self.graph))
        result[:, self.graph.goal] = 0.0
        return result

    def worth(self, probs: Floats) -> float:
        """The mean value of episodes."""
        value = self.values(probs)
        return float(np.mean([value[k, self.starts].mean() for k in self.budgets]))

    def gradient(self, probs: Floats) -> Floats:
        """[rows, depths] of ``worth`` by the logits of the depths."""
        return self.gradient_and_visits(probs)[0]

    def gradient_and_visits(self, probs: Floats) -> tuple[Floats, Floats]:
        """The gradient, and the visits [rows] at any number of looks left."""
        visits = self.visits(probs)[:, self.rows]
        value, result = np.zeros(len(self.graph)), np.zeros_like(probs)
        value[self.graph.goal] = 1.0
        for k in range(1, self.longest + 1):
            q_values = value[self.landing] - self.cost
            own = (probs * q_values).sum(axis=1)
            result += visits[k, :, None] * (q_values - own[:, None])
            value[self.rows] = own
        return result * probs, visits.sum(axis=0)
