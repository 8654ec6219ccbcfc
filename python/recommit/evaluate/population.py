"""``recommit evaluate --population``: every start there is instead of a sample, exactly and without intervals.

Plans are greedy, so a commitment leads from one state to one other; who samples depths gives each a probability. So
every state is planned in once, and the backup over its graph (``recommit.graph.values``) holds every episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate.agent_names import ORACLE, AgentName
from recommit.evaluate.text import number, percent
from recommit.graph import oracle
from recommit.graph.episodes import always, head, softmax
from recommit.graph.rule_episodes import rule_on_growing
from recommit.graph.values import ACTIONS, OBSERVATIONS, SOLVED, commitments, outcomes
from recommit.policy.config import MAX_ACTIONS
from recommit.storage.terminal_text import grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.evaluate.agents import PolicyPlayer
    from recommit.graph.build import PolicyGraph
    from recommit.graph.episodes import Chooser
    from recommit.graph.values import DepthPolicy

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Whose value follows from the state and the observations that remain, and whose plans are greedy; fixed depths too.
EXACT = (
    *("adaptive", "sampled", "random", "shuffled", "oracle-dp", "oracle-delta", "oracle-rate"),
    *("entropy-jump", "repetition", "reversal"),
)
HEAD = ("agent", "solved %", "solved", "by lengths %", "actions", "of solved", "observations", "depth")


def is_exact(agent: AgentName) -> bool:
    """Has it an exact value: do its plans and depths follow from the state and the observations that remain?"""
    return agent.base in EXACT or bool(agent.depth and not agent.samples_actions)


def check(agent: AgentName) -> None:
    """Refuse whoever has no exact value."""
    if not is_exact(agent):
        why = "it has a memory, samples actions, or is chosen by playing"
        raise ValueError(
            f"agents: expected fixed-1 to fixed-8 or {', '.join(EXACT)} for a population, got {agent}: {why}"
        )


def starts(data: DataSpec, kind: str, length: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """``all`` starts there are, or those of the lengths of the ``data``, or of a shortest and a longest length; and
    their lengths."""
    states, lengths = data.puzzle().population()
    windows = [each.length for each in data.of_length(length).difficulties] if length or kind == "data" else []
    if windows:
        inside = np.any([(lengths >= low) & (lengths <= high) for low, high in windows], axis=0)
        states, lengths = np.ascontiguousarray(states[inside]), lengths[inside]
    if not len(states):
        raise ValueError(f"length: expected some that {data.task} {data.difficulty_names[0]} has, got {list(length)}")
    return states, lengths


@dataclass
class Population:
    """All starts of a population, and one policy that plays them."""

    player: PolicyPlayer
    length: NDArray[np.int32]

    def __post_init__(self) -> None:
        if self.player.policy.config.budget_conditioned:
            raise ValueError(
                "population: expected a policy that is not budget-conditioned, since one table holds all budgets, got "
                "show_budget true"
            )
        self.roots = self.player.graph.nodes(self.player.starts)

    def rows(self, agent: str, budgets: dict[str, int]) -> list[dict[str, Any]]:
        """Figures under every budget; of an agent that does not know its budget, from one table."""
        largest = max(budgets.values())
        columns = np.array([self.player.graph.column(depth) for depth in self._depths(agent)])
        plan_within(self.player.graph, self.roots, largest, columns)
        if AgentName(agent).by_budget:
            policies = {k: self._policy(agent, k) for k in set(budgets.values())}
        else:
            policies = dict.fromkeys(budgets.values(), self._policy(agent, largest))
        tables: dict[int, list[Floats]] = {}
        for k in sorted(policies, reverse=True):  # a table of the largest budget serves the smaller ones
            alike = next((other for other in tables if policies[other] is policies[k]), None)
            tables[k] = list(outcomes(self.player.graph, k, policies[k])) if alike is None else tables[alike]
        return [
            {"budget": name, "decisions": k, **self._figures(tables[k][: k + 1], policies[k])}
            for name, k in budgets.items()
        ]

    def _depths(self, agent: str) -> Sequence[int]:
        """Those that an agent may take."""
        depth = AgentName(agent).depth
        return (depth,) if depth else self.player.policy.config.depths

    def _policy(self, agent: str, budget: int) -> DepthPolicy:
        graph, depths = self.player.graph, tuple(self._depths(agent))
        columns = np.array([graph.column(depth) for depth in depths])
        if agent == ORACLE:
            return oracle.best_depths(graph, budget, depths).column[1:].astype(np.int64)
        if agent in ("sampled", "random", "shuffled"):
            probs = np.zeros((len(graph), len(graph.depths)))
            probs[:, columns] = self._probs(agent, budget)
            return probs
        nodes, chosen = graph.rows, np.full(len(graph), columns[0])
        chosen[nodes] = self._choose(agent)(0, nodes, nodes)
        return chosen

    def _probs(self, agent: str, budget: int) -> Floats:
        """Give each of the policy's depths its probability, by node or the same for all."""
        graph, depths = self.player.graph, self.player.policy.config.depths
        if agent == "sampled":
            return softmax(graph.logits)
        if agent == "random":
            return np.full(len(depths), 1 / len(depths))
        taken, _ = self._taken(budget, self._policy("adaptive", budget))
        own = taken[[graph.column(depth) for depth in depths]]
        result: Floats = own / own.sum()
        return result

    def _choose(self, agent: str) -> Chooser:
        graph, depths = self.player.graph, self.player.policy.config.depths
        if agent == "adaptive":
            return head(graph)
        if AgentName(agent).rule:
            return rule_on_growing(graph, self.player.rule(AgentName(agent), self.player.budget))
        if depth := AgentName(agent).depth:
            return always(graph, depth)
        return oracle.greedy(graph, depths, rate=agent == "oracle-rate")

    def _taken(self, budget: int, policy: DepthPolicy, tables: Sequence[Floats] = ()) -> tuple[Floats, float]:
        """Decisions by column, and, where there are ``tables``, the actions of episodes that are solved."""
        graph, taken, on_solved = self.player.graph, np.zeros(len(self.player.graph.depths)), 0.0
        for remaining, nodes, column, mass in commitments(graph, self.roots, budget, policy):
            columns = np.full(len(nodes), column)
            taken += np.bincount(columns, mass, len(taken))
            if tables:
                solved = tables[remaining - 1][graph.landing[nodes, columns], SOLVED]
                on_solved += float((mass * graph.executed[nodes, columns] * solved).sum())
        return taken, on_solved

    def _figures(self, tables: Sequence[Floats], policy: DepthPolicy) -> dict[str, Any]:
        """Means over all starts; over lengths, each of which counts alike as in a data set; and length by length."""
        table, counts = tables[-1][self.roots], np.bincount(self.length)
        lengths = np.flatnonzero(counts)
        taken, on_solved = self._taken(len(tables) - 1, policy, tables)

        def by_length(column: int) -> Floats:
            sums = np.bincount(self.length, table[:, column])
            result: Floats = sums[lengths] / counts[lengths]
            return result

        rates, actions = by_length(SOLVED), by_length(ACTIONS)
        total = table.sum(axis=0)
        every = zip(lengths.tolist(), counts[lengths].tolist(), rates.tolist(), actions.tolist(), strict=True)
        return {
            "exact": True,
            "starts": len(table),
            "solved": float(total[SOLVED]),
            "solve_rate": float(total[SOLVED] / len(table)),
            "solve_rate_by_lengths": float(rates.mean()),
            "actions_per_episode": float(total[ACTIONS] / len(table)),
            "actions_by_lengths": float(actions.mean()),
            "actions_solved": float(on_solved / total[SOLVED]) if total[SOLVED] else None,
            "decisions_per_episode": float(total[OBSERVATIONS] / len(table)),
            "mean_depth": float(taken @ np.arange(1, MAX_ACTIONS + 1) / total[OBSERVATIONS]),
            "depth_shares": {str(h + 1): float(n / total[OBSERVATIONS]) for h, n in enumerate(taken) if n},
            "lengths": [{"length": n, "starts": m, "solve_rate": s, "actions": a} for n, m, s, a in every],
        }


def plan_within(graph: PolicyGraph, roots: Nodes, budget: int, columns: Nodes) -> None:
    """Plan in every state that depths of these ``columns`` lead to within the budget."""
    front, seen = np.unique(roots), np.zeros(0, np.int64)
    for _ in range(budget):
        graph.expand(front)
        seen = np.union1d(seen, front)
        front = np.setdiff1d(graph.landing[front][:, columns], seen)
        front = front[~graph.goal[front]]


def text(rows: list[dict[str, Any]]) -> str:
    """One block per budget."""
    blocks = []
    for budget in dict.fromkeys(row["budget"] for row in rows):
        own = [row for row in rows if row["budget"] == budget]
        first, lengths = own[0], [line["length"] for line in own[0]["lengths"]]
        title = (
            f"{first['task']} {'x'.join(map(str, first['size']))}, {budget} budget: K = {first['decisions']}, all "
            f"{first['starts']:,} starts of length {lengths[0]} to {lengths[-1]}, exact"
        )
        blocks.append(f"{title}\n\n{grid(HEAD, [_cells(row) for row in own])}")
    remark = "Solved % counts every start alike, by lengths every length alike, as a data set does."
    return "\n\n".join([*blocks, remark]) + "\n"


def _cells(row: dict[str, Any]) -> list[str]:
    whole = row["solved"] == int(row["solved"])
    return [
        row["agent"],
        percent(row["solve_rate"]),
        f"{row['solved']:,.0f}" if whole else f"{row['solved']:,.2f}",
        percent(row["solve_rate_by_lengths"]),
        number(row["actions_per_episode"]),
        number(row["actions_solved"]),
        number(row["decisions_per_episode"]),
        number(row["mean_depth"]),
    ]
