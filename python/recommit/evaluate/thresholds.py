"""Thresholds of rules: chosen on validation instances, and what each of them would come to on those of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recommit.graph.episodes import episodes, head, scores
from recommit.graph.rule_episodes import rule_on_growing
from recommit.horizon import Plans
from recommit.horizon.rule import ThresholdRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.evaluate.agent_names import AgentName
    from recommit.graph.build import PolicyGraph
    from recommit.graph.rules import NamedRule


class RulePlayer(Protocol):
    """Starts on the graph of a policy's plans, as ``agents.PolicyPlayer`` has them."""

    @property
    def graph(self) -> PolicyGraph:
        """Of its plans."""

    @property
    def starts(self) -> NDArray[np.uint8]:
        """Where episodes begin."""

    @property
    def budget(self) -> int:
        """The largest."""


#: Thresholds to choose from. Each is played on all validation and test instances.
STEPS = 20


def candidates(player: RulePlayer, entry: NamedRule) -> NDArray[np.float64]:
    """Those that cut the rule's scores into equal parts, of the plans in all states where the depth head chooses."""
    assert isinstance(entry.rule, ThresholdRule)
    graph = player.graph
    starts = graph.nodes(player.starts, player.budget)
    steps = [nodes for _, _, nodes, _ in episodes(graph, starts, player.budget, head(graph))]
    nodes = np.unique(np.concatenate(steps))
    plans = Plans(graph.plans[nodes], graph.probs[nodes])
    return np.unique(entry.rule.thresholds(plans, STEPS))


def choose(player: RulePlayer, entry: NamedRule, budget: int) -> float:
    """The threshold that solves most; of equals the one with fewer actions, then the lower one."""
    every = candidates(player, entry)
    totals = _played(player, entry, every, budget).tolist()
    return float(every[max(range(len(every)), key=totals.__getitem__)])


def curve(player: RulePlayer, entry: NamedRule, values: NDArray[np.float64], budget: int) -> list[dict[str, float]]:
    """What each threshold solves, and with how many actions per episode."""
    means = _played(player, entry, values, budget) / len(player.starts)
    return [
        {"threshold": float(value), "solve_rate": float(solved), "actions": float(-actions)}
        for value, (solved, actions) in zip(values, means, strict=True)
    ]


def _played(player: RulePlayer, entry: NamedRule, values: NDArray[np.float64], budget: int) -> NDArray[np.integer[Any]]:
    """[T, 2] episodes solved, and actions with a minus."""
    choices = [rule_on_growing(player.graph, entry.at(float(value))) for value in values]
    return np.array(scores(player.graph, player.graph.nodes(player.starts, budget), budget, choices))


def name_of(agent: AgentName, budget: int) -> str:
    """Its entry in ``thresholds.json``."""
    return f"{agent.stem}@{budget}"
