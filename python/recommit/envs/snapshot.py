"""Snapshots of Gymnasium environments that are written in Python, MuJoCo's in particular, and branches: the outcome of
each depth from the current state of an episode.

``save`` and ``load`` take and restore snapshots (``recommit.envs.memory`` finds the mutable state), ``commit`` executes
actions open loop, ``follow`` continues under a rule. ``branch`` combines them: for every depth h, h actions of the
plan, then the base rule to the end. In a deterministic environment, ``success - price * queries`` of a branch is the
exact value Q(s, h) of one deviation from the base rule, and taking the best depth in every state is never worse than
the base rule, if the base rule's depths are among those compared.

In a stochastic one, a *future* is a seed: future 0 is the randomness that the episode itself will see, the others are
drawn anew, and all depths are compared under the same futures. The best depth in future 0 is clairvoyant.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recommit import checks, rng
from recommit.envs.memory import Memory, Walker
from recommit.horizon import Tail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.horizon import Plans, Rule

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    #: The policy: an observation -> ``Plans`` of one row.
    Planner = Callable[[Any], Plans]
    #: (environment, action, random stream of this tick) -> the action to execute instead; see ``recommit.rng``.
    Disturbance = Callable[[Any, Any, NDArray[np.uint64]], Any]

MOST_STEPS = 2**31 - 1
#: Derives the next episode's seed; not a valid future.
NEXT = MOST_STEPS + 1


@dataclass(frozen=True, eq=False)
class Executed:
    """Outcome of one commitment."""

    observation: Any
    reward: float
    success: bool
    terminated: bool
    truncated: bool
    #: Executed actions, without those of the latency.
    executed: int


@dataclass(frozen=True)
class Ending:
    """Outcome of the rest of an episode."""

    success: bool
    reward: float
    queries: int
    #: Actions from plans; ticks include those of the latency.
    actions: int
    ticks: int


@dataclass(frozen=True, eq=False)
class Branches:
    """Outcomes [futures, depths] of each depth, from the current state to the end, including the current query."""

    depths: tuple[int, ...]
    futures: tuple[int, ...]
    success: Bools
    reward: Floats
    queries: Counts
    actions: Counts
    ticks: Counts
    #: Executed actions of the first commitment.
    executed: Counts
    #: True if the environment ever reported success or failure.
    says_success: bool = field(default=True, kw_only=True)

    def values(self, price: float = 0.0) -> Floats:
        """[depths] success minus the price of the queries, averaged over futures."""
        if not self.says_success:  # else every episode would count as a failure
            raise ValueError(
                "branches: expected an environment whose info has success or is_success, got one that has neither; "
                "compare rewards: branches.depths[branches.reward.mean(axis=0).argmax()]"
            )
        return (self.success - price * self.queries).mean(axis=0)

    def best(self, price: float = 0.0) -> int:
        """The depth with the highest value; ties go to the deepest."""
        values = self.values(price)
        return max(depth for depth, value in zip(self.depths, values, strict=True) if value >= values.max() - 1e-12)


class NotRestored(RuntimeError):
    """State outside of the snapshot changed the environment's behaviour."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A snapshot of one environment: its memory, and the episode's state in ``SnapshotEnv``."""

    env: Any
    memory: Memory
    episode: dict[str, Any]


class SnapshotEnv:
    """A Gymnasium-like environment with snapshots.

    An episode ends on success (``success`` or ``is_success`` of ``info``), when the environment ends it, and after
    ``max_steps`` actions or ``budget`` queries. ``kept`` names the attributes that are saved; subclasses may extend it.

    Args:
        env: a single environment, with or without wrappers.
        max_steps: actions per episode, including those of the latency.
        budget: queries per episode; None for no limit.
        latency: ticks that a query takes. They run at the beginning of a commitment, after the plan was made.
        hold: the action during the latency, given the last executed action (None before the first).
        disturb: changes an action, or pushes something, before every tick; draws only from its stream.
        seed: seed of the disturbances, combined with that of ``reset``; without one, each reset derives the next.
    """

    kept: ClassVar[tuple[str, ...]] = ("observation", "t", "k", "actions", "over", "success", "_chance", "_last")

    def __init__(
        self,
        env: Any,
        *,
        max_steps: int = 1000,
        budget: int | None = None,
        latency: int = 0,
        hold: Callable[[Any], Any] | None = None,
        disturb: Disturbance | None = None,
        seed: int = 0,
    ) -> None:
        self.env = env
        self.max_steps = checks.integer("max_steps", max_steps, 1, MOST_STEPS)
        self.budget = None if budget is None else checks.integer("budget", budget, 1, MOST_STEPS)
        #: The last observation, and the clocks: ticks, queries, and actions from plans.
        self.observation: Any = None
        self.t = self.k = self.actions = 0
        self.over = True
        self.success = self.says_success = False
        self.latency = checks.integer("latency", latency, 0, self.max_steps)
        if self.latency and hold is None:
            raise ValueError(f"hold: expected the action that is executed while {latency} ticks pass, got None")
        self._hold, self._disturb, self._seed = hold, disturb, seed
        self._episode = self._chance = seed  # disturbance seeds of the episode, and of the current future
        self._last: Any = None
        self._walker = Walker()

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode; returns its first observation."""
        observation, _ = self.env.reset(seed=seed)
        self.observation = observation
        self.t = self.k = self.actions = 0
        begin = (self._episode, NEXT) if seed is None else (self._seed, seed)
        self._episode = self._chance = rng.derived_seed(begin[0], rng.Purpose.FUTURES, begin[1])
        self._last = None
        self.over = self.success = False
        return observation

    def save(self) -> Snapshot:
        """Take a snapshot, which ``load`` can restore any number of times."""
        known = {name: getattr(self, name) for name in self.kept}
        return Snapshot(self.env, self._walker.memory(self.env), deepcopy(known))

    def load(self, snapshot: Snapshot, future: int = 0) -> None:
        """Restore a snapshot bitwise. A ``future`` above 0 reseeds the disturbances and the environment's numpy
        generators."""
        if snapshot.env is not self.env:
            raise ValueError("snapshot: expected one of this environment, got one of another")
        snapshot.memory.restore()
        vars(self).update(deepcopy(snapshot.episode))
        if future:
            self._chance = rng.derived_seed(self._chance, rng.Purpose.FUTURES, future)
            for number, generator in enumerate(snapshot.memory.generators):
                fresh = rng.derived_seed(self._chance, rng.Purpose.FUTURES, number)
                generator.bit_generator.state = type(generator.bit_generator)(fresh).state

    @property
    def left_out(self) -> tuple[str, ...]:
        """Types of opaque objects in the environment that snapshots do not save."""
        return self._walker.memory(self.env).left_out

    def commit(self, actions: Any) -> Executed:
        """One query: run its latency and its actions open loop, unless the episode ends first."""
        if self.over:
            raise ValueError("commit: expected a running episode, got one that is over; call reset first")
        self.k += 1
        reward, executed, terminated, truncated = 0.0, 0, False, False
        for place in range(self.latency + len(actions)):
            waiting = place < self.latency
            action = self._hold(self._last) if waiting and self._hold is not None else actions[place - self.latency]
            gained, terminated, truncated = self._tick(action)
            reward, executed = reward + gained, executed + (not waiting)
            if self.over:
                break
        self.actions += executed
        if self.budget is not None and self.k >= self.budget and not self.over:
            truncated = self.over = True
        return Executed(self.observation, reward, self.success, terminated, truncated, executed)

    def follow(self, planner: Planner, rule: Rule, previous: Tail | None = None) -> Ending:
        """Play to the end, committing to the rule's depth of each plan. ``previous`` is the rest of the last plan, for
        rules that compare plans."""
        reward, begin = 0.0, self._clocks
        while not self.over:
            plans = rule.revise(self.planned(planner, previous))
            depth = int(rule.choose(plans)[0])
            reward += self.commit(plans.actions[0, :depth]).reward
            previous = plans.tail(np.array([depth]))
        return Ending(self.success, reward, *(self._clocks - begin).tolist())

    @property
    def _clocks(self) -> Counts:
        return np.array([self.k, self.actions, self.t])

    def planned(self, planner: Planner, previous: Tail | None = None) -> Plans:
        """The plan for the current observation, with the rest of the previous plan."""
        plans = planner(self.observation)
        if len(plans) != 1:
            raise ValueError(f"planner: expected plans for one observation, got {len(plans)}")
        if plans.previous is not None:
            return plans
        return replace(plans, previous=previous or Tail(plans.actions, np.zeros(1, np.int64)))

    def branch(
        self,
        planner: Planner,
        depths: Sequence[int],
        base: Rule,
        futures: Sequence[int] = (0,),
        plans: Plans | None = None,
    ) -> Branches:
        """The outcome of each of ``depths`` from here on, followed by ``base``. The episode is left unchanged.

        Args:
            planner: The policy.
            depths: Numbers of actions of the plan to execute first.
            base: The rule afterwards; it reads plans and must be stateless.
            futures: Seeds of futures; 0 is the one that the episode itself will see.
            plans: The plan for the current observation, if already made.
        """
        if self.over:
            raise ValueError("branch: expected a running episode, got one that is over; call reset first")
        plans = self.planned(planner) if plans is None else plans
        wanted = tuple(checks.integer("depths", each, 1, plans.horizon) for each in depths)
        numbers = tuple(checks.integer("futures", each, 0, MOST_STEPS) for each in futures)
        here, ends = self.save(), []
        try:
            for future in numbers:
                for depth in wanted:
                    self.load(here, future)
                    ends.append(self._deviated(planner, plans, depth, base))
        finally:
            self.load(here)
        columns = [np.array(each).reshape(len(numbers), len(wanted)) for each in zip(*ends, strict=True)]
        return Branches(wanted, numbers, *columns, says_success=self.says_success)

    def _deviated(self, planner: Planner, plans: Plans, depth: int, base: Rule) -> tuple[Any, ...]:
        begin = self._clocks
        first = self.commit(plans.actions[0, :depth])
        rest = self.follow(planner, base, plans.tail(np.array([depth])))
        clocks = (self._clocks - begin).tolist()
        return self.success, first.reward + rest.reward, *clocks, first.executed

    def check(self, actions: Any) -> None:
        """Execute ``actions`` twice from the current state; raises ``NotRestored`` at the first difference."""
        from recommit.horizon.sweep.slots import alike  # imports the whole sweep, only needed here

        here, courses = self.save(), []
        for _ in range(2):
            try:
                courses.append(self._course(actions))
            finally:
                self.load(here)
        for tick, (first, second) in enumerate(zip(*courses, strict=False)):
            for name, value in first.items():
                if not alike(value, second[name]):
                    raise NotRestored(
                        f"env: expected the same course twice, got {name} {value} and then {second[name]} {tick + 1} "
                        f"actions on; it remembers something that snapshots do not hold (left out: "
                        f"{', '.join(self.left_out) or 'nothing'})"
                    )

    def _course(self, actions: Any) -> list[dict[str, Any]]:
        course = []
        for action in actions:
            gained, *ends = self._tick(action)
            course.append({"reward": gained, "ends": (*ends, self.success), "observation": deepcopy(self.observation)})
            if self.over:
                break
        return course

    def _tick(self, action: Any) -> tuple[float, bool, bool]:
        if self._disturb is not None:
            action = self._disturb(self.env, action, rng.streams(self._chance, rng.Purpose.BUMPS, self.t))
        self.observation, reward, terminated, truncated, info = self.env.step(action)
        self._last = action
        self.t += 1
        said = info.get("success", info.get("is_success"))
        self.success, self.says_success = bool(said), self.says_success or said is not None
        truncated = bool(truncated) or (self.t >= self.max_steps and not terminated)
        self.over = self.success or bool(terminated) or truncated
        return float(reward), bool(terminated), truncated
