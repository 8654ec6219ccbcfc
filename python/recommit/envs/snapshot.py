"""Snapshots of any environment of Gymnasium that is written in Python, MuJoCo's above all, and branches: the outcome of
each depth from the current moment of an episode.

``save`` and ``load`` go back to a moment (``recommit.envs.memory`` finds what can change), ``commit`` executes actions
open loop, ``follow`` plays on under a rule. ``branch`` puts them together: for every depth h, h actions of the plan,
and then the base rule to the end. Where the environment is deterministic, ``success - price * queries`` of a branch is
the exact value Q(s, h) of one deviation from the base rule, and to take the best depth in every state is never worse
than the base rule, if the depths that the base rule takes are among those compared.

Where it is not, a *future* is a number: future 0 is what the episode itself will meet, the others are drawn again, and
all depths meet the same. The best depth in future 0 is clairvoyant.
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
    #: (environment, action, a stream of this tick alone) -> the action that is executed instead; see ``recommit.rng``.
    Disturbance = Callable[[Any, Any, NDArray[np.uint64]], Any]

MOST_STEPS = 2**31 - 1
#: Derives the random numbers of the next episode; no future has this number.
NEXT = MOST_STEPS + 1


@dataclass(frozen=True, eq=False)
class Executed:
    """Outcome of one commitment."""

    observation: Any
    reward: float
    success: bool
    terminated: bool
    truncated: bool
    #: Actions that ran before the episode ended, without those of the latency.
    executed: int


@dataclass(frozen=True)
class Ending:
    """Outcome of the rest of an episode."""

    success: bool
    reward: float
    queries: int
    #: Actions of plans; ticks also count those of a latency.
    actions: int
    ticks: int


@dataclass(frozen=True, eq=False)
class Branches:
    """[futures, depths] outcomes of each depth, from here to the end; this query counts too."""

    depths: tuple[int, ...]
    futures: tuple[int, ...]
    success: Bools
    reward: Floats
    queries: Counts
    actions: Counts
    ticks: Counts
    #: Actions that ran of the first commitment.
    executed: Counts
    #: Whether the environment ever reported success or failure.
    says_success: bool = field(default=True, kw_only=True)

    def values(self, price: float = 0.0) -> Floats:
        """[depths] success less the price of the queries, the mean of the futures."""
        if not self.says_success:  # all episodes would count as failed
            raise ValueError(
                "branches: expected an environment whose info has success or is_success, got one that has neither; "
                "compare rewards: branches.depths[branches.reward.mean(axis=0).argmax()]"
            )
        return (self.success - price * self.queries).mean(axis=0)

    def best(self, price: float = 0.0) -> int:
        """The depth of the highest value, the deepest of equals."""
        values = self.values(price)
        return max(depth for depth, value in zip(self.depths, values, strict=True) if value >= values.max() - 1e-12)


class NotRestored(RuntimeError):
    """State outside of the snapshot changed the course of the environment."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A moment of one environment: its memory, and the episode of ``SnapshotEnv``."""

    env: Any
    memory: Memory
    episode: dict[str, Any]


class SnapshotEnv:
    """An environment of Gymnasium, or of its kind, with snapshots.

    An episode is over where it succeeds (``success`` or ``is_success`` of ``info``), where the environment ends it, and
    after ``max_steps`` actions or ``budget`` queries. ``kept`` names the attributes that are saved; subclasses may keep
    more.

    Args:
        env: one environment, with or without wrappers.
        max_steps: actions per episode, those of the latency too.
        budget: queries per episode; None for any number.
        latency: ticks that a query takes. They run at the beginning of a commitment: the plan was made before them.
        hold: the action of those ticks, from the last action that was executed (None before the first).
        disturb: changes an action, or pushes something, before every tick; all that it draws comes from the stream.
        seed: of the disturbances; ``reset`` adds its own, and without one goes on to the next numbers.
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
        #: The last observation, and the clocks: ticks, queries, and actions of plans.
        self.observation: Any = None
        self.t = self.k = self.actions = 0
        self.over = True
        self.success = self.says_success = False
        self.latency = checks.integer("latency", latency, 0, self.max_steps)
        if self.latency and hold is None:
            raise ValueError(f"hold: expected the action that is executed while {latency} ticks pass, got None")
        self._hold, self._disturb, self._seed = hold, disturb, seed
        self._episode = self._chance = seed  # what its disturbances are drawn from, and the same in this future
        self._last: Any = None
        self._walker = Walker()

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode; its first observation."""
        observation, _ = self.env.reset(seed=seed)
        self.observation = observation
        self.t = self.k = self.actions = 0
        begin = (self._episode, NEXT) if seed is None else (self._seed, seed)
        self._episode = self._chance = rng.derived_seed(begin[0], rng.Purpose.FUTURES, begin[1])
        self._last = None
        self.over = self.success = False
        return observation

    def save(self) -> Snapshot:
        """This moment, to which ``load`` comes back however often."""
        known = {name: getattr(self, name) for name in self.kept}
        return Snapshot(self.env, self._walker.memory(self.env), deepcopy(known))

    def load(self, snapshot: Snapshot, future: int = 0) -> None:
        """Back to a moment, bit for bit. With a ``future`` above 0, disturbances are drawn from there, and generators
        of numpy that the environment holds get a seed of this future."""
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
        """Types of objects in the environment that no snapshot looks into."""
        return self._walker.memory(self.env).left_out

    def commit(self, actions: Any) -> Executed:
        """One query: its latency, and its actions, open loop until the episode ends."""
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
        """Play to the end: plan, and commit to the depth of the rule. ``previous`` is the rest of the last plan, for
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
        """The plan for what is observed now, with the rest of the last one."""
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
        """The outcome of each of ``depths`` here, followed by ``base``. The episode is left as it is.

        Args:
            planner: The policy.
            depths: How many actions of the plan are executed first.
            base: The rule behind that; it reads plans and has no memory of its own.
            futures: Numbers of futures; 0 is the one that the episode will meet.
            plans: The plan for what is observed now, if it was made already.
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
        """Execute ``actions`` twice from here; ``NotRestored`` names the first difference."""
        from recommit.horizon.sweep.slots import alike  # with all of the sweep, which nothing else here needs

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
