"""Regret of commitments, exactly: against the oracle depth of the same plans.

The states that an agent observed are known. From each of them, and from wherever the head's other depths would
have led, the best way on is searched under the observations that remained, as the oracle does it for starts
(``recommit.graph.oracle``). So all depths of every commitment have their exact value, under the largest budget.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from recommit.evaluate.agent_names import file_name
from recommit.graph import oracle
from recommit.graph.episodes import episodes
from recommit.graph.regret import attribute
from recommit.graph.values import OptimalValues
from recommit.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.evaluate.agent_names import AgentName
    from recommit.evaluate.agents import PolicyPlayer
    from recommit.evaluate.store import EvaluationStore
    from recommit.graph.episodes import Chooser
    from recommit.graph.regret import Attribution
    from recommit.rollout.decision_rows import DecisionRows
    from recommit.runs.distributed import Team

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: How the names of files of regrets end.
SUFFIX = "-regret"


def has_regret(agent: AgentName, depths: tuple[int, ...]) -> bool:
    """Does it take the policy's greedy plans, at depths that the head has too? Otherwise the oracle is not its own."""
    return agent.asks_policy and not agent.samples_actions and (not agent.depth or agent.depth in depths)


def keep(
    store: EvaluationStore | None,
    team: Team,
    agents: Sequence[AgentName],
    budget: int,
    player: Callable[[], PolicyPlayer],
) -> bool:
    """Write down the regrets of those agents of one policy that have none; were there any? All ranks plan."""
    names = {agent.base: file_name(agent, budget, 0) + SUFFIX for agent in agents}
    missing = [
        base for base, name in names.items() if not team.from_main_process(store is not None and store.has(name))
    ]
    for base, rows in of(player(), missing).items() if missing else ():
        if store is not None:
            store.write_table(f"decisions/{names[base]}.parquet", columns_of(rows, budget))
    return bool(missing)


def of(player: PolicyPlayer, agents: Sequence[str]) -> dict[str, Attribution]:
    """Every commitment under the largest budget, with its regret, its cause and the nearest best depth; of agents that
    sample depths, those of the first seed. Empty if the graph would grow beyond its cap."""
    taken = {name: _depths(player.rows(name, player.budget), player) for name in agents}
    if missing := _plan(player, list(taken.values())):
        warnings.warn(f"regret: {missing:,} states were left out, so that no regret is exact", stacklevel=2)
        return {}
    graph = player.graph.only(player.policy.config.depths)
    best = OptimalValues.of(graph, player.budget, player.prices)
    starts, result = player.graph.nodes(player.starts, player.budget), {}
    for name, depths in taken.items():
        result[name] = attribute(best, starts, _again(graph.depths, depths))
    return result


def columns_of(rows: Attribution, budget: int) -> dict[str, NDArray[np.generic]]:
    """As they are kept, in the order of the decisions: (turn, instance)."""
    return {
        "instance": rows.start.astype(np.int32),
        "turn": (budget - rows.remaining).astype(np.int16),
        "regret": rows.regret,
        "best": rows.best.astype(np.int8),
        "cause": rows.cause,
    }


def _depths(rows: DecisionRows, player: PolicyPlayer) -> Ints:
    """[budget, instances] the depths that were taken."""
    taken = np.zeros((player.budget, len(player.starts)), np.int64)
    taken[rows.turn, rows.instance] = rows.depth
    return taken


def _plan(player: PolicyPlayer, every: Sequence[Ints]) -> int:
    """Plan wherever the best way on may come by, from each state of these episodes and from where each of the head's
    depths leads; how many states were left out."""
    graph, depths, missing = player.graph, player.policy.config.depths, 0
    roots, columns = graph.nodes(player.starts, player.budget), [graph.column(depth) for depth in depths]
    for turn, visited in enumerate(_visited(player, every, roots)):
        for prices in dict.fromkeys((Prices(), player.prices or Prices())):
            missing += oracle.search(graph, roots, player.budget - turn, depths, oracle.CAP, prices)
        roots = np.unique(graph.landing[visited][:, columns])
    return missing


def _visited(player: PolicyPlayer, every: Sequence[Ints], starts: Ints) -> list[Ints]:
    """The nodes of these episodes, turn by turn."""
    graph, by_turn = player.graph, [np.zeros(0, np.int64)] * player.budget
    for taken in every:
        for turn, _, nodes, _ in episodes(graph, starts, player.budget, _again(graph.depths, taken)):
            by_turn[turn] = np.union1d(by_turn[turn], nodes)
    return by_turn


def _again(depths: tuple[int, ...], taken: Ints) -> Chooser:
    return lambda turn, who, _nodes: np.searchsorted(depths, taken[turn, who])
