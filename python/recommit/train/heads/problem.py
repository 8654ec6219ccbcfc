"""What a depth head learns on a commitment graph: what its choices lead to. Values are exact:
``recommit.graph.policy_evaluation``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.graph.episodes import by_state, play
from recommit.graph.policy_evaluation import PolicyEvaluation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.prices import Prices

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Choosing depths on a graph, whose columns they are: equal parts of the episodes have each of ``budgets``."""

    graph: CommitmentGraph
    budgets: tuple[int, ...]
    prices: Prices
    #: Nodes where episodes begin.
    starts: Nodes
    #: [N] after how many commitments an episode may be at a node; as many as there are nodes if never.
    earliest: Nodes

    @classmethod
    def of(cls, graph: CommitmentGraph, depths: Sequence[int], budgets: Sequence[int], prices: Prices) -> HeadProblem:
        """All starts of a graph."""
        if not graph.closed:
            raise ValueError("graph: expected one whose edges all lead to nodes, got one that was cut")
        if graph.budget:
            raise ValueError(
                f"graph: expected one of every state, got one for {graph.budget} observations; build it without "
                "--budget"
            )
        if not budgets or min(budgets) < 1:
            raise ValueError(f"budgets: expected numbers from 1 on, got {tuple(budgets)}")
        graph, starts = graph.only(tuple(depths)), graph.starts.astype(np.int64)
        return cls(graph, tuple(budgets), prices, starts, _earliest(graph, starts))

    def over(
        self, *, starts: Nodes | None = None, budgets: Sequence[int] = (), prices: Prices | None = None
    ) -> HeadProblem:
        """The same graph with other starts, budgets or prices."""
        result = replace(self, budgets=tuple(budgets) or self.budgets, prices=prices or self.prices)
        return result if starts is None else replace(result, starts=starts, earliest=_earliest(self.graph, starts))

    def within_reach(self) -> HeadProblem:
        """The same without nodes that no episode comes to: graphs have all depths, a head some of them."""
        planned = self.graph.planned & (self.earliest < self.longest)
        return replace(self, graph=replace(self.graph, planned=planned))

    def split(self, held: float, seed: int) -> tuple[HeadProblem, HeadProblem]:
        """The problem of most starts, and that of the others: whole groups, drawn by ``seed``, ``held`` of all; a state
        that stands among the starts several times is on one side."""
        _, first, same = np.unique(self.starts, return_index=True, return_inverse=True)
        groups, names = np.unique(self.graph.groups[first[same]], return_inverse=True)
        order = np.argsort(rng.draw(rng.streams(seed, rng.Purpose.SHUFFLE, np.arange(len(groups))), 0))
        away = np.isin(names, order[: max(1, round(held * len(groups)))])
        if away.all():
            raise ValueError(f"graph: expected starts in at least 2 groups, some to learn from, got {len(groups)}")
        return self.over(starts=self.starts[~away]), self.over(starts=self.starts[away])

    @property
    def depths(self) -> tuple[int, ...]:
        """To choose from."""
        return self.graph.depths

    @property
    def longest(self) -> int:
        """The largest budget."""
        return max(self.budgets)

    @cached_property
    def rows(self) -> Nodes:
        """The nodes where a depth is chosen."""
        return self.graph.rows

    @cached_property
    def evaluation(self) -> PolicyEvaluation:
        """Values, visits and advantages of heads, exactly."""
        return PolicyEvaluation(self.graph, self.starts, self.longest, self.prices, self.budgets)

    @property
    def cost(self) -> Floats:
        """[rows, depths] what each commitment costs."""
        return self.evaluation.cost

    def value(self, probs: Floats) -> float:
        """The expected return of an episode."""
        value = self.evaluation.value(probs)
        return float(self.evaluation.begin @ value[:, self.starts].mean(axis=1))

    def visits(self, probs: Floats) -> Floats:
        """[K + 1, rows] expected, of one episode: that of a start drawn evenly."""
        return self.evaluation.visits(probs) / len(self.starts)

    def advantages(self, probs: Floats) -> tuple[Floats, Floats]:
        """Q - V [rows, depths], averaged over the observations left, and the visits [rows] of one episode."""
        advantage, visits = self.evaluation.advantages(probs)
        return advantage, visits / len(self.starts)

    def returns(self, columns: Nodes) -> list[float]:
        """The mean return of episodes by budget, which take these columns [rows], or [K, rows] with row k - 1 for k
        observations left."""
        chosen = np.zeros((*columns.shape[:-1], len(self.graph)), np.int64)
        chosen[..., self.rows] = columns
        played = [play(self.graph, self.starts, budget, by_state(chosen, budget)) for budget in self.budgets]
        return [float(self.prices.returns(*each.outcome()).mean()) for each in played]


def _earliest(graph: CommitmentGraph, starts: Nodes) -> Nodes:
    result = np.full(len(graph), len(graph))
    here, commitments = np.unique(starts), 0
    while len(here):
        result[here] = commitments
        there = np.unique(graph.landing[here[graph.planned[here] & ~graph.goal[here]]])
        here, commitments = there[result[there] == len(graph)], commitments + 1
    return result
