"""Choosers that play rules in episodes, and their memory of earlier visits and plans.

On a graph that still grows, the rule is evaluated at each observation (``rule_on_growing``). On a finished one, a rule
that reads the present plan alone is evaluated at all nodes at once (``RulesOnGraph``). Both give the same episodes on
the same plans.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph.episodes import softmax
from recommit.graph.graph import ALL_DEPTHS, PLAN
from recommit.horizon import Consecutive, Fixed, Plans, Rule, Tail, ThresholdRule, rule_registry
from recommit.horizon.rule import need
from recommit.storage.python_file import failing_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.graph.build import PolicyGraph
    from recommit.graph.episodes import Chooser
    from recommit.graph.graph import CommitmentGraph, Nodes
    from recommit.horizon.rule import Depths
    from recommit.horizon.rule_registry import NamedRule


@dataclass(frozen=True)
class LikeliestDepth(Rule):
    """The policy's own depth head: the likeliest of ``depths``, ties to the smaller. ``Plans.features`` are its
    logits."""

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """The likeliest depth of each plan."""
        return self.order(plans)[:, 0]

    def order(self, plans: Plans) -> NDArray[np.int32]:
        """Depths by falling logit."""
        why = "features [N, depths], the logits of the depth head, because it takes the likeliest"
        logits = need("LikeliestDepth", why, plans.features)
        return self.allowed(plans.horizon)[np.argsort(-logits, axis=1, kind="stable")]


class RuleChooser:
    """``Chooser`` of a rule. ``plans_of`` gives the plans of nodes, optionally with the rest of the previous ones.
    ``orders`` are the precomputed orders of all nodes (``NamedRule.orders``); without them the rule is evaluated at
    every observation."""

    def __init__(
        self,
        entry: NamedRule,
        plans_of: Callable[..., Plans],
        depths: tuple[int, ...] = ALL_DEPTHS,
        orders: Depths | None = None,
    ) -> None:
        self._entry, self._plans_of, self._orders = entry, plans_of, orders
        self._column = np.zeros(depths[-1] + 1, np.int64)
        self._column[list(depths)] = np.arange(len(depths))
        self._begin(0)

    def __call__(self, turn: int, episodes: Nodes, nodes: Nodes) -> Nodes:
        """Columns of the depths that the rule chooses."""
        if turn == 0:
            self._begin(int(episodes.max(initial=-1)) + 1)
        order = self._orders_now(episodes, nodes) if self._orders is None else self._orders[nodes]
        before = self._visits(episodes, nodes) if self._entry.memory else np.zeros(len(nodes), np.int64)
        depths: Depths = order[np.arange(len(nodes)), before % order.shape[1]]
        self._node[episodes], self._depth[episodes] = nodes, depths
        return self._column[depths]

    def _begin(self, count: int) -> None:
        """Reset the memory: no visits, and a depth of 0, which stands for no previous plan."""
        self._path = np.empty((0, count), np.int64)
        self._node, self._depth = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def _orders_now(self, episodes: Nodes, nodes: Nodes) -> Depths:
        if "previous" not in self._entry.reads:
            return self._entry.orders(self._plans_of(nodes))
        depth = self._depth[episodes]
        tail = self._plans_of(np.where(depth > 0, self._node[episodes], nodes)).tail(depth)
        return self._entry.orders(self._plans_of(nodes, Tail(tail.actions, np.where(depth > 0, tail.remaining, 0))))

    def _visits(self, episodes: Nodes, nodes: Nodes) -> Nodes:
        """Number of earlier visits of each episode to its node; records the present one."""
        before: Nodes = (self._path[:, episodes] == nodes).sum(axis=0)
        here = np.full((1, self._path.shape[1]), -1)
        here[0, episodes] = nodes
        self._path = np.concatenate([self._path, here])
        return before


def rule_on_growing(graph: PolicyGraph, entry: NamedRule) -> Chooser:
    """Chooser of a rule on a graph that still grows."""
    if graph.probs.ndim != 3:
        raise ValueError(
            "agents: expected rules for a policy whose plan does not depend on the depth, got "
            "decoder.depth_conditioning"
        )
    if entry.rule is None:
        raise ValueError(f"rules: expected a rule that reads plans, got {entry.name}")

    def plans_of(nodes: Nodes, previous: Tail | None = None) -> Plans:
        return Plans(graph.plans[nodes], graph.probs[nodes], previous=previous)

    return RuleChooser(entry, plans_of, graph.depths)


def adaptive_memory(graph: PolicyGraph) -> Chooser:
    """Chooser of the depth head with a memory: on a return to a state, the next likeliest depth, so that episodes do
    not loop."""

    def plans_of(nodes: Nodes, previous: Tail | None = None) -> Plans:
        return Plans(graph.plans_of(nodes, 0 * nodes), previous=previous, features=graph.logits[nodes])

    entry = rule_registry.NamedRule("head+memory", LikeliestDepth(depths=graph.head_depths), memory=True)
    return RuleChooser(entry, plans_of, graph.depths)


@dataclass(frozen=True, eq=False)
class RulesOnGraph:
    """A finished graph laid out for rules: the plans of all nodes, read once."""

    graph: CommitmentGraph

    @cached_property
    def plans(self) -> Plans:
        """Plans of every node, without samples; nodes without a plan get uniform probabilities, which are not read."""
        even = np.float32(0.25)
        probs = np.where(self.graph.planned[:, None, None], self.graph.probs, even)
        return Plans(self.graph.plans, probs, features=self.graph.features)

    @cached_property
    def _head_plans(self) -> Plans:
        """``plans`` with the logits of the depth head as features, which ``LikeliestDepth`` reads."""
        return replace(self.plans, features=self.graph.logits)

    @cached_property
    def _sampled_plans(self) -> Plans:
        """``plans`` with samples."""
        if self.graph.samples is None:
            raise ValueError(
                "graph: expected one with samples, which this rule reads, got one without; build it with --samples 32"
            )
        return replace(self.plans, samples=self.graph.samples)

    def plans_for(self, entry: NamedRule) -> Plans:
        """Plans with the inputs of a rule. Only rules that need samples get them: the choices of others must not depend
        on the options of the graph."""
        if "samples" in entry.reads:
            return self._sampled_plans
        return self._head_plans if isinstance(entry.rule, LikeliestDepth | None) else self.plans

    def known_for(self, entry: NamedRule) -> Plans:
        """``plans_for`` without the nodes that a graph with a budget never planned. Goals, which any graph has, keep
        their uniform probabilities."""
        known, every = self.graph.planned | self.graph.goal, self.plans_for(entry)
        return every if known.all() else every.part(np.flatnonzero(known))

    def probs(self, entry: NamedRule) -> NDArray[np.float64]:
        """[N, 8] probability of every depth, of a rule that samples."""
        self._with_head(entry)
        logits: NDArray[np.float32] = self.graph.logits * np.float32(entry.name == "sampled")
        result = np.zeros((len(self.graph), PLAN))
        result[:, [depth - 1 for depth in self.graph.head_depths]] = softmax(logits)
        return result

    def chooser(self, entry: NamedRule, orders: Depths | None = None) -> Chooser:
        """Chooser of a rule; ``orders`` are those of all nodes, if already known."""
        entry, every = self._with_head(entry), self.plans_for(entry)
        if orders is None and "previous" not in entry.reads:
            orders = entry.orders(every)
        if isinstance(entry.rule, Consecutive):  # reads actions alone, at every observation
            every = Plans(every.actions)
        part = lambda nodes, previous=None: every.part(nodes, previous=previous)
        return RuleChooser(entry, part, self.graph.depths, orders)

    def choosers(self, entry: NamedRule, thresholds: NDArray[np.floating]) -> Iterator[Chooser]:
        """Choosers of a rule, one for each of these thresholds."""
        assert isinstance(entry.rule, ThresholdRule)
        if type(entry.rule).order is not Rule.order:
            yield from (self.chooser(entry.at(float(each))) for each in thresholds)
            return
        # [8, depths] a row per depth of the first visit: the order follows from it alone.
        one = Plans(np.zeros((1, PLAN), np.uint8))
        returning = np.concatenate([Fixed(depth, depths=entry.rule.depths).order(one) for depth in ALL_DEPTHS])
        for depths in entry.rule.sweep(self.plans_for(entry), thresholds):
            yield self.chooser(entry, returning[depths - 1] if entry.memory else depths[:, None])

    def _with_head(self, entry: NamedRule) -> NamedRule:
        return entry if entry.rule else replace(entry, rule=LikeliestDepth(depths=self.graph.head_depths))


def ask_once(entry: NamedRule, path: Path, read: RulesOnGraph) -> None:
    """Evaluate a user's rule on every plan before anything is scored, so that an error names the failing line."""
    plans = read.plans_for(entry)
    if "previous" in entry.reads:
        plans = replace(plans, previous=Tail(plans.actions, np.zeros(len(plans), np.int64)))
    try:
        entry.orders(plans)
    except (Exception, SystemExit) as error:  # a program of one's own may raise anything
        raise ValueError(f"rule: {failing_line(path, error)}: {type(error).__name__}: {error}") from error
