"""A rule at work where states are looked at on the way: it chooses depths on a graph of plans that still grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.horizon import Plans, Tail, WithMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.graphs.rules import NamedRule
    from recommit.play.plan_graph import PlanGraph


@dataclass(eq=False)
class RuleAtWork:
    """A ``Chooser`` of ``recommit.play.plan_graph``; a look of turn 0 begins new episodes."""

    graph: PlanGraph
    entry: NamedRule

    def __post_init__(self) -> None:
        if self.graph.probabilities.shape[1] != 1:
            raise ValueError(
                "agents: expected rules for a policy whose plan does not depend on the depth, got "
                "decoder.depth_conditioning"
            )
        rule = self.entry.rule
        if rule is None:
            raise ValueError(f"rules: expected a rule that reads plans, got {self.entry.name}")
        self._rule, self._memory = rule, WithMemory(rule) if self.entry.memory else None
        self._begin(0)

    def __call__(self, turn: int, episodes: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns of the depths that the rule commits to."""
        if turn == 0:
            self._begin(int(episodes.max(initial=-1)) + 1)
        before = Tail(self._actions[episodes], self._remaining[episodes])
        plans = Plans(self.graph.plans[nodes, 0], self.graph.probabilities[nodes, 0], previous=before, keys=nodes)
        depths = self._memory.choose(plans, episodes) if self._memory else self._rule.choose(plans)
        tail = plans.tail(depths)
        self._actions[episodes], self._remaining[episodes] = tail.actions, tail.remaining
        return np.searchsorted(self.graph.depths, depths)

    def _begin(self, count: int) -> None:
        """No episode has a plan yet, and none has been anywhere."""
        self._actions = np.zeros((count, self.graph.plans.shape[-1]), np.uint8)
        self._remaining = np.zeros(count, np.int64)
        if self._memory:
            self._memory.reset()
