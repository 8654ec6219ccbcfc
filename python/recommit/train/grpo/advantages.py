"""From rollouts to a training batch: advantages of all depths and actions, and metrics.

``of_samples`` compares the rewards (``reward.py``) of commitments or episodes within groups. ``of_graph`` computes the
exact value of every depth on a graph of greedy plans, and scores sampled plans by the states they lead to. Up to
rounding, every rank gets the same batch as in a single process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recommit import rng
from recommit.graph.build import PolicyGraph, exact_distance
from recommit.graph.episodes import log_softmax
from recommit.train.grpo import reward
from recommit.train.grpo.batch import GrpoBatch, gathered
from recommit.train.grpo.metrics import Signals
from recommit.train.grpo.rollout import EPISODES, depth_probs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.graph.graph import Floats, Nodes
    from recommit.graph.policy_evaluation import GraphValues, PolicyEvaluation
    from recommit.rollout.rollout import Actor
    from recommit.rollout.trace import Proposals, Trace
    from recommit.rollout.variants import Variant
    from recommit.runs.distributed import Team
    from recommit.train.grpo.config import AdvantageConfig, GrpoConfig
    from recommit.train.grpo.rollout import Sampled

    SumOverRanks = Callable[[list[float]], list[float]]

Collected: TypeAlias = tuple[GrpoBatch, Signals]
#: Standard deviations up to this are rounding: all rewards of the group are equal.
EQUAL = 1e-12
#: Added to the standard deviation in the denominator, so that nearly equal rewards are not amplified.
EPS = 1e-6


def of_samples(actor: Actor, config: GrpoConfig, sampled: Sampled, step: int, team: Team) -> Collected:
    """Group-relative advantages, over the commitments of one state, or over the episodes from one start, where all
    decisions get the advantage of their episode."""
    trace, numbers, prices = sampled.trace, sampled.numbers, config.prices_at(step)
    by_episode = config.advantage.estimator == "episode"
    if by_episode:
        rewards = reward.by_episode(trace, len(numbers), config.advantage, prices)
        rewards = rewards.reshape(-1, config.advantage.group_size)
    elif sampled.after is not None:
        rewards = reward.by_branch(trace, sampled.after, config.advantage, prices)
    else:
        rewards = reward.by_state(trace, config.advantage, prices)
    advantage = in_groups(rewards, scaled=config.advantage.scale == "group")
    if by_episode:
        advantage = advantage.reshape(-1)[trace.episode][:, None]
    depths, zero_std = actor.policy.config.depths, zero_std_fraction(rewards)
    signals = Signals.of_trace(trace, sampled.followed, len(numbers), rewards, zero_std, depths)
    own = sampled_batch(trace, advantage, config.advantage, actor.variant, sum_over_ranks=team.all_reduce_sum)
    turn = config.rollout.budget - trace.remaining
    place = turn * EPISODES + (numbers[trace.episode] - np.uint64(step * EPISODES)).astype(np.int64)
    return gathered(own, place, team), signals.over_ranks(team.all_reduce_sum)


def in_groups(rewards: Floats, *, scaled: bool) -> Floats:
    """Group-relative advantages [N, G]: rewards minus the group's mean, if ``scaled`` divided by its standard deviation
    plus ``EPS``; exactly zero in groups of equal rewards."""
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    centred = np.where(deviation <= EQUAL, 0.0, centred)
    return centred / (deviation + EPS) if scaled else centred


def zero_std_fraction(rewards: Floats) -> float:
    """Share of groups with equal rewards, which give no gradient."""
    return float((np.ptp(rewards, axis=1) <= EQUAL).mean()) if len(rewards) else 0.0


def on_one_rank(values: list[float]) -> list[float]:
    """The ``sum_over_ranks`` of a run with one rank."""
    return values


def scaled_by_batch(
    advantage: Floats, weight: NDArray[np.floating], sum_over_ranks: SumOverRanks = on_one_rank
) -> Floats:
    """Advantages divided by their weighted root mean square over all ranks."""
    squares, weights = sum_over_ranks([float(np.sum(weight * advantage**2)), float(np.sum(weight))])
    deviation = np.sqrt(squares / weights) if weights else 0.0
    return advantage / (deviation + EPS)


def sampled_batch(
    trace: Trace,
    advantage: Floats,
    config: AdvantageConfig,
    variant: Variant,
    *,
    sum_over_ranks: SumOverRanks = on_one_rank,
) -> GrpoBatch:
    """The batch of sampled commitments; each one's advantage [N, G] applies to its depth and every executed action."""
    proposals = trace.proposals
    many, count = proposals.depth.shape
    weight = np.full((many, count), 1.0 / count, np.float32)
    if config.scale == "batch":
        advantage = scaled_by_batch(advantage, weight, sum_over_ranks)
    scaled = advantage.astype(np.float32)
    executed = np.arange(proposals.actions.shape[-1]) < trace.executed[..., None]
    return GrpoBatch(
        states=trace.states,
        choices=proposals.choice,
        depth_advantage=scaled,
        depth_weight=weight * variant.head,
        depth_old=proposals.depth_log,
        actions=proposals.actions.astype(np.int64),
        plan_depth=proposals.depth,
        action_advantage=np.broadcast_to(scaled[..., None], executed.shape).copy(),
        action_weight=(weight[..., None] * executed * variant.rest).astype(np.float32),
        action_old=proposals.action_log,
        remaining=trace.remaining,
        weight=np.ones(many, np.float32),
    )


def of_graph(
    actor: Actor, config: GrpoConfig, evaluation: PolicyEvaluation, roots: Nodes, step: int, team: Team
) -> Collected:
    """Exact advantages of depths, and of newly sampled plans, in the states that episodes from ``roots`` visit; the
    states are divided among ranks."""
    graph = evaluation.graph
    assert isinstance(graph, PolicyGraph)
    probs = depth_probs(actor.variant, graph, np.arange(len(graph)))
    values = evaluation.values(probs[evaluation.rows])
    mass = values.visits.sum(axis=0)
    nodes = np.flatnonzero(graph.planned & (mass > 0) & evaluation.learnable)
    nodes, weight = _thinned(nodes, mass[nodes], config.rollout.states, actor.seed, step)
    mine = slice(team.rank, None, team.world)
    exact = ExactAdvantages(actor, config, graph, values, probs, step)
    batch = gathered(exact.batch(nodes[mine], weight[mine], team.all_reduce_sum), nodes[mine], team)
    return batch, Signals.of_values(graph, roots, values, probs, batch)


def _thinned(nodes: Nodes, mass: Floats, limit: int, seed: int, step: int) -> tuple[Nodes, Floats]:
    """Subsample to about ``limit`` nodes (0: all), with weights that keep expectations unbiased."""
    if not limit or len(nodes) <= limit:
        return nodes, mass
    low, high = 0.0, float(mass.max())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(mass / middle, 1.0).sum() > limit else (low, middle)
    streams = rng.streams(seed, rng.Purpose.FOLLOW, np.uint64(step * EPISODES) + nodes.astype(np.uint64))
    chosen = rng.uniform(streams, 1) < mass / high
    return nodes[chosen], np.maximum(mass[chosen], high)


@dataclass(frozen=True)
class ExactAdvantages:
    """Advantages on a graph of greedy plans, given its values under the depth probabilities."""

    actor: Actor
    config: GrpoConfig
    graph: PolicyGraph
    values: GraphValues
    probs: Floats  #: [nodes, depths]
    step: int

    def batch(self, nodes: Nodes, weight: Floats, sum_over_ranks: SumOverRanks = on_one_rank) -> GrpoBatch:
        """The batch for ``nodes``: all depths with exact advantages, and newly sampled plans."""
        config, variant, depths = self.config.advantage, self.actor.variant, self.graph.depths
        plans = self._plans(nodes)
        advantage, share = self._by_plan(nodes, plans.actions)
        depth_weight = weight[:, None] * self.probs[nodes] * variant.head
        action_weight = weight[:, None, None] / config.group_size * share * variant.rest
        scaled = partial(scaled_by_batch, sum_over_ranks=sum_over_ranks)
        return GrpoBatch(
            states=self.graph.states[nodes],
            choices=np.tile(np.arange(len(depths)), (len(nodes), 1)),
            depth_advantage=scaled(self.values.advantage[nodes], depth_weight).astype(np.float32),
            depth_weight=depth_weight.astype(np.float32),
            depth_old=log_softmax(self.graph.logits[nodes]).astype(np.float32)[:, : len(depths)],
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
        """True if a plan depends on its depth."""
        return self.actor.policy.config.decoder.depth_conditioning != "none"

    @property
    def _groups(self) -> list[tuple[int, ...]]:
        """The depths that a plan is scored under: its own if plans depend on depth, otherwise all."""
        return [(depth,) for depth in self.graph.depths] if self._sees_depth else [self.graph.depths]

    def _plans(self, nodes: Nodes) -> Proposals:
        """Sample ``group_size`` plans per group of depths in each node."""
        size, number = self.config.advantage.group_size, np.uint64(self.step * EPISODES) + nodes.astype(np.uint64)
        depths = np.repeat(np.array(self.graph.depths, np.int64), size) if self._sees_depth else None
        return self.actor.propose(self.graph.states[nodes], size * len(self._groups), number, depths)

    def _by_plan(self, nodes: Nodes, plans: NDArray[np.uint8]) -> tuple[Floats, Floats]:
        """Advantages and weights [N, G, 8] of plans, over all groups of depths."""
        depths, groups = self.graph.depths, self._groups
        uniform = np.full((len(nodes), len(depths)), 1.0 / len(depths))
        used = self.probs[nodes] if self.config.advantage.depth_weighting == "chosen" else uniform
        parts = [
            self._under(nodes, part, group, used[:, [depths.index(depth) for depth in group]])
            for part, group in zip(np.split(plans, len(groups), axis=1), groups, strict=True)
        ]
        advantage, share = (np.concatenate(column, axis=1) for column in zip(*parts, strict=True))
        return advantage, share

    def _under(
        self, nodes: Nodes, plans: NDArray[np.uint8], depths: tuple[int, ...], used: Floats
    ) -> tuple[Floats, Floats]:
        """Advantages and weights of ``plans`` under ``depths``, weighted by ``used`` [N, depths]."""
        task, shape = self.actor.task, (*plans.shape[:2], len(depths))
        outcome = task.execute(
            np.repeat(self.graph.states[nodes], shape[1] * shape[2], axis=0),
            np.repeat(plans.reshape(-1, plans.shape[-1]), len(depths), axis=0),
            np.tile(np.array(depths, np.int32), shape[0] * shape[1]),
        )
        landing, distance = self.graph.find(outcome.states), exact_distance(task, outcome.states)
        returns = self.values.returns(
            nodes, landing.reshape(shape), self.values.buckets(distance.reshape(shape)), outcome.solved.reshape(shape)
        )
        executed, prices = outcome.executed.reshape(shape), self.config.prices_at(self.step)
        return plan_advantages(returns - prices.cost(executed), used, depths, executed, plans.shape[-1])


def plan_advantages(
    returns: Floats, used: Floats, depths: tuple[int, ...], executed: NDArray[np.int32], length: int
) -> tuple[Floats, Floats]:
    """Advantages and weights [N, G, length] of the actions of sampled plans, from the ``returns`` [N, G, depths] of
    their commitments, weighted by how much each depth is ``used`` [N, depths].

    Action j is executed by the depths above j; its advantage is their weighted return minus the baseline, the mean over
    the plans of the same state and depth.
    """
    many, plans, _ = returns.shape
    centred = returns - returns.mean(axis=1, keepdims=True)
    advantage, weight = np.zeros((many, plans, length)), np.zeros((many, plans, length))
    for column, depth in enumerate(depths):
        reached = (np.arange(length) < depth) & (np.arange(length) < executed[:, :, column, None])
        share = used[:, None, column, None] * reached
        advantage += share * centred[:, :, column, None]
        weight += share
    return advantage / np.maximum(weight, 1e-12), weight
