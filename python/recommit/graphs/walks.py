"""Episodes in a commitment graph under a rule: every commitment as a row, every episode as a sum of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recommit.graphs.graph import PLAN
from recommit.graphs.values import require_closed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graphs.graph import CommitmentGraph
    from recommit.graphs.values import Price

    Ints = NDArray[np.int64]


class Choose(Protocol):
    """A rule at work in episodes."""

    def __call__(self, turn: int, episodes: Ints, nodes: Ints) -> Ints:
        """The depth 1..8 for each of the ``episodes`` that are under way, now at ``nodes``; ``turn`` 0 is the first
        look.
        """


def table(depths: NDArray[np.integer]) -> Choose:
    """A rule that depends on the state alone: its depth at every node."""
    chosen = depths.astype(np.int64)
    if chosen.size and not (chosen.min() >= 1 and chosen.max() <= PLAN):
        raise ValueError(f"depths: expected numbers 1..{PLAN}, got {chosen.min()}..{chosen.max()}")
    return lambda _turn, _episodes, nodes: chosen[nodes]


@dataclass(frozen=True)
class Walks:
    """The commitments of all episodes, in the order (turn, episode)."""

    budget: int
    starts: int
    episode: Ints
    turn: Ints
    node: Ints
    depth: Ints
    executed: Ints
    landing: Ints
    #: Did the commitment reach the goal?
    solved: NDArray[np.bool_]

    def per_start(self, what: NDArray[np.floating] | NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.float64]:
        """[starts] the sum over each episode's commitments."""
        result: NDArray[np.float64] = np.bincount(self.episode, what, self.starts).astype(np.float64)
        return result

    def solves(self) -> NDArray[np.bool_]:
        """[starts] which episodes reached the goal?"""
        return self.per_start(self.solved) > 0

    def value(self, price: Price) -> NDArray[np.float64]:
        """[starts] 1 for the goal, less what was paid for actions and looks."""
        paid = price.action * self.executed + price.look
        return self.solves() - self.per_start(paid)

    def came_back(self) -> NDArray[np.bool_]:
        """Which commitments ended in a state where the same episode had been before?"""
        size = int(max(self.landing.max(initial=0), self.node.max(initial=0))) + 1
        here, there = self.episode * size + self.node, self.episode * size + self.landing
        places, first = np.unique(here, return_index=True)  # rows are in the order of turns: the first visit
        if not len(places):
            return np.zeros(0, np.bool_)
        at = np.minimum(np.searchsorted(places, there), len(places) - 1)
        result: NDArray[np.bool_] = (places[at] == there) & (self.turn[first[at]] <= self.turn)
        return result


def walk(graph: CommitmentGraph, budget: int, choose: Choose) -> Walks:
    """One episode from every start, of at most ``budget`` looks."""
    require_closed(graph)
    at = graph.starts.astype(np.int64)
    open_ = ~graph.goal[at]
    rows: list[tuple[NDArray[Any], ...]] = []
    for turn in range(budget):
        who = np.flatnonzero(open_)
        if not len(who):
            break
        nodes = at[who]
        depth = choose(turn, who, nodes)
        stop = graph.stop[nodes].astype(np.int64)
        arrived = (stop > 0) & (stop <= depth)
        landing = graph.landing[nodes, depth - 1].astype(np.int64)
        rows.append((who, np.full(len(who), turn), nodes, depth, np.where(arrived, stop, depth), landing, arrived))
        at[who], open_[who] = landing, ~arrived
    empty = (*(np.zeros(0, np.int64) for _ in range(6)), np.zeros(0, np.bool_))
    columns = [np.concatenate(column) for column in zip(empty, *rows, strict=True)]
    return Walks(budget, len(at), *columns)
