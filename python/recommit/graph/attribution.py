"""Episodes of a rule in a commitment graph, commitment by commitment: what each of them cost, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recommit.graph.regret import TIE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recommit.graph.commitments import Commitments, Prices
    from recommit.graph.regret import Best, Followed

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Why a commitment was not the best: the first of these that applies.
CAUSES = ("last look", "lost level", "round", "too deep", "too shallow")


class Choose(Protocol):
    """A rule at work: it may remember what its episodes have seen."""

    def __call__(self, remaining: int, episodes: Nodes, path: Nodes) -> Nodes:
        """The column of the depth for each of the ``episodes`` that go on, with so many looks left; ``path`` [looks,
        episodes] are the states where they looked, the present one last."""


def by_state(followed: Followed) -> Choose:
    """A rule that depends on the state and the looks left alone."""
    return lambda remaining, _episodes, path: followed.column[remaining - 1, path[-1]]


@dataclass(frozen=True, eq=False)
class Attribution:
    """Every commitment of some episodes, in order (look, start), with its regret and the cause of it."""

    starts: Nodes  #: the states where the episodes begin
    start: Nodes  #: which of the starts
    remaining: Nodes  #: looks left, this one too
    node: Nodes
    depth: NDArray[np.int64]
    executed: Nodes
    landing: Nodes
    solved: NDArray[np.bool_]
    regret: Floats
    cause: NDArray[np.int8]  #: place in ``CAUSES``, -1 where the commitment was one of the best
    best: Nodes  #: the nearest depth that was best, of two as near the shallower
    #: What whoever drew these depths gives away there on average over its draw. None where nothing was drawn.
    expected: Floats | None = None

    def total(self) -> Floats:
        """[starts] the regret of each episode: V^p - V^r."""
        return self._sum(self.regret)

    def outcome(self) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """[starts] solved, actions and looks of each episode that had something to choose."""
        return self._sum(self.solved) > 0, self._sum(self.executed), self._sum(np.ones(len(self.start)))

    def value(self, graph: Commitments, prices: Prices) -> Floats:
        """[starts] what each episode is worth: V^r."""
        solved, actions, looks = self.outcome()
        result: Floats = (solved | graph.goal[self.starts]) - prices.action * actions - prices.look * looks
        return result

    def shares(self) -> dict[str, float]:
        """Shares of all regret by cause; they add up to 1, or are all 0 if there is none."""
        sums = np.bincount(self.cause[self.cause >= 0], self.regret[self.cause >= 0], len(CAUSES))
        return dict(zip(CAUSES, (sums / max(sums.sum(), TIE)).tolist(), strict=True))

    def _sum(self, each: NDArray[np.generic]) -> Floats:
        return np.bincount(self.start, each.astype(np.float64), len(self.starts)).astype(np.float64)


def attribute(best: Best, starts: NDArray[np.integer], choose: Choose) -> Attribution:
    """Play every start once and say of each commitment what it cost, and why.

    ``last look``: with the looks left nothing could be solved any more, so that only prices were lost. ``lost
    level``: the commitment made it unsolvable. ``round``: it led to a state where the episode had been. Otherwise the
    depth was ``too deep`` or ``too shallow``, above or below the nearest depth that was best (of two as near, the
    shallower one).
    """
    nodes = np.asarray(starts, np.int64)
    parts = [_judged(best, *each) for each in _episodes(best.graph, best.budget, nodes, choose)]
    none = [np.zeros(0, np.int64)] * 6 + [
        np.zeros(0, np.bool_),
        np.zeros(0),
        np.zeros(0, np.int8),
        np.zeros(0, np.int64),
    ]
    return Attribution(nodes, *(np.concatenate(column) for column in zip(none, *parts, strict=True)))


def outcome(
    graph: Commitments, starts: NDArray[np.integer], budget: int, choose: Choose
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """[starts] solved, actions and looks of one episode from each start."""
    nodes = np.asarray(starts, np.int64)
    solved, actions, looks = graph.goal[nodes], np.zeros(len(nodes)), np.zeros(len(nodes))
    for who, _, path, column in _episodes(graph, budget, nodes, choose):
        actions[who] += graph.executed[path[-1], column]
        looks[who] += 1
        solved[who] = graph.goal[graph.landing[path[-1], column]]
    return solved, actions, looks


def visits(followed: Followed, starts: NDArray[np.integer]) -> Floats:
    """[K + 1, N] how often episodes from these starts are in a state with so many looks left."""
    best, result = followed.best, np.zeros_like(followed.value)
    for _, remaining, path, _ in _episodes(best.graph, best.budget, np.asarray(starts, np.int64), by_state(followed)):
        np.add.at(result[remaining], path[-1], 1.0)
    return result


def _episodes(
    graph: Commitments, budget: int, starts: Nodes, choose: Choose
) -> Iterator[tuple[Nodes, int, Nodes, Nodes]]:
    """At each look: the episodes that still choose, how many looks are left, where they have been [looks, episodes],
    and the columns of their depths."""
    choosing = np.zeros(len(graph), np.bool_)
    choosing[graph.rows] = True
    who, path = np.arange(len(starts)), starts[None]
    for remaining in range(budget, 0, -1):
        on = choosing[path[-1]]
        who, path = who[on], path[:, on]
        if not len(who):
            return
        column = choose(remaining, who, path)
        yield who, remaining, path, column
        path = np.concatenate([path, graph.landing[path[-1], column][None]])


@dataclass(frozen=True, eq=False)
class JudgedDepths:
    """Depths that were taken in states, each against the best one."""

    regret: Floats
    cause: NDArray[np.int8]  #: place in ``CAUSES``, -1 where it was one of the best
    best: Nodes  #: the nearest depth that was best, of two as near the shallower


class JudgedStates:
    """States with so many looks left: what every depth there is worth, computed once for all that may be taken."""

    def __init__(self, best: Best, remaining: int, node: Nodes) -> None:
        graph = best.graph
        self.node, self.q_values, self.most = node, best.q_values(remaining, node), best.value[remaining, node]
        self._depths, self._maximal = np.array(graph.depths), self.q_values >= self.most[:, None] - TIE
        self._hopeless, self._solvable = ~best.hope[remaining, node], graph.distance[node] >= 0
        self._graph = graph

    def taken(self, column: Nodes, returned: NDArray[np.bool_], rows: Nodes) -> JudgedDepths:
        """What the depths of these columns give away in these ``rows`` of the states, and why; which of them
        ``returned`` to a state where the episode had been?"""
        maximal = self._maximal[rows]
        apart = self._depths[column][:, None] - self._depths
        nearest = np.where(maximal, np.abs(apart), np.iinfo(apart.dtype).max).argmin(axis=1)
        each = np.arange(len(rows))
        lost = self._graph.distance[self._graph.landing[self.node[rows], column]] < 0
        deep = apart[each, nearest] > 0
        applies = [self._hopeless[rows], self._solvable[rows] & lost, returned, deep, np.ones(len(rows), np.bool_)]
        cause = np.where(maximal[each, column], -1, np.argmax(applies, axis=0)).astype(np.int8)
        return JudgedDepths(self.most[rows] - self.q_values[rows, column], cause, self._depths[nearest])


def _judged(best: Best, who: Nodes, remaining: int, path: Nodes, column: Nodes) -> tuple[NDArray[np.generic], ...]:
    graph, node = best.graph, path[-1]
    there, executed = graph.landing[node, column].astype(np.int64), graph.executed[node, column].astype(np.int64)
    each = JudgedStates(best, remaining, node).taken(column, (path == there).any(axis=0), np.arange(len(node)))
    depth, looks = np.array(graph.depths)[column], np.full(len(who), remaining)
    return who, looks, node, depth, executed, there, graph.goal[there], each.regret, each.cause, each.best
