"""Rollouts of a GRPO step on one puzzle, from fresh start states.

``sample`` plays sampled commitments: several episodes from every start (``episode``), or several commitments in every
visited state, of which the episode continues with one (``state``), each also played to the end of the budget
(``branch``). ``explore`` grows the graph of greedy plans on which ``exact`` evaluates every depth.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data import sampling
from recommit.graph.episodes import softmax
from recommit.rollout.rollout import rollout
from recommit.storage import errors
from recommit.train import symmetry
from recommit.train.grpo import reward

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.graph.build import PolicyGraph
    from recommit.graph.graph import Floats, Nodes, States
    from recommit.rollout.rollout import Actor
    from recommit.rollout.trace import Trace
    from recommit.rollout.variants import Variant
    from recommit.runs.distributed import Team
    from recommit.train.grpo.config import GrpoConfig

    Numbers = NDArray[np.uint64]

#: Episode numbers per step; the upper half is for continuations of candidates.
EPISODES = 1 << 24
#: Decisions of an episode whose continuations have random numbers of their own.
TURNS = 64


@dataclass(frozen=True)
class Sampled:
    """Sampled commitments of this rank's episodes."""

    trace: Trace
    #: [decisions] the candidate that each episode continues with.
    followed: Nodes
    #: [episodes] their numbers, independent of the number of ranks.
    numbers: Numbers
    #: With ``branch``: the continuations; episode i continues candidate i of all.
    after: Trace | None = None


def instances_of(spec: DataSpec, config: GrpoConfig) -> DataSpec:
    """The recipe of the warm start's data, with one shard per ``rollout.instances`` start states."""
    wanted = spec.of_length(config.rollout.length or ())
    if not wanted.difficulties:
        raise errors.WrongDataSpec("rollout.length: expected the lengths to play, since the data names none")
    return replace(wanted, shard=config.rollout.instances, count=config.starts)


def starts(spec: DataSpec, config: GrpoConfig, seed: int, step: int) -> States:
    """The start states of a step, for all ranks, disjoint from validation and test sets."""
    first, many = config.shards_before(step), config.shards(config.phase_at(step))
    return np.ascontiguousarray(np.concatenate([_shard(spec, config, seed, i) for i in range(first, first + many)]))


class NextStarts:
    """``starts`` of consecutive steps; a background thread generates those of the next step."""

    def __init__(self, spec: DataSpec, config: GrpoConfig, seed: int) -> None:
        self._spec, self._config, self._seed = spec, config, seed
        self._thread, self._next = ThreadPoolExecutor(1), dict[int, "Future[States]"]()

    def of(self, step: int) -> States:
        """The start states of ``step``; begins to generate those of the next one."""
        drawn, self._next = self._next.get(step) or self._draw(step), {}
        if step + 1 < self._config.optim.steps:
            self._next = {step + 1: self._draw(step + 1)}
        return drawn.result()

    def close(self) -> None:
        """Shut down the thread."""
        self._thread.shutdown()

    def _draw(self, step: int) -> Future[States]:
        return self._thread.submit(starts, self._spec, self._config, self._seed, step)


def _shard(spec: DataSpec, config: GrpoConfig, seed: int, shard: int) -> States:
    states = sampling.starts(spec, "train", shard).states
    if config.rollout.augment and spec.puzzle().turns:
        number = np.uint64(shard * config.rollout.instances) + np.arange(len(states), dtype=np.uint64)
        states = symmetry.turned(states, symmetry.symmetries(seed, number))
    return states


def sample(actor: Actor, config: GrpoConfig, starts: States, step: int, team: Team) -> Sampled:
    """Roll out this rank's part of the ``starts`` of all ranks."""
    actor.idle = starts[:1]
    own = np.ascontiguousarray(starts[team.rank :: team.world])
    size, first = config.advantage.group_size, step * EPISODES
    if config.advantage.estimator == "episode":
        numbers = _numbers(len(own), first, team, size)
        trace = _play(actor, config, np.repeat(own, size, axis=0), config.rollout.budget, numbers)
        return Sampled(trace, np.zeros(len(trace), np.int64), numbers)
    numbers = _numbers(len(own), first, team)
    follow = partial(_followed, actor.seed, config, step, numbers)
    trace = _play(actor, config, own, config.rollout.budget, numbers, candidates=size, follow=follow)
    after = _continued(actor, config, trace, numbers, first) if config.advantage.estimator == "branch" else None
    return Sampled(trace, follow(trace) if len(trace) else np.zeros(0, np.int64), numbers, after)


def _numbers(count: int, first: int, team: Team, copies: int = 1) -> Numbers:
    """Episode numbers for ``copies`` episodes from each of this rank's ``count`` starts."""
    start = np.arange(count) * team.world + team.rank
    whole = (start[:, None] * copies + np.arange(copies)).reshape(-1)
    return np.uint64(first) + whole.astype(np.uint64)


def _play(actor: Actor, config: GrpoConfig, starts: States, budget: Any, numbers: Numbers, **options: Any) -> Trace:
    """Roll out episodes; with ``deadlock: terminate`` dead states also end them."""
    ends = config.advantage.deadlock == "terminate"
    return rollout(actor, starts, budget, numbers=numbers, end_when_lost=ends, **options)


def _followed(seed: int, config: GrpoConfig, step: int, numbers: Numbers, trace: Trace) -> Nodes:
    """Choose the candidate that each episode continues with."""
    if config.advantage.follow == "best":
        return reward.by_state(trace, config.advantage, config.prices_at(step)).argmax(axis=1)
    if config.advantage.follow == "random":
        number = numbers[trace.episode] * np.uint64(256) + trace.remaining.astype(np.uint64)
        return rng.below(rng.draw(rng.streams(seed, rng.Purpose.FOLLOW, number), 0), trace.executed.shape[1])
    return np.zeros(len(trace), np.int64)


def _continued(actor: Actor, config: GrpoConfig, trace: Trace, numbers: Numbers, first: int) -> Trace:
    """Continuations of each candidate by the policy, until the budget is spent."""
    size = config.advantage.group_size
    landed = trace.after.reshape(-1, *trace.after.shape[2:])
    turns = (numbers[trace.episode] - np.uint64(first)) * np.uint64(TURNS) + trace.remaining.astype(np.uint64)
    branches = (turns[:, None] * np.uint64(size) + np.arange(size, dtype=np.uint64)).reshape(-1)
    own = (branches + np.uint64(first + EPISODES // 2)).astype(np.uint64)
    return _play(actor, config, landed, np.repeat(trace.remaining - 1, size), own)


def explore(actor: Actor, config: GrpoConfig, graph: PolicyGraph, starts: States) -> Nodes:
    """Expand the states that are most likely visited from the starts of all ranks, at most ``advantage.max_expansions``
    new ones per start and decision; returns the nodes of the starts."""
    actor.idle = starts[:1]
    roots = graph.nodes(starts)
    mass, limit = np.zeros(len(graph)), config.advantage.max_expansions * len(starts)
    np.add.at(mass, roots, 1.0)
    for remaining in range(config.rollout.budget, 0, -1):
        distance = graph.distance
        hopeless = (distance < 0) | (distance > graph.plan_length * remaining)
        wanted = np.flatnonzero((mass > 0) & ~graph.planned & ~graph.goal & ~hopeless)
        graph.expand(wanted[np.argsort(-mass[wanted], kind="stable")[:limit]])
        here = np.flatnonzero((mass > 0) & graph.planned[: len(mass)])
        moved = mass[here, None] * depth_probs(actor.variant, graph, here)
        mass = np.bincount(graph.landing[here].ravel(), moved.ravel(), len(graph)).astype(np.float64)
        mass[graph.goal] = 0.0  # goals are terminal
    return roots


def depth_probs(variant: Variant, graph: PolicyGraph, nodes: Nodes) -> Floats:
    """Depth probabilities [nodes, depths]: the depth head's, or uniform for variants without one."""
    if variant.head:
        return softmax(graph.logits[nodes])
    return np.full((len(nodes), len(graph.depths)), 1.0 / len(graph.depths))
