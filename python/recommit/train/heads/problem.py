"""What a depth head learns on a commitment graph: what it reads in every state, and what its choices lead to.
Values and gradients are exact: ``recommit.graph.policy_evaluation``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.graph.episodes import by_state, play
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.config import FEATURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.prices import Prices

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Of ``FEATURES`` those that a graph has.
ON_GRAPHS = ("z", "confidence", "z+confidence", "agreement", "z+agreement")


def head_inputs(
    features: str,
    probs: NDArray[np.floating],
    z: NDArray[np.floating] | None = None,
    agreement: NDArray[np.floating] | None = None,
) -> Floats:
    """[N, numbers] the parts of a head's ``features``, from ``probs`` [N, 8, 4] of the actions of greedy plans, z, and
    how far augmentations agree."""
    if features not in ON_GRAPHS:
        raise ValueError(f"features: expected one of {', '.join(ON_GRAPHS)}, got {features}")
    if features != "confidence" and z is None:
        raise ValueError(f"graph: expected one with features (recommit graph build --features), got {features}")
    if "agreement" in FEATURES[features] and agreement is None:
        raise ValueError(
            f"graph: expected one of several augmentations (recommit graph build --augmentations 8), got {features}"
        )
    logs = np.log(np.maximum(probs.astype(np.float64), 1e-30))
    best = logs.max(axis=-1)
    confidence = [np.exp(best), np.exp(best.cumsum(axis=-1)), -(np.exp(logs) * logs).sum(axis=-1)]
    parts = {"z": z, "confidence": np.concatenate(confidence, axis=-1), "agreement": agreement}
    return np.concatenate([parts[part] for part in FEATURES[features]], axis=-1)


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Choosing depths on a graph, whose columns they are: equal parts of the episodes have each of ``budgets``."""

    graph: CommitmentGraph
    budgets: tuple[int, ...]
    prices: Prices
    #: Nodes where episodes begin.
    starts: Nodes
    #: What a head reads, by name, and at every node [N, numbers], with mean 0 and deviation 1 where somebody chooses.
    features: str
    inputs: NDArray[np.float32]
    mean: Floats
    deviation: Floats
    #: [N] after how many commitments an episode may be at a node; as many as there are nodes if never.
    earliest: Nodes

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
        if graph.budget:
            raise ValueError(
                f"graph: expected one of every state, got one for {graph.budget} observations; build it without "
                "--budget"
            )
        if not budgets or min(budgets) < 1:
            raise ValueError(f"budgets: expected numbers from 1 on, got {tuple(budgets)}")
        graph = graph.only(tuple(depths))
        probs = np.where(graph.planned[:, None, None], graph.probs, np.float32(0.25))
        raw, rows = head_inputs(features, probs, graph.features, graph.disagreement), graph.rows
        mean, deviation = raw[rows].mean(axis=0), np.maximum(raw[rows].std(axis=0), 1e-6)
        inputs, starts = ((raw - mean) / deviation).astype(np.float32), graph.starts.astype(np.int64)
        earliest = _earliest(graph, starts)
        return cls(graph, tuple(budgets), prices, starts, features, inputs, mean, deviation, earliest)

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
        """The nodes where somebody chooses."""
        return self.graph.rows

    @cached_property
    def landing(self) -> Nodes:
        """[rows, depths] nodes, for methods that follow episodes."""
        return self.graph.landing[self.rows].astype(np.int64)

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

    def gradient(self, probs: Floats) -> Floats:
        """[rows, depths] of ``value`` by the logits of the depths."""
        advantage, visits = self.advantages(probs)
        return advantage * visits[:, None] * probs

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
