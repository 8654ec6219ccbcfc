"""Sampled episodes in a graph: many at once, turn by turn, every depth drawn from a stream of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.graph.episodes import episodes, sampled_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    #: Probabilities [nodes, depths] of the depths at nodes.
    DepthProbs = Callable[[Nodes], Floats]

#: Turns of an episode at most: those of one do not meet those of the next.
TURNS = 256


@dataclass(frozen=True, eq=False)
class Rollouts:
    """Episodes by [turn, episode]; entries where ``alive`` is not set are of episodes that have ended."""

    node: Nodes
    column: Nodes
    executed: Nodes
    reward: Floats  #: 1 for the goal, less prices
    alive: NDArray[np.bool_]

    def returns(self) -> Floats:
        """[episodes]"""
        result: Floats = self.reward.sum(axis=0)
        return result


def sample(
    problem: HeadProblem, starts: Nodes, remaining: Nodes, numbers: Nodes, probs: DepthProbs, seed: int
) -> Rollouts:
    """Episodes from ``starts`` with so many observations left each; ``numbers`` name their streams."""
    graph, shape = problem.graph, (int(remaining.max(initial=0)), len(starts))
    node, column, executed = (np.zeros(shape, np.int64) for _ in range(3))
    reward, alive = np.zeros(shape), np.zeros(shape, np.bool_)

    def choose(turn: int, episodes: Nodes, nodes: Nodes) -> Nodes:
        return sampled_columns(probs(nodes), numbers[episodes] * TURNS + turn, seed)

    for turn, who, nodes, columns in episodes(graph, starts, remaining, choose):
        node[turn, who], column[turn, who], alive[turn, who] = nodes, columns, True
        executed[turn, who] = graph.executed[nodes, columns]
        solved = graph.goal[graph.landing[nodes, columns]]
        reward[turn, who] = solved - problem.prices.cost(executed[turn, who])
    return Rollouts(node, column, executed, reward, alive)


def sample_starts(problem: HeadProblem, count: int, first: int, seed: int) -> tuple[Nodes, Nodes]:
    """Starts and budgets of ``count`` episodes, the ``first`` of which has this number."""
    streams = rng.streams(seed, rng.Purpose.FOLLOW, np.arange(first, first + count))
    starts = problem.starts[rng.below(rng.draw(streams, 0), len(problem.starts))]
    return starts, np.array(problem.budgets, np.int64)[rng.below(rng.draw(streams, 1), len(problem.budgets))]


def sample_batch(problem: HeadProblem, count: int, first: int, probs: DepthProbs, seed: int) -> Rollouts:
    """``count`` episodes from starts and with budgets that are drawn, the ``first`` of which has this number."""
    starts, remaining = sample_starts(problem, count, first, seed)
    return sample(problem, starts, remaining, np.arange(first, first + count), probs, seed)
