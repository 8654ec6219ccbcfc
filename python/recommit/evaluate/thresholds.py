"""Thresholds of rules: chosen on validation instances, and what each of them would come to on those of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recommit.graph.episodes import episodes, head, scores
from recommit.graph.rule_episodes import rule_on_growing
from recommit.horizon import Plans
from recommit.horizon.rule import ThresholdRule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.evaluate.agent_names import AgentName
    from recommit.evaluate.store import EvaluationStore
    from recommit.graph.build import PolicyGraph
    from recommit.graph.rules import NamedRule
    from recommit.runs.ranks import Team

#: Thresholds to choose from. Each is played on all validation and test instances.
STEPS = 20


class PlayedStarts(Protocol):
    """Where a policy plays, and the graph of its plans there."""

    @property
    def graph(self) -> PolicyGraph:
        """The plans of all depths."""

    @property
    def starts(self) -> NDArray[np.uint8]:
        """States where episodes begin."""

    @property
    def budget(self) -> int:
        """The largest."""


def candidates(player: PlayedStarts, entry: NamedRule) -> NDArray[np.float64]:
    """Those that cut the rule's scores into equal parts, of the plans in all states where the depth head looks."""
    assert isinstance(entry.rule, ThresholdRule)
    graph = player.graph
    starts = graph.nodes(player.starts, player.budget)
    steps = [nodes for _, _, nodes, _ in episodes(graph, starts, player.budget, head(graph))]
    nodes = np.unique(np.concatenate(steps))
    plans = Plans(graph.plans[nodes], graph.probs[nodes])
    return np.unique(entry.rule.thresholds(plans, STEPS))


def choose(player: PlayedStarts, entry: NamedRule, budgets: Sequence[int]) -> float:
    """The threshold that solves most under these budgets together; of equals the one with fewer actions, then the
    lower one."""
    every = candidates(player, entry)
    totals = sum(_played(player, entry, every, budget) for budget in budgets)
    assert isinstance(totals, np.ndarray)
    return float(every[max(range(len(every)), key=lambda i: totals[i].tolist())])


def curve(player: PlayedStarts, entry: NamedRule, values: NDArray[np.float64], budget: int) -> list[dict[str, float]]:
    """What each threshold solves, and with how many actions per episode."""
    means = _played(player, entry, values, budget) / len(player.starts)
    return [
        {"threshold": float(value), "solve_rate": float(solved), "actions": float(-actions)}
        for value, (solved, actions) in zip(values, means, strict=True)
    ]


def _played(
    player: PlayedStarts, entry: NamedRule, values: NDArray[np.float64], budget: int
) -> NDArray[np.integer[Any]]:
    """[T, 2] episodes solved, and actions with a minus."""
    choices = [rule_on_growing(player.graph, entry.at(float(value))) for value in values]
    return np.array(scores(player.graph, player.graph.nodes(player.starts, budget), budget, choices))


def keep(
    store: EvaluationStore | None,
    team: Team,
    agent: AgentName,
    budgets: Sequence[int],
    sweep: Callable[[AgentName, int], dict[str, Any]],
) -> None:
    """Write down both thresholds of an agent's rule and its curve under each budget, unless they are there."""
    for budget in budgets:
        name = entry_name(agent, budget)
        if not team.from_main_process(store is not None and name in store.thresholds()):
            entry = sweep(agent, budget)
            if store is not None:
                store.keep_threshold(name, entry)


def entry_name(agent: AgentName, budget: int) -> str:
    """By rule and policy: the agents with a threshold of their own and with a shared one are found in one place."""
    return f"{agent.of_rule.stem}@{budget}"


def of_agent(store: EvaluationStore, agent: AgentName, budget: int) -> dict[str, float]:
    """The threshold that it was played with, for its row of the summary."""
    if not agent.swept:
        return {}
    entry = store.thresholds()[entry_name(agent, budget)]
    return {"threshold": entry["shared" if agent.shared else "own"]}
