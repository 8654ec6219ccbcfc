"""A depth policy's value over all starts of a population, exactly: nothing is drawn and no episode is played.

Plans are greedy, so a commitment leads from one state to one other; who draws depths gives each of them a probability.
What an agent makes of a state with k looks left is the mean, over its depths, of what it makes of where they lead with
k - 1 left. So every state is looked at once, and a table over states and looks holds every episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recommit.evaluate import agent_names
from recommit.evaluate.agent_names import AgentName
from recommit.graph import oracle
from recommit.graph.at_work import RuleAtWork
from recommit.graph.plan_graph import always, head, softmax
from recommit.policy.config import MAX_ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.evaluate.agents import PolicyPlayer
    from recommit.graph.plan_graph import PlanGraph

#: Whose value follows from the state and the looks left alone, and whose plans are greedy; fixed depths besides.
EXACT = (
    *("adaptive", "sampled", "random", "shuffled", "oracle-dp", "oracle-delta", "oracle-rate"),
    *("entropy-jump", "repetition", "reversal"),
)
#: Which starts: all there are, or those of lengths that the data of the run has.
KINDS = ("all", "data")
#: Columns of a table of values; decisions by depth 1..8 follow.
SOLVED, ACTIONS, ACTIONS_SOLVED, DECISIONS, DEPTHS = range(5)

Table: TypeAlias = "NDArray[np.float64]"
#: Looks left -> the probability of each column of ``PlanGraph.depths``, by node.
Weights: TypeAlias = "Callable[[int], NDArray[np.float64]]"


def check(agent: str) -> str:
    """The name itself, or an error that lists those with an exact value."""
    base = agent_names.check(AgentName.parse(agent).base)
    if base not in EXACT and (not AgentName(base).depth or AgentName(base).draws_actions):
        why = "it has a memory, draws actions, or is chosen by playing"
        raise ValueError(
            f"agents: expected fixed-1 to fixed-8 or {', '.join(EXACT)} for a population, got {agent}: {why}"
        )
    return agent


def starts(data: DataSpec, kind: str, length: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """All starts of a kind, or those of a shortest and a longest length; and their lengths."""
    if kind not in KINDS:
        raise ValueError(f"population: expected {' or '.join(KINDS)}, got {kind}")
    if len(length) not in (0, 2):
        raise ValueError(f"length: expected two numbers or none, got {length}")
    states, lengths = data.puzzle().population()
    windows = [each.length for each in data.of_length(length).difficulties] if length or kind == "data" else []
    if windows:
        inside = np.any([(lengths >= low) & (lengths <= high) for low, high in windows], axis=0)
        states, lengths = np.ascontiguousarray(states[inside]), lengths[inside]
    if not len(states):
        raise ValueError(f"length: expected some that {data.task} {data.difficulty_names[0]} has, got {list(length)}")
    return states, lengths


def look(reach: PlanGraph, roots: NDArray[np.int64], budget: int, columns: NDArray[np.int64]) -> None:
    """Look at every state that ``columns`` lead to within the budget."""
    front, seen = np.unique(roots), np.zeros(0, np.int64)
    for _ in range(budget):
        reach.expand(front)
        seen = np.union1d(seen, front)
        front = np.setdiff1d(reach.landing[front][:, columns], seen)
        front = front[~reach.goal[front]]


def values(reach: PlanGraph, budget: int, weights: Weights) -> Iterator[Table]:
    """For 1, 2, ... ``budget`` looks: by node, what an episode from there is expected to come to."""
    table = np.zeros((len(reach), DEPTHS + MAX_ACTIONS))
    table[reach.goal, SOLVED] = 1.0
    for remaining in range(1, budget + 1):
        table = _one_more(reach, table, weights(remaining))
        yield table


def _one_more(reach: PlanGraph, table: Table, weight: NDArray[np.float64]) -> Table:
    """One look before ``table``."""
    result = np.zeros_like(table)
    result[reach.goal, SOLVED] = 1.0
    for column in np.flatnonzero(weight.any(axis=0)):
        nodes = np.flatnonzero((weight[:, column] > 0) & reach.expanded)
        onward, executed = table[reach.landing[nodes, column]], reach.executed[nodes, column]
        onward[:, ACTIONS_SOLVED] += executed * onward[:, SOLVED]
        onward[:, ACTIONS] += executed
        onward[:, DECISIONS] += 1.0
        onward[:, DEPTHS + reach.depths[column] - 1] += 1.0
        result[nodes] += weight[nodes, column, None] * onward
    return result


@dataclass
class Population:
    """All starts of a population, and one policy that plays them."""

    player: PolicyPlayer
    length: NDArray[np.int32]

    def __post_init__(self) -> None:
        if self.player.policy.config.budget_conditioned:
            raise ValueError(
                "population: expected a policy that is not told the decisions left, since one table holds all budgets, "
                "got show_budget true"
            )
        self.roots = self.player.reach.nodes(self.player.starts)

    def rows(self, agent: str, budgets: dict[str, int]) -> list[dict[str, Any]]:
        """Figures under every budget; of an agent that does not know its budget, from one table."""
        largest = max(budgets.values())
        look(self.player.reach, self.roots, largest, self._columns(agent))
        if AgentName(agent).by_budget:
            tables = {k: self._table(agent, k) for k in set(budgets.values())}
        else:
            by_looks = values(self.player.reach, largest, self._weights(agent, largest))
            tables = {k: table[self.roots] for k, table in enumerate(by_looks, 1) if k in budgets.values()}
        return [{"budget": name, "decisions": k, **self._figures(tables[k])} for name, k in budgets.items()]

    def _table(self, agent: str, budget: int) -> Table:
        """By start, with all looks of the budget."""
        *_, table = values(self.player.reach, budget, self._weights(agent, budget))
        return table[self.roots]

    def _columns(self, agent: str) -> NDArray[np.int64]:
        """The depths that an agent may take."""
        reach = self.player.reach
        depth = AgentName(agent).depth
        depths = (depth,) if depth else self.player.policy.config.depths
        return np.array([reach.depths.index(depth) for depth in depths])

    def _weights(self, agent: str, budget: int) -> Weights:
        reach, columns = self.player.reach, self._columns(agent)
        if agent == "oracle-dp":
            best = oracle.costs(reach, budget, columns).column
            return lambda remaining: _surely(reach, best[remaining])
        if agent in ("sampled", "random", "shuffled"):
            probs = np.zeros((len(reach), len(reach.depths)))
            probs[:, columns] = self._chance(agent, budget)
            return lambda _left: probs
        nodes = np.flatnonzero(reach.expanded)
        chosen = np.full(len(reach), columns[0])
        chosen[nodes] = self._choose(agent)(0, nodes, nodes)
        sure = _surely(reach, chosen)
        return lambda _left: sure

    def _chance(self, agent: str, budget: int) -> NDArray[np.float64]:
        """Give each of the policy's depths its probability, by node or the same for all."""
        if agent == "sampled":
            return softmax(self.player.reach.logits)
        depths = self.player.policy.config.depths
        if agent == "random":
            return np.full(len(depths), 1 / len(depths))
        taken = self._table("adaptive", budget)[:, DEPTHS:].sum(axis=0)[np.array(depths) - 1]
        result: NDArray[np.float64] = taken / taken.sum()
        return result

    def _choose(self, agent: str) -> Any:
        reach, depths = self.player.reach, self.player.policy.config.depths
        if agent == "adaptive":
            return head(reach)
        if AgentName(agent).rule:
            return RuleAtWork(reach, self.player.rule(AgentName(agent), self.player.budget))
        if depth := AgentName(agent).depth:
            return always(reach, depth)
        return oracle.greedy(reach, depths, rate=agent == "oracle-rate")

    def _figures(self, table: Table) -> dict[str, Any]:
        """Means over all starts; over lengths, each of which counts alike as in a data set; and length by length."""
        counts = np.bincount(self.length)
        lengths = np.flatnonzero(counts)

        def by_length(column: int) -> NDArray[np.float64]:
            sums = np.bincount(self.length, table[:, column])
            result: NDArray[np.float64] = sums[lengths] / counts[lengths]
            return result

        rates, actions = by_length(SOLVED), by_length(ACTIONS)
        total, taken = table.sum(axis=0), table[:, DEPTHS:].sum(axis=0)
        every = zip(lengths.tolist(), counts[lengths].tolist(), rates.tolist(), actions.tolist(), strict=True)
        return {
            "exact": True,
            "starts": len(table),
            "solved": float(total[SOLVED]),
            "solve_rate": float(total[SOLVED] / len(table)),
            "solve_rate_by_lengths": float(rates.mean()),
            "actions_per_episode": float(total[ACTIONS] / len(table)),
            "actions_by_lengths": float(actions.mean()),
            "actions_solved": float(total[ACTIONS_SOLVED] / total[SOLVED]) if total[SOLVED] else None,
            "decisions_per_episode": float(total[DECISIONS] / len(table)),
            "mean_depth": float(taken @ np.arange(1, MAX_ACTIONS + 1) / total[DECISIONS]),
            "depth_shares": {str(h + 1): float(n / total[DECISIONS]) for h, n in enumerate(taken) if n},
            "lengths": [{"length": n, "starts": m, "solve_rate": s, "actions": a} for n, m, s, a in every],
        }


def _surely(reach: PlanGraph, columns: NDArray[np.integer]) -> NDArray[np.float64]:
    """One depth per node."""
    result = np.zeros((len(reach), len(reach.depths)))
    result[np.arange(len(reach)), columns] = 1.0
    return result
