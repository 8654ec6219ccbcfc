"""Sampled episodes in a graph: many at once, turn by turn, every depth drawn from a stream of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.train.baselines.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    #: Probabilities [nodes, depths] of the depths at nodes.
    Chance = Callable[[Nodes], Floats]

#: Turns of an episode at most: those of one do not meet those of the next.
TURNS = 256


@dataclass(frozen=True, eq=False)
class Walks:
    """Episodes by [turn, episode]; entries where ``alive`` is not set are of episodes that have ended."""

    node: Nodes
    column: Nodes
    landing: Nodes
    executed: Nodes
    reward: Floats  #: 1 for the goal, less prices
    solved: NDArray[np.bool_]
    alive: NDArray[np.bool_]

    def total(self) -> Floats:
        """[episodes] what each brought."""
        result: Floats = self.reward.sum(axis=0)
        return result


def play(problem: HeadProblem, starts: Nodes, remaining: Nodes, numbers: Nodes, probs: Chance, seed: int) -> Walks:
    """Episodes from ``starts`` with so many looks ``left`` each; ``numbers`` name their streams."""
    edges, rows = problem.edges, np.full(len(problem.graph), -1, np.int64)
    rows[problem.rows] = np.arange(len(problem.rows))
    turns, many = int(remaining.max(initial=0)), len(starts)
    walks = _empty(turns, many)
    here = starts.copy()
    for turn in range(turns):
        who = np.flatnonzero((rows[here] >= 0) & (turn < remaining))
        if not len(who):
            break
        at = here[who]
        column = drawn(probs(at), numbers[who] * TURNS + turn, seed)
        there = edges.landing[at, column].astype(np.int64)
        done = problem.graph.goal[there]
        walks.alive[turn, who], walks.solved[turn, who] = True, done
        walks.node[turn, who], walks.column[turn, who], walks.landing[turn, who] = at, column, there
        walks.executed[turn, who] = edges.executed[at, column]
        walks.reward[turn, who] = done - problem.cost[rows[at], column]
        here[who] = there
    return walks


def drawn(probs: Floats, numbers: Nodes, seed: int) -> Nodes:
    """A column for each row of probabilities, from the stream of its number."""
    uniform = rng.uniform(rng.streams(seed, rng.Purpose.DEPTHS, numbers.astype(np.uint64)), 0)
    result: Nodes = (uniform[:, None] >= np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
    return result


def drawn_starts(problem: HeadProblem, count: int, first: int, seed: int) -> tuple[Nodes, Nodes]:
    """Starts and budgets of ``count`` episodes, the ``first`` of which has this number."""
    words = rng.draw(rng.streams(seed, rng.Purpose.FOLLOW, np.arange(first, first + count)), 0)
    starts = problem.starts[rng.below(words, len(problem.starts))]
    words = rng.draw(rng.streams(seed, rng.Purpose.FOLLOW, np.arange(first, first + count)), 1)
    return starts, np.array(problem.budgets, np.int64)[rng.below(words, len(problem.budgets))]


def _empty(turns: int, many: int) -> Walks:
    shape = (turns, many)
    node, column, landing, executed = (np.zeros(shape, np.int64) for _ in range(4))
    solved, alive = (np.zeros(shape, np.bool_) for _ in range(2))
    return Walks(node, column, landing, executed, np.zeros(shape), solved, alive)
