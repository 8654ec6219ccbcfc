"""Rules at work in episodes: the one place that asks a rule again and again and remembers what its episodes have seen.

Episodes go on side by side on nodes that have plans. ``RuleAtWork`` chooses on a graph that still grows, where each
look asks the rule about the plans that are new; ``on_finished`` on a commitment graph, where a rule that reads the
present plan alone is asked about all nodes at once. Both give the same episodes on the same plans.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recommit.horizon import Plans, Rule, Tail, near

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graphs.rules import NamedRule
    from recommit.play.attribution import Choose
    from recommit.play.plan_graph import PlanGraph

    Ints = NDArray[np.int64]


class PlansOf(Protocol):
    """The plans of nodes, beside what is left of the last ones."""

    def __call__(self, nodes: Ints, previous: Tail | None = None) -> Plans:
        """In the order of the nodes."""


@dataclass(frozen=True)
class LikeliestDepth(Rule):
    """The policy's own depth head: the likeliest of ``depths``, ties to the smaller. ``Plans.features`` are its
    logits."""

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """The first of the order."""
        return self.order(plans)[:, 0]

    def order(self, plans: Plans) -> NDArray[np.int32]:
        """The likeliest first."""
        why = "features [N, depths], the logits of the depth head, because it takes the likeliest"
        logits = near.need("LikeliestDepth", why, plans.features)
        return self.allowed(plans.horizon)[np.argsort(-logits, axis=1, kind="stable")]


class EpisodesUnderRule:
    """Depths for episodes that are under way; a look of turn 0 begins new ones.

    ``orders`` are those of all nodes (``NamedRule.orders``), where the rule has been asked before; otherwise it is
    asked at every look.
    """

    def __init__(self, entry: NamedRule, plans: PlansOf, orders: NDArray[np.int32] | None = None) -> None:
        self._entry, self._plans, self._orders = entry, plans, orders
        self._begin(0)

    def depths(self, turn: int, episodes: Ints, nodes: Ints) -> NDArray[np.int32]:
        """What each of the ``episodes`` commits to at its node."""
        if turn == 0:
            self._begin(int(episodes.max(initial=-1)) + 1)
        order = self._asked(episodes, nodes) if self._orders is None else self._orders[nodes]
        before = self._visits(episodes, nodes) if self._entry.memory else np.zeros(len(nodes), np.int64)
        result: NDArray[np.int32] = order[np.arange(len(nodes)), before % order.shape[1]]
        self._node[episodes], self._depth[episodes] = nodes, result
        return result

    def _begin(self, count: int) -> None:
        """Nobody has been anywhere; a depth of 0 stands for no last look."""
        self._path = np.empty((0, count), np.int64)
        self._node, self._depth = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def _asked(self, episodes: Ints, nodes: Ints) -> NDArray[np.int32]:
        if not self._entry.reads_last_plan:
            return self._entry.orders(self._plans(nodes))
        depth = self._depth[episodes]
        tail = self._plans(np.where(depth > 0, self._node[episodes], nodes)).tail(depth)
        return self._entry.orders(self._plans(nodes, Tail(tail.actions, np.where(depth > 0, tail.remaining, 0))))

    def _visits(self, episodes: Ints, nodes: Ints) -> Ints:
        """How often each of the episodes was at its node so far."""
        before: Ints = (self._path[:, episodes] == nodes).sum(axis=0)
        here = np.full((1, self._path.shape[1]), -1)
        here[0, episodes] = nodes
        self._path = np.concatenate([self._path, here])
        return before


class RuleAtWork:
    """A ``Chooser`` of ``recommit.play.plan_graph``."""

    def __init__(self, graph: PlanGraph, entry: NamedRule) -> None:
        if graph.probabilities.shape[1] != 1:
            raise ValueError(
                "agents: expected rules for a policy whose plan does not depend on the depth, got "
                "decoder.depth_conditioning"
            )
        if entry.rule is None:
            raise ValueError(f"rules: expected a rule that reads plans, got {entry.name}")
        self._graph = graph
        self._episodes = EpisodesUnderRule(entry, self._plans)

    def __call__(self, turn: int, episodes: Ints, nodes: Ints) -> Ints:
        """The columns of the depths that the rule commits to."""
        return np.searchsorted(self._graph.depths, self._episodes.depths(turn, episodes, nodes))

    def _plans(self, nodes: Ints, previous: Tail | None = None) -> Plans:
        return Plans(self._graph.plans[nodes, 0], self._graph.probabilities[nodes, 0], previous=previous)


def on_finished(entry: NamedRule, every: Plans, orders: NDArray[np.int32] | None = None) -> Choose:
    """The rule in episodes of ``recommit.play.attribution`` on a commitment graph with the plans ``every``; columns are
    depths 1..8. ``orders`` of all nodes need not be asked for where they are at hand."""
    if orders is None and not entry.reads_last_plan:
        orders = entry.orders(every)
    episodes = EpisodesUnderRule(entry, partial(_some, every), orders)
    return lambda _left, who, path: episodes.depths(len(path) - 1, who, path[-1]).astype(np.int64) - 1


def _some(every: Plans, nodes: Ints, previous: Tail | None = None) -> Plans:
    assert every.probabilities is not None
    return Plans(every.actions[nodes], every.probabilities[nodes], previous=previous)
