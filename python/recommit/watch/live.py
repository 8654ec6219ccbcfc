"""A match that a policy plays live. Its plans form a graph, on which the regret of every commitment is exact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph import oracle
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, episodes, head
from recommit.graph.regret import attribute
from recommit.graph.values import OptimalValues
from recommit.prices import Prices
from recommit.report.episodes import in_255ths
from recommit.watch.match import Commitment, Played

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.graph.episodes import Chooser
    from recommit.graph.graph import Nodes
    from recommit.graph.regret import Attribution
    from recommit.policy.policy import CommitPolicy
    from recommit.watch.match import About, Level


#: Most states planned for the regrets of one episode, and most states of a graph that is kept for the next episode.
CAP, KEPT = 1 << 13, 1 << 15


class PolicyMatch:
    """A policy, at its own depths and at fixed ones; ``level`` gives the level of a number."""

    def __init__(self, policy: CommitPolicy, about: About, prices: Prices, level: Callable[[int], Level]) -> None:
        self.policy, self.about, self.prices, self.level = policy, about, prices, level
        self._graph: PolicyGraph | None = None

    def episode(self, level: Level, depth: int) -> Played:
        """Play a greedy episode; see ``Match``."""
        graph, left = self._graph_of(level), self.about.budget
        start = graph.nodes(level.state[None], left)
        choose = always(graph, depth) if depth else head(graph)
        turns = [nodes for _, _, nodes, _ in episodes(graph, start, left, choose)]
        exact = self._search(graph, turns, left)
        rows = attribute(OptimalValues.of(graph, left, self.prices), start, choose) if exact else None
        return self._played(graph, start, left, choose, rows)

    def _graph_of(self, level: Level) -> PolicyGraph:
        """The graph of plans on this level's puzzle; a new one if the puzzle changes or the graph exceeds ``KEPT``."""
        graph = self._graph
        if graph is None or len(graph) > KEPT or graph.puzzle != level.task:
            graph = self._graph = PolicyGraph(self.policy, level.task, self.about.fixed, piece=128)
        return graph

    def _search(self, graph: PolicyGraph, turns: list[Nodes], left: int) -> bool:
        """Plan all states that optimal depths may visit, from each observed state and from the landing of each depth
        there; False if ``CAP`` states do not suffice."""
        search = partial(oracle.search, graph, depths=graph.depths)
        for prices in dict.fromkeys((Prices(), self.prices)):
            for turn, nodes in enumerate(turns):
                for roots, remaining in ((nodes, left - turn), (np.unique(graph.landing[nodes]), left - turn - 1)):
                    if search(roots=roots, budget=remaining, cap=CAP, prices=prices):
                        return False
        return True

    def _played(
        self, graph: PolicyGraph, start: Nodes, left: int, choose: Chooser, costs: Attribution | None
    ) -> Played:
        rows, nodes = [], [int(start[0])]
        for turn, _, (node,), (column,) in episodes(graph, start, left, choose):
            chances = tuple(in_255ths(graph.logits[node]))
            plan = tuple(graph.plans_of(np.array([node]), np.array([column]))[0].tolist())
            cost: tuple[float | None, int, int] = (None, 0, -1)
            if costs is not None:
                cost = float(costs.regret[turn]), int(costs.best[turn]), int(costs.cause[turn])
            rows.append(Commitment(graph.depths[column], int(graph.executed[node, column]), plan, chances, *cost))
            nodes.append(int(graph.landing[node, column]))
        distances = tuple(int(graph.distance[node]) for node in nodes)
        return Played(tuple(rows), distances, bool(graph.goal[nodes[-1]]))
