"""Rules by name, and a rule at work in a commitment graph.

fixed-1 .. fixed-8       always this depth
head                     the likeliest depth of the policy's own head
confidence-product       deep as the plan's probability is at least a threshold
confidence-least         ... as every action's probability is
confidence-entropy       ... as the entropies add up to no more than a threshold
disagreement             ... as no action is more doubtful than the first one times a threshold
entropy-jump             up to the largest rise of the mean entropy
repetition               as long as the plan repeats its first action
reversal                 up to the first action that takes back the one before it
consecutive              one action more than the plan has in common with the rest of the last one
NAME+memory              the same; in a state where the episode has been before, the next depth of the rule's order

A graph has no samples of plans, which ``Agreement`` reads. Of infinitely many samples, the share whose first actions
are those of the plan is their probability: there it is confidence-product.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit.graphs.graph import PLAN
from recommit.horizon import (
    Confidence,
    Consecutive,
    Disagreement,
    EntropyJump,
    FirstEvent,
    Fixed,
    Plans,
    Repetition,
    Tail,
)
from recommit.horizon.rule import Rule, ThresholdRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recommit.graphs.graph import CommitmentGraph
    from recommit.play.attribution import Choose

    Ints = NDArray[np.int64]

#: The action that takes back up, down, left, right.
OPPOSITE = (1, 0, 3, 2)
MEMORY = "+memory"
#: Rules that are one thing, and rules of one number, whose threshold somebody has to choose.
PLAIN: dict[str, Rule] = {
    "entropy-jump": EntropyJump(),
    "repetition": Repetition(),
    "reversal": FirstEvent(opposite=OPPOSITE),
    "consecutive": Consecutive(),
}
SWEPT: dict[str, ThresholdRule] = {
    **{f"confidence-{kind}": Confidence(0.5, kind=kind) for kind in ("product", "least", "entropy")},
    "disagreement": Disagreement(),
}
NAMES = ("fixed-1", "fixed-2", "fixed-4", "fixed-8", "head", *SWEPT, *PLAIN)


@dataclass(frozen=True)
class NamedRule:
    """A rule with the name it has in tables; without a rule it is the policy's own head."""

    name: str
    rule: Rule | None
    memory: bool = False

    @property
    def swept(self) -> bool:
        """Has it a threshold to choose?"""
        return isinstance(self.rule, ThresholdRule)

    def at(self, threshold: float) -> NamedRule:
        """With this threshold."""
        assert isinstance(self.rule, ThresholdRule)
        return replace(self, rule=replace(self.rule, threshold=threshold))


def named(name: str, depths: tuple[int, ...] | None = None) -> NamedRule:
    """The rule of a name, restricted to ``depths``."""
    base = name.removesuffix(MEMORY)
    memory = base != name
    if base == "head":
        return NamedRule(name, None, memory)
    if match := re.fullmatch(r"fixed-([1-8])", base):
        return NamedRule(name, Fixed(int(match[1])), memory)
    if base not in {**PLAIN, **SWEPT}:
        raise ValueError(
            f"rules: expected fixed-1 .. fixed-8, {', '.join(NAMES[4:])}, with or without {MEMORY}, got {name}"
        )
    return NamedRule(name, replace({**PLAIN, **SWEPT}[base], depths=depths), memory)


@dataclass(frozen=True, eq=False)
class RuleBench:
    """A graph laid out for rules: the plans of all nodes, read once."""

    graph: CommitmentGraph

    @cached_property
    def plans(self) -> Plans:
        """Those of every node; a node that was not looked at has an even one that nobody reads."""
        even = np.float32(0.25)
        chances = np.where(self.graph.looked[:, None, None], self.graph.probabilities, even)
        return Plans(self.graph.plans, chances)

    def depths(self, entry: NamedRule) -> Ints:
        """[N] the depth of a rule that reads nothing but the present plan."""
        if entry.rule is None:
            return self._head_order()[:, 0]
        return entry.rule.choose(self.plans).astype(np.int64)

    def chooser(self, entry: NamedRule) -> Choose:
        """The rule at work in episodes, whose columns are depths 1..8."""
        if isinstance(entry.rule, Consecutive):
            return self._consecutive(entry.rule, memory=entry.memory)
        if entry.memory:
            return self._remembering(self._head_order() if entry.rule is None else entry.rule.order(self.plans))
        return self._always(self.depths(entry) - 1)

    def choosers(self, entry: NamedRule, thresholds: NDArray[np.floating]) -> Iterator[Choose]:
        """The rule at work with each of these thresholds."""
        assert isinstance(entry.rule, ThresholdRule)
        if type(entry.rule).order is not Rule.order:
            yield from (self.chooser(entry.at(float(each))) for each in thresholds)
            return
        for depths in entry.rule.sweep(self.plans, thresholds):
            yield self._returning(depths, entry.rule) if entry.memory else self._always(depths.astype(np.int64) - 1)

    @staticmethod
    def _always(columns: Ints) -> Choose:
        return lambda _left, _episodes, path: columns[path[-1]]

    @staticmethod
    def _returning(depths: NDArray[np.integer], rule: Rule) -> Choose:
        """With a memory, where the order depends on the first depth alone: a row of it per depth."""
        one = Plans(np.zeros((1, PLAN), np.uint8))
        orders = np.concatenate([Fixed(depth, depths=rule.depths).order(one) for depth in range(1, PLAN + 1)])
        columns = orders.astype(np.int64) - 1

        def choose(left: int, episodes: Ints, path: Ints) -> Ints:
            del left, episodes
            result: Ints = columns[depths[path[-1]] - 1, _visits(path) % columns.shape[1]]
            return result

        return choose

    def _head_order(self) -> Ints:
        """[N, depths] the head's depths, the likeliest first, ties to the smaller."""
        order = np.argsort(-self.graph.logits, axis=1, kind="stable")
        result: Ints = np.array(self.graph.depths, np.int64)[order]
        return result

    @staticmethod
    def _remembering(order: NDArray[np.integer]) -> Choose:
        columns = order.astype(np.int64) - 1

        def choose(left: int, episodes: Ints, path: Ints) -> Ints:
            del left, episodes
            result: Ints = columns[path[-1], _visits(path) % columns.shape[1]]
            return result

        return choose

    def _consecutive(self, rule: Consecutive, *, memory: bool) -> Choose:
        plans, last = self.graph.plans, np.zeros(0, np.int64)

        def choose(left: int, episodes: Ints, path: Ints) -> Ints:
            nonlocal last
            del left
            if len(path) == 1:
                last = np.full(len(episodes), PLAN, np.int64)
            old = plans[path[-2 if len(path) > 1 else -1]]
            depth = last[episodes]
            places = np.minimum(np.arange(PLAN) + depth[:, None], PLAN - 1)
            tail = Tail(old[np.arange(len(old))[:, None], places], PLAN - depth)
            order = rule.order(Plans(plans[path[-1]], previous=tail)).astype(np.int64)
            chosen: NDArray[np.int64] = order[np.arange(len(order)), _visits(path) % order.shape[1] if memory else 0]
            last[episodes] = chosen
            return chosen - 1

        return choose


def _visits(path: Ints) -> Ints:
    """How often each episode has been before where it is now."""
    result: Ints = (path[:-1] == path[-1]).sum(axis=0)
    return result
