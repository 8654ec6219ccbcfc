"""From start states to the batch of a step: sampled commitments and their rewards, or exact values on a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recommit import rng
from recommit.graph.build import exact_distance
from recommit.graph.episodes import log_softmax, softmax
from recommit.graph.policy_evaluation import GraphValues, PolicyEvaluation, explore, plan_advantages
from recommit.rollout.rollout import rollout
from recommit.runs.distributed import Team
from recommit.train.grpo import reward
from recommit.train.grpo.batch import GrpoBatch, gathered
from recommit.train.grpo.metrics import Signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.graph.build import PolicyGraph
    from recommit.prices import Prices
    from recommit.rollout.rollout import Actor
    from recommit.rollout.trace import Proposals, Trace
    from recommit.train.grpo.config import AdvantageConfig, RolloutConfig

    Floats = NDArray[np.float64]

#: What a step learns from and its metrics, on every rank the same as in one process, but for rounding.
Collected: TypeAlias = tuple[GrpoBatch, Signals]
#: Episode numbers per step; the upper half is for what follows a candidate.
_STRETCH = 1 << 24


@dataclass(frozen=True)
class SampledCollector:
    """Commitments sampled from the policy, compared within groups: of one state, or whole episodes from one start."""

    actor: Actor
    advantage: AdvantageConfig
    prices: Prices
    rollout: RolloutConfig
    team: Team = field(default_factory=Team)

    def __call__(self, starts: NDArray[np.uint8], step: int) -> Collected:
        """Play from the starts of all ranks, and score."""
        self.actor.idle = starts[:1]
        collect = self._episodes if self.advantage.estimator == "episode" else self._candidates
        return collect(self._own(starts), step * _STRETCH)

    def _own(self, starts: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Those that this rank plays from."""
        return np.ascontiguousarray(starts[self.team.rank :: self.team.world])

    def _episodes(self, starts: NDArray[np.uint8], first: int) -> Collected:
        """Several from every start; all decisions of an episode get its advantage."""
        size = self.advantage.group_size
        copies, numbers = np.repeat(starts, size, axis=0), self._numbers(len(starts), first, size)
        trace = self._play(copies, self.rollout.budget, numbers)
        rewards = reward.by_episode(trace, len(copies), self.advantage, self.prices).reshape(-1, size)
        advantage = self._compared(rewards).reshape(-1)[trace.episode][:, None]
        signals = self._signals(trace, np.zeros(len(trace), np.int64), len(copies), rewards)
        return self._batch(trace, advantage, numbers, first), signals

    def _candidates(self, starts: NDArray[np.uint8], first: int) -> Collected:
        """Several commitments in every state that an episode comes by; it goes on with one of them."""
        config, numbers = self.advantage, self._numbers(len(starts), first)

        def follow(trace: Trace) -> NDArray[np.int64]:
            return self._follow(trace, numbers)

        trace = self._play(starts, self.rollout.budget, numbers, candidates=config.group_size, follow=follow)
        if config.estimator == "branch":
            rewards = reward.by_branch(trace, self._continued(trace, numbers, first), config, self.prices)
        else:
            rewards = reward.by_state(trace, config, self.prices)
        followed = follow(trace) if len(trace) else np.zeros(0, np.int64)
        signals = self._signals(trace, followed, len(numbers), rewards)
        return self._batch(trace, self._compared(rewards), numbers, first), signals

    def _compared(self, rewards: Floats) -> Floats:
        return reward.advantages(rewards, scaled=self.advantage.scale == "group", eps=self.advantage.eps)

    def _continued(self, trace: Trace, numbers: NDArray[np.uint64], first: int) -> Trace:
        """What the policy does after each candidate, until the budget is spent."""
        size = self.advantage.group_size
        landed = trace.after.reshape(-1, *trace.after.shape[2:])
        turns = (numbers[trace.episode] - np.uint64(first)) * np.uint64(64) + trace.remaining.astype(np.uint64)
        branches = (turns[:, None] * np.uint64(size) + np.arange(size, dtype=np.uint64)).reshape(-1)
        own = (branches + np.uint64(first + _STRETCH // 2)).astype(np.uint64)
        return self._play(landed, np.repeat(trace.remaining - 1, size), own)

    def _follow(self, trace: Trace, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Which candidate an episode goes on with."""
        if self.advantage.follow == "best":
            return reward.by_state(trace, self.advantage, self.prices).argmax(axis=1)
        if self.advantage.follow == "random":
            number = numbers[trace.episode] * np.uint64(256) + trace.remaining.astype(np.uint64)
            words = rng.draw(rng.streams(self.actor.seed, rng.Purpose.FOLLOW, number), 0)
            return rng.below(words, trace.executed.shape[1])
        return np.zeros(len(trace), np.int64)

    def _play(self, starts: NDArray[np.uint8], budget: Any, numbers: NDArray[np.uint64], **options: Any) -> Trace:
        """Episodes that end at the goal, or also where the puzzle cannot be solved any more."""
        ends = self.advantage.deadlock == "terminate"
        return rollout(self.actor, starts, budget, numbers=numbers, end_when_lost=ends, **options)

    def _numbers(self, count: int, first: int, copies: int = 1) -> NDArray[np.uint64]:
        """Numbers of ``copies`` episodes from each of this rank's ``count`` starts: the same ones however many ranks
        there are."""
        start = np.arange(count) * self.team.world + self.team.rank
        whole = (start[:, None] * copies + np.arange(copies)).reshape(-1)
        return np.uint64(first) + whole.astype(np.uint64)

    def _batch(self, trace: Trace, advantage: Floats, numbers: NDArray[np.uint64], first: int) -> GrpoBatch:
        """The decisions of all ranks, turn by turn and in the order of the episodes' ``numbers``."""
        own = reward.decisions_of(
            trace, advantage, self.advantage, self.actor.variant, sum_over_ranks=self.team.all_reduce_sum
        )
        turn = self.rollout.budget - trace.remaining
        return gathered(own, turn * _STRETCH + (numbers[trace.episode] - np.uint64(first)).astype(np.int64), self.team)

    def _signals(self, trace: Trace, followed: NDArray[np.int64], episodes: int, rewards: Floats) -> Signals:
        """Sums over all ranks."""
        depths, zero_std = self.actor.policy.config.depths, reward.zero_std_fraction(rewards)
        own = Signals.of_trace(trace, followed, episodes, rewards, zero_std, depths)
        return own.over_ranks(self.team.all_reduce_sum)


@dataclass(frozen=True)
class Valued:
    """A graph of greedy plans, with the value of every depth in it under these probabilities of the depths."""

    graph: PolicyGraph
    values: GraphValues
    probs: Floats  #: [nodes, depths]


@dataclass(frozen=True)
class ExactCollector:
    """Every depth by its exact value under greedy plans, and sampled plans by where they lead."""

    actor: Actor
    advantage: AdvantageConfig
    prices: Prices
    #: Equal parts of the episodes have each of these numbers of decisions; none: ``rollout.budget``.
    budgets: tuple[int, ...]
    rollout: RolloutConfig
    #: A new, empty graph of greedy plans for these depths.
    graph: Callable[[tuple[int, ...]], PolicyGraph]
    #: Updates the depth head alone, on a graph; see ``recommit.train.grpo.depth_head_optimizer``.
    update_head: Callable[[PolicyEvaluation], None] | None = None
    team: Team = field(default_factory=Team)

    def __call__(self, starts: NDArray[np.uint8], step: int) -> Collected:
        """Explore from the starts of all ranks, and value."""
        self.actor.idle = starts[:1]
        variant = self.actor.variant
        graph = self.graph((variant.depth,) if variant.depth else self.actor.policy.config.depths)
        roots = graph.nodes(starts)
        explore(graph, roots, self.rollout.budget, self._probs, self.advantage.max_expansions * len(starts))
        evaluation = PolicyEvaluation(graph, roots, self.rollout.budget, self.prices, self.budgets)
        if self.update_head is not None:
            self.update_head(evaluation)
        probs = self._probs(graph, np.arange(len(graph)))
        own = evaluation.values(probs[evaluation.rows])
        batch = self._batch(Valued(graph, own, probs), step * _STRETCH)
        return batch, Signals.of_values(graph, roots, own, probs, batch)

    def _probs(self, graph: PolicyGraph, nodes: NDArray[np.int64]) -> Floats:
        """Probabilities [nodes, depths] of the depths: the depth head's, or even ones."""
        if self.actor.variant.head:
            return softmax(graph.logits[nodes])
        return np.full((len(nodes), len(graph.depths)), 1.0 / len(graph.depths))

    def _batch(self, valued: Valued, first: int) -> GrpoBatch:
        """The states that are visited, divided among ranks, with what is learned in each."""
        mass = valued.values.visits.sum(axis=0)
        nodes = np.flatnonzero(valued.graph.planned & (mass > 0))
        nodes, weight = self._thinned(nodes, mass[nodes], first)
        mine = slice(self.team.rank, None, self.team.world)
        return gathered(self._with_advantages(valued, nodes[mine], weight[mine], first), nodes[mine], self.team)

    def _thinned(self, nodes: NDArray[np.int64], mass: Floats, first: int) -> tuple[NDArray[np.int64], Floats]:
        """At most about ``rollout.states`` nodes with weights that have the same expectations as all of them."""
        limit = self.rollout.states
        if not limit or len(nodes) <= limit:
            return nodes, mass
        low, high = 0.0, float(mass.max())
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if np.minimum(mass / middle, 1.0).sum() > limit else (low, middle)
        streams = rng.streams(self.actor.seed, rng.Purpose.FOLLOW, np.uint64(first) + nodes.astype(np.uint64))
        chosen = rng.uniform(streams, 1) < mass / high
        return nodes[chosen], np.maximum(mass[chosen], high)

    def _with_advantages(self, valued: Valued, nodes: NDArray[np.int64], weight: Floats, first: int) -> GrpoBatch:
        """Depths by their advantages, and plans that are sampled now."""
        config, variant, depths = self.advantage, self.actor.variant, valued.graph.depths
        probs, plans = valued.probs[nodes], self._plans(valued.graph, nodes, first)
        head = valued.values.advantage[nodes]
        advantage, share = self._plan_advantages(valued, nodes, plans.actions)
        depth_weight = weight[:, None] * probs * variant.head
        action_weight = weight[:, None, None] / config.group_size * share * variant.rest
        scaled = partial(reward.scaled_by_batch, eps=config.eps, sum_over_ranks=self.team.all_reduce_sum)
        return GrpoBatch(
            states=valued.graph.states[nodes],
            choices=np.tile(np.arange(len(depths)), (len(nodes), 1)),
            depth_advantage=scaled(head, depth_weight).astype(np.float32),
            depth_weight=depth_weight.astype(np.float32),
            depth_old=log_softmax(valued.graph.logits[nodes]).astype(np.float32)[:, : len(depths)],
            actions=plans.actions.astype(np.int64),
            plan_depth=plans.depth,
            action_advantage=scaled(advantage, action_weight).astype(np.float32),
            action_weight=action_weight.astype(np.float32),
            action_old=plans.action_log,
            remaining=np.zeros(len(nodes), np.int64),
            weight=weight.astype(np.float32),
        )

    @property
    def _sees_depth(self) -> bool:
        """Is a plan another one for another depth?"""
        return self.actor.policy.config.decoder.depth_conditioning != "none"

    def _groups(self, graph: PolicyGraph) -> list[tuple[int, ...]]:
        """Which depths a plan is scored under: one that does not see its depth under all of them, one that does under
        its own."""
        return [(depth,) for depth in graph.depths] if self._sees_depth else [graph.depths]

    def _plans(self, graph: PolicyGraph, nodes: NDArray[np.int64], first: int) -> Proposals:
        """``group_size`` plans for each of the groups, sampled in the nodes."""
        count, number = self.advantage.group_size * len(self._groups(graph)), np.uint64(first) + nodes.astype(np.uint64)
        depths = np.repeat(np.array(graph.depths, np.int64), self.advantage.group_size) if self._sees_depth else None
        return self.actor.propose(graph.states[nodes], count, number, depths)

    def _plan_advantages(
        self, valued: Valued, nodes: NDArray[np.int64], plans: NDArray[np.uint8]
    ) -> tuple[Floats, Floats]:
        """Advantages and weights [N, G, 8] of plans, group by group."""
        depths, groups = valued.graph.depths, self._groups(valued.graph)
        uniform = np.full((len(nodes), len(depths)), 1.0 / len(depths))
        used = valued.probs[nodes] if self.advantage.depth_weighting == "chosen" else uniform
        parts = [
            self._landed(valued, nodes, part, group, used[:, [depths.index(depth) for depth in group]])
            for part, group in zip(np.split(plans, len(groups), axis=1), groups, strict=True)
        ]
        advantage, share = (np.concatenate(column, axis=1) for column in zip(*parts, strict=True))
        return advantage, share

    def _landed(
        self, valued: Valued, nodes: NDArray[np.int64], plans: NDArray[np.uint8], depths: tuple[int, ...], used: Floats
    ) -> tuple[Floats, Floats]:
        """Advantages and weights of ``plans`` under ``depths``, each of which is ``used`` [N, depths] so much."""
        graph, task, shape = valued.graph, self.actor.task, (*plans.shape[:2], len(depths))
        outcome = task.execute(
            np.repeat(graph.states[nodes], shape[1] * shape[2], axis=0),
            np.repeat(plans.reshape(-1, plans.shape[-1]), len(depths), axis=0),
            np.tile(np.array(depths, np.int32), shape[0] * shape[1]),
        )
        landing, distance = graph.find(outcome.states), exact_distance(task, outcome.states)
        bucket = valued.values.buckets(distance.reshape(shape))
        return plan_advantages(
            valued.values,
            valued.values.visits[:, nodes],
            used,
            depths,
            landing.reshape(shape),
            bucket,
            outcome.solved.reshape(shape),
            outcome.executed.reshape(shape),
            self.prices,
            plans.shape[-1],
        )
