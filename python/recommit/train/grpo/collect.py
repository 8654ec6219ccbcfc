"""From start states to what a step learns from, one function per kind of group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import draws
from recommit.play import values
from recommit.play.graph import Reach, softmax
from recommit.play.sampled import Actor, play
from recommit.policy.config import MAX_ACTIONS
from recommit.runs.ranks import Team
from recommit.train.grpo import reward as credit
from recommit.train.grpo.batch import Decisions, gathered
from recommit.train.grpo.log_line import Signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.play.sampled import Trace
    from recommit.play.variants import Variant
    from recommit.train.grpo.config import GrpoConfig

    Floats = NDArray[np.float64]
    Found = tuple[Decisions, Signals]

#: Episode numbers per step; the upper half is for what follows a candidate.
_STRETCH = 1 << 24


@dataclass(frozen=True)
class Collector:
    """What playing needs besides start states."""

    actor: Actor
    config: GrpoConfig
    variant: Variant
    #: A new, empty graph of greedy plans for these depths.
    graph: Callable[[tuple[int, ...]], Reach]
    #: Moves the depth head alone, on a graph from these roots; see ``recommit.train.grpo.head_moves``.
    move_head: Callable[[Reach, NDArray[np.int64], GrpoConfig], None]
    team: Team = field(default_factory=Team)

    def __call__(self, starts: NDArray[np.uint8], step: int) -> Found:
        """The decisions of one step from the starts of all ranks, and what there is to tell of them: on every rank the same
        as in one process, but for rounding."""
        collect = {"state": by_state, "branch": by_branch, "episode": by_episode, "exact": by_value}
        self.actor.idle = starts[:1]
        return collect[self.config.credit.group](self, starts, step * _STRETCH)

    @property
    def sees_depth(self) -> bool:
        """Is a plan another one for another depth?"""
        return self.actor.policy.config.decoder.depth_conditioning != "none"

    def own(self, starts: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Those that this rank plays from."""
        return np.ascontiguousarray(starts[self.team.rank :: self.team.world])

    def play(self, starts: NDArray[np.uint8], budget: Any, numbers: NDArray[np.uint64], **options: Any) -> Trace:
        """Episodes that end where the configuration says."""
        ends = self.config.credit.deadlock == "terminate"
        return play(self.actor, starts, budget, numbers=numbers, end_when_lost=ends, **options)

    def numbers(self, count: int, first: int, copies: int = 1) -> NDArray[np.uint64]:
        """Of ``copies`` episodes from each of this rank's ``count`` starts: the same ones however many ranks there are."""
        start = np.arange(count) * self.team.world + self.team.rank
        whole = (start[:, None] * copies + np.arange(copies)).reshape(-1)
        return np.uint64(first) + whole.astype(np.uint64)

    def decisions(self, trace: Trace, advantage: Floats, numbers: NDArray[np.uint64], first: int) -> Decisions:
        """See ``credit.decisions_of``: of all ranks, turn by turn and in the order of the episodes' ``numbers``."""
        total, greedy = self.team.total, self.actor.greedy
        own = credit.decisions_of(trace, advantage, self.config.credit, self.variant, greedy=greedy, total=total)
        turn = self.config.rollout.budget - trace.left
        return gathered(own, turn * _STRETCH + (numbers[trace.episode] - np.uint64(first)).astype(np.int64), self.team)

    def signals(self, own: Signals) -> Signals:
        """Of all ranks."""
        return own.filled(self.team.total(own.flat()))


def by_state(given: Collector, starts: NDArray[np.uint8], first: int) -> Found:
    """Candidates of every state that an episode comes by, judged by their own actions."""
    played = _candidates(given, starts, first)
    return _compared(given, played, credit.by_state(played.trace, given.config.credit))


def by_branch(given: Collector, starts: NDArray[np.uint8], first: int) -> Found:
    """The same candidates, each played on to the end of the budget."""
    played = _candidates(given, starts, first)
    trace, size = played.trace, given.config.credit.size
    landed = trace.after.reshape(-1, *trace.after.shape[2:])
    left = np.repeat(trace.left - 1, size)
    turns = (played.numbers[trace.episode] - np.uint64(first)) * np.uint64(64) + trace.left.astype(np.uint64)
    branches = (turns[:, None] * np.uint64(size) + np.arange(size, dtype=np.uint64)).reshape(-1)
    after = given.play(landed, left, (branches + np.uint64(first + _STRETCH // 2)).astype(np.uint64))
    return _compared(given, played, credit.by_branch(trace, after, given.config.credit))


@dataclass(frozen=True)
class Played:
    """One rank's episodes with several candidates in every state."""

    trace: Trace
    numbers: NDArray[np.uint64]  #: the episodes'
    first: int
    #: The candidate that each decision's episode went on with.
    follow: Callable[[Trace], NDArray[np.int64]]


def _candidates(given: Collector, starts: NDArray[np.uint8], first: int) -> Played:
    config, own = given.config.credit, given.own(starts)
    numbers = given.numbers(len(own), first)

    def follow(trace: Trace) -> NDArray[np.int64]:
        return _follow(trace, credit.by_state(trace, config), given, numbers)

    trace = given.play(own, given.config.rollout.budget, numbers, candidates=config.size, follow=follow)
    return Played(trace, numbers, first, follow)


def _compared(given: Collector, played: Played, reward: Floats) -> Found:
    trace, advantage = played.trace, credit.advantages(reward, given.config.credit)
    followed = played.follow(trace) if len(trace) else np.zeros(0, np.int64)
    signals = _signals(given, trace, followed, len(played.numbers), reward)
    return given.decisions(trace, advantage, played.numbers, played.first), signals


def by_episode(given: Collector, starts: NDArray[np.uint8], first: int) -> Found:
    """Whole episodes from one start; every decision of an episode gets its advantage."""
    config, own = given.config.credit, given.own(starts)
    copies, numbers = np.repeat(own, config.size, axis=0), given.numbers(len(own), first, config.size)
    trace = given.play(copies, given.config.rollout.budget, numbers)
    distance = given.actor.task.distance(copies)
    reward = credit.by_episode(trace, len(copies), distance, config).reshape(-1, config.size)
    advantage = credit.advantages(reward, config).reshape(-1)[trace.episode][:, None]
    signals = _signals(given, trace, np.zeros(len(trace), np.int64), len(copies), reward)
    return given.decisions(trace, advantage, numbers, first), signals


def by_value(given: Collector, starts: NDArray[np.uint8], first: int) -> Found:
    """Every depth by its exact value under greedy plans, and sampled plans by where they lead."""
    config, budget, policy = given.config.credit, given.config.rollout.budget, given.actor.policy
    variant = given.variant
    depths = (variant.depth,) if variant.depth else policy.config.depths
    graph = given.graph(depths)
    roots = graph.nodes(starts)

    def choose(reach: Reach, nodes: NDArray[np.int64]) -> Floats:
        if variant.head:
            return softmax(reach.logits[nodes])
        return np.full((len(nodes), len(depths)), 1.0 / len(depths))

    values.explore(graph, roots, budget, choose, config.width * len(starts))
    if variant.head and config.head_steps:
        given.move_head(graph, roots, given.config)
    chance = choose(graph, np.arange(len(graph)))
    found = values.evaluate(graph, roots, chance, budget, config.price_action, config.budgets)
    mass = found.visits.sum(axis=0)
    nodes = np.flatnonzero(graph.expanded & (mass > 0))
    nodes, weight = _thinned(nodes, mass[nodes], given.config.rollout.states, given, first)
    mine = slice(given.team.rank, None, given.team.world)
    batch = gathered(_valued(given, graph, found, chance, nodes[mine], weight[mine], first), nodes[mine], given.team)
    return batch, Signals.of_values(graph, roots, found, chance, depths, batch)


def _valued(
    given: Collector,
    graph: Reach,
    found: values.Values,
    chance: Floats,
    nodes: NDArray[np.int64],
    weight: Floats,
    first: int,
) -> Decisions:
    config = given.config.credit
    depths, sees = graph.depths, given.sees_depth
    head = values.depth_advantages(graph, found, chance, nodes)
    states = graph.states[nodes]
    # A plan that does not know its depth is judged under all of them; one that does, under its own.
    groups = [(depth,) for depth in depths] if sees else [depths]
    told = np.repeat(np.array(depths, np.int64), config.size) if sees else None
    number = np.uint64(first) + nodes.astype(np.uint64)
    made = given.actor.propose(states, config.size * len(groups), number, told)
    used = chance[nodes] if config.plan_depths == "chosen" else np.full((len(nodes), len(depths)), 1.0 / len(depths))
    judged = [
        _judged(given, graph, found, nodes, plans, group, used[:, [depths.index(depth) for depth in group]])
        for plans, group in zip(np.split(made.actions, len(groups), axis=1), groups, strict=True)
    ]
    advantage, share = (np.concatenate(column, axis=1) for column in zip(*judged, strict=True))
    depth_weight = weight[:, None] * chance[nodes] * given.variant.head
    action_weight = weight[:, None, None] / config.size * share * (given.variant.rest and not given.actor.greedy)
    columns = np.tile(np.arange(len(depths)), (len(nodes), 1))
    return Decisions(
        states=states,
        depths=columns,
        depth_advantage=credit.whole_batch(head, depth_weight, config, given.team.total).astype(np.float32),
        depth_weight=depth_weight.astype(np.float32),
        depth_old=np.log(softmax(graph.logits[nodes])).astype(np.float32)[:, : len(depths)],
        actions=made.actions.astype(np.int64),
        plan_depth=made.depth,
        action_advantage=credit.whole_batch(advantage, action_weight, config, given.team.total).astype(np.float32),
        action_weight=action_weight.astype(np.float32),
        action_old=made.action_log,
        left=np.zeros(len(nodes), np.int64),
        weight=weight.astype(np.float32),
    )


def _judged(
    given: Collector,
    graph: Reach,
    found: values.Values,
    nodes: NDArray[np.int64],
    plans: NDArray[np.uint8],
    depths: tuple[int, ...],
    used: Floats,
) -> tuple[Floats, Floats]:
    """Advantages and weights [N, G, 8] of ``plans`` [N, G, 8] under ``depths``, each of which is ``used`` [N, depths] so
    much."""
    task, shape = given.actor.task, (*plans.shape[:2], len(depths))
    outcome = task.execute(
        np.repeat(graph.states[nodes], shape[1] * shape[2], axis=0),
        np.repeat(plans.reshape(-1, MAX_ACTIONS), len(depths), axis=0),
        np.tile(np.array(depths, np.int32), shape[0] * shape[1]),
    )
    landing, distance = graph.find(outcome.states).reshape(shape), task.distance(outcome.states).reshape(shape)
    lost = found.by_distance.shape[1] - 1
    bucket = np.where(distance < 0, lost, np.minimum(distance, lost - 1))
    return values.plan_advantages(
        found, found.visits[:, nodes], used, depths, landing, bucket,
        outcome.solved.reshape(shape), outcome.executed.reshape(shape), given.config.credit.price_action,
    )  # fmt: skip


def _thinned(
    nodes: NDArray[np.int64], mass: Floats, limit: int, given: Collector, first: int
) -> tuple[NDArray[np.int64], Floats]:
    """About ``limit`` of the nodes: all heavy ones, and light ones with a chance of their mass and the weight of all they
    stand for, so that sums over nodes keep their expectation."""
    if not limit or len(nodes) <= limit:
        return nodes, mass
    low, high = 0.0, float(mass.max())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(mass / middle, 1.0).sum() > limit else (low, middle)
    words = draws.draw(
        draws.streams(given.actor.seed, draws.Purpose.FOLLOW, np.uint64(first) + nodes.astype(np.uint64)), 1
    )
    kept = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 < mass / high
    return nodes[kept], np.maximum(mass[kept], high)


def _follow(trace: Trace, reward: Floats, given: Collector, numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Which candidate an episode goes on with."""
    if given.config.credit.follow == "best":
        return reward.argmax(axis=1)
    if given.config.credit.follow == "random":
        number = numbers[trace.episode] * np.uint64(256) + trace.left.astype(np.uint64)
        words = draws.draw(draws.streams(given.actor.seed, draws.Purpose.FOLLOW, number), 0)
        return draws.below(words, trace.executed.shape[1])
    return np.zeros(len(trace), np.int64)


def _signals(given: Collector, trace: Trace, followed: NDArray[np.int64], episodes: int, reward: Floats) -> Signals:
    depths, dead = given.actor.policy.config.depths, credit.dead_share(reward)
    return given.signals(Signals.of_trace(trace, followed, episodes, reward, dead, depths))
