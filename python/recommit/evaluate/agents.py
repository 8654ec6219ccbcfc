"""Plays the episodes of agents. All agents of one policy share one graph of plans."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.evaluate.agent_names import ACTION_SEEDS, ORACLE, AgentName
from recommit.graph import episodes as on_graph
from recommit.graph import oracle
from recommit.graph.build import PIECE, PolicyGraph
from recommit.graph.episodes import always, head, sampled
from recommit.graph.rule_episodes import adaptive_memory, rule_on_growing
from recommit.horizon import Plans, rule_registry
from recommit.horizon.rule import ThresholdRule
from recommit.policy.config import MOST_ACTIONS, PLAN_LENGTH
from recommit.results.table import best
from recommit.rollout import decision_rows
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.distributed import Team

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.graph.episodes import Chooser
    from recommit.horizon.rule_registry import NamedRule
    from recommit.policy.policy import CommitPolicy
    from recommit.prices import Prices
    from recommit.puzzles.puzzle import Puzzle
    from recommit.rollout.decision_rows import DecisionRows


#: Candidate thresholds of a rule. Each is played on all validation and test instances.
STEPS = 20


@dataclass
class PolicyPlayer:
    """One policy on one set of instances."""

    policy: CommitPolicy
    task: Puzzle
    starts: NDArray[np.uint8]
    #: The largest budget; smaller ones are read off the same rows.
    budget: int
    #: Player on the instances that thresholds and mixtures are chosen on; None: this one.
    validation: PolicyPlayer | None = None
    #: Ranks that play these instances together.
    team: Team = field(default_factory=Team)
    #: Prices at which the oracle and thresholds are best; without them they maximise solved episodes.
    prices: Prices | None = None
    _rows: dict[tuple[str, int, int], DecisionRows] = field(default_factory=dict)
    _mixtures: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    _thresholds: dict[tuple[str, int], float] = field(default_factory=dict)

    @cached_property
    def graph(self) -> PolicyGraph:
        """Graph of the policy's plans at all depths, also those that the head cannot choose."""
        depths = tuple(range(1, self.policy.config.plan_length + 1))
        return PolicyGraph(self.policy, self.task, depths, team=self.team, piece=PIECE, keep_probs=True)

    @cached_property
    def length(self) -> NDArray[np.int32]:
        """Distance of each start to the goal, d(s0)."""
        return self.task.distance(self.starts)

    def rows(self, agent: str, budget: int, seed: int = 0) -> DecisionRows:
        """Decisions of an agent. Agents ``by_budget`` and those of a budget-conditioned policy are played with
        ``budget``; all others with the largest, since their decisions under smaller budgets are prefixes."""
        name = AgentName(agent)
        played_budget = budget if name.by_budget or self.policy.config.budget_conditioned else self.budget
        key = (agent, played_budget, seed)
        if key not in self._rows:
            if name.samples_actions:
                every = decision_rows.each_by_rank(
                    self.team, ACTION_SEEDS, lambda s: self._play(name, played_budget, s)
                )
                self._rows |= {(agent, played_budget, s): rows for s, rows in enumerate(every)}
            else:
                self._rows[key] = self._play(name, played_budget, seed)
        return self._rows[key]

    def _play(self, agent: AgentName, budget: int, seed: int) -> DecisionRows:
        if agent.samples_actions:
            actor = Actor(self.policy, self.task, variant(f"fixed-{agent.depth}"), seed=seed)
            return decision_rows.sampled(actor, self.starts, budget, 1)
        if not agent.asks_policy:
            without_policy = solver(self.task) if agent.base == "solver" else random_actions(seed)
            return decision_rows.of_callable(without_policy, self.task, self.starts, budget)
        return decision_rows.on_graph(self.graph, self.starts, budget, self._choose(agent, budget, seed))

    def _choose(self, agent: AgentName, budget: int, seed: int) -> Chooser:
        graph, depths = self.graph, self.policy.config.depths
        if agent.depth:
            return always(graph, agent.depth)
        if agent.rule:
            entry = self._named(agent)
            return rule_on_growing(graph, entry.at(self._threshold(entry, budget)) if agent.swept else entry)
        makers: dict[str, Callable[[], Chooser]] = {
            "adaptive": lambda: head(graph),
            "adaptive-memory": lambda: adaptive_memory(graph),
            "sampled": lambda: sampled(graph, None, seed),
            "random": lambda: sampled(graph, np.full(len(depths), 1 / len(depths)), seed),
            "shuffled": lambda: sampled(graph, self.marginal(budget), seed),
            "mixture": lambda: sampled(graph, self.mixture(budget), seed),
            ORACLE: lambda: self._oracle(budget).choose(budget),
            "oracle-delta": lambda: oracle.greedy(graph, depths, rate=False),
            "oracle-rate": lambda: oracle.greedy(graph, depths, rate=True),
        }
        return makers[agent.base]()

    def _oracle(self, budget: int) -> oracle.OracleDepths:
        starts = self.graph.nodes(self.starts, budget)
        found = oracle.oracle(self.graph, starts, budget, self.policy.config.depths, self.prices)
        if found.missing:
            warnings.warn(f"oracle-dp: {found.missing:,} states were left out: a lower bound", stacklevel=2)
        return found

    def _named(self, agent: AgentName) -> NamedRule:
        """Rule of an agent, restricted to the depths of the head, as the oracle is."""
        return rule_registry.named(agent.rule, self.policy.config.depths)

    def _threshold(self, entry: NamedRule, budget: int) -> float:
        """Threshold with the highest return on validation instances at the evaluation's prices; without prices the one
        that solves most, then with the fewest actions. Ties go to the lower threshold."""
        key = entry.name, budget
        if key not in self._thresholds:
            chosen_on = self.validation or self
            every = candidates(chosen_on, entry)
            solved, actions, observations = _played(chosen_on, entry, every, budget).T
            priced = self.prices and self.prices.returns(solved, -actions, -observations).tolist()
            merits = priced or list(zip(solved.tolist(), actions.tolist(), strict=True))
            self._thresholds[key] = best(dict(zip(every.tolist(), merits, strict=True))) or 0.0
        return self._thresholds[key]

    def observe(self) -> NDArray[np.int64]:
        """Nodes of all states in the depth head's own episodes. Call it before other agents play: the batch in which a
        state passes the policy decides the last bits of its outputs."""
        starts = self.graph.nodes(self.starts, self.budget)
        steps = on_graph.episodes(self.graph, starts, self.budget, head(self.graph))
        return np.unique(np.concatenate([nodes for _, _, nodes, _ in steps]))

    def sweep(self, agent: AgentName, budget: int) -> dict[str, Any]:
        """The chosen threshold of an agent's rule under this budget, and the solve rate and actions per episode of
        every candidate."""
        entry = self._named(agent)
        values = candidates(self.validation or self, entry)
        means = _played(self, entry, values, budget) / len(self.starts)
        curve = [
            {"threshold": float(value), "solve_rate": float(solved), "actions": float(-actions)}
            for value, (solved, actions, _) in zip(values, means, strict=True)
        ]
        return {"threshold": self._threshold(entry, budget), "curve": curve}

    def marginal(self, budget: int) -> NDArray[np.float64]:
        """Shares of the head's depths in the decisions of adaptive."""
        rows = self.rows("adaptive", budget)
        counts = np.bincount(rows.depth[rows.turn < budget], minlength=MOST_ACTIONS + 1)
        of_head = counts[list(self.policy.config.depths)]
        return of_head / max(of_head.sum(), 1)

    def mixture(self, budget: int) -> NDArray[np.float64]:
        """Best state-independent probabilities of depths, on validation instances, among those that need no more
        actions than adaptive."""
        if budget in self._mixtures:
            return self._mixtures[budget]
        chosen_on = self.validation or self
        allowed = chosen_on.rows("adaptive", budget)
        limit = int(allowed.executed[allowed.turn < budget].sum())
        every = simplex(len(self.policy.config.depths), 10)
        choices = [sampled(chosen_on.graph, probs, 0) for probs in every]
        starts = chosen_on.graph.nodes(chosen_on.starts, budget)
        scores = on_graph.scores(chosen_on.graph, starts, budget, choices, limit)
        most = max(range(len(every)), key=scores.__getitem__)
        # Fall back to the shallowest depth if none is cheap enough.
        self._mixtures[budget] = every[most] if scores[most][0] >= 0 else every[-1]
        return self._mixtures[budget]


def simplex(parts: int, steps: int) -> list[NDArray[np.float64]]:
    """All vectors of ``parts`` multiples of 1 / ``steps`` that sum to 1."""
    return [np.array(c) / steps for c in product(range(steps + 1), repeat=parts) if sum(c) == steps]


def solver(task: Puzzle) -> decision_rows.Agent:
    """Agent that plays optimal plans."""

    def agent(states: NDArray[np.uint8], _turn: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        solutions = task.solve(states)
        depth = np.clip(solutions.length, 1, PLAN_LENGTH).astype(np.int64)
        actions = np.zeros((len(states), PLAN_LENGTH), np.uint8)
        for i, (begin, many) in enumerate(zip(solutions.offsets[:-1], depth, strict=True)):
            plan = solutions.actions[begin : begin + many]
            actions[i, : len(plan)] = plan
        return depth, actions

    return agent


def random_actions(seed: int) -> decision_rows.Agent:
    """Agent with random depths of 1, 2, 4, 8 and random actions, keyed by turn and place in the batch."""

    def agent(states: NDArray[np.uint8], turn: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        stream = rng.streams(seed, rng.Purpose.RANDOM_ACTIONS, turn * (1 << 32) + np.arange(len(states)))
        depth = 1 << rng.below(rng.draw(stream, 0), 4)
        columns = [rng.below(rng.draw(stream, 1 + i), 4) for i in range(PLAN_LENGTH)]
        return depth, np.stack(columns, axis=1).astype(np.uint8)

    return agent


def candidates(player: PolicyPlayer, entry: NamedRule) -> NDArray[np.float64]:
    """Candidate thresholds: quantiles of the rule's scores over the plans in all states of ``player.observe()``."""
    assert isinstance(entry.rule, ThresholdRule)
    graph, nodes = player.graph, player.observe()
    plans = Plans(graph.plans[nodes], graph.probs[nodes])
    return np.unique(entry.rule.thresholds(plans, STEPS))


def _played(
    player: PolicyPlayer, entry: NamedRule, values: NDArray[np.float64], budget: int
) -> NDArray[np.integer[Any]]:
    """[T, 3] episodes solved, negated actions and negated observations, for each of the thresholds ``values``."""
    choices = [rule_on_growing(player.graph, entry.at(float(value))) for value in values]
    return np.array(on_graph.scores(player.graph, player.graph.nodes(player.starts, budget), budget, choices))
