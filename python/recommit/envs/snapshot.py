"""Environments with snapshots: any of Gymnasium's that is written in Python, MuJoCo's above all, and puzzles.

``SnapshotEnv`` finds what can change in an environment (``recommit.envs.memory``). ``check`` tests that it has found
everything: the same actions twice from one moment must give the same bits.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recommit import checks, rng
from recommit.envs.branching import MOST_STEPS, Branching, Executed
from recommit.envs.memory import Memory, Walker

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import Puzzle

    #: (environment, action, a stream of this tick alone) -> the action that is executed instead; see ``recommit.rng``.
    Disturbance = Callable[[Any, Any, NDArray[np.uint64]], Any]


#: Derives the random numbers of the next episode; no future has this number.
NEXT = MOST_STEPS + 1


class NotRestored(RuntimeError):
    """State outside of the snapshot changed the course of the environment."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A moment of one environment: its memory, and the episode of ``SnapshotEnv``."""

    env: Any
    memory: Memory
    episode: dict[str, Any]


class SnapshotEnv(Branching):
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
        super().__init__(max_steps, budget)
        self.env = env
        self.latency = checks.integer("latency", latency, 0, self.max_steps)
        if self.latency and hold is None:
            raise ValueError(f"hold: expected the action that is executed while {latency} ticks pass, got None")
        self._hold, self._disturb, self._seed = hold, disturb, seed
        self._episode = self._chance = seed  # what its disturbances are drawn from, and the same in this future
        self._last: Any = None
        self._walker = Walker()

    def reset(self, seed: int | None = None) -> Any:
        observation, _ = self.env.reset(seed=seed)
        self.observation = observation
        self.t = self.k = self.actions = 0
        begin = (self._episode, NEXT) if seed is None else (self._seed, seed)
        self._episode = self._chance = rng.derived_seed(begin[0], rng.Purpose.FUTURES, begin[1])
        self._last = None
        self.over = self.success = False
        return observation

    def save(self) -> Snapshot:
        known = {name: getattr(self, name) for name in self.kept}
        return Snapshot(self.env, self._walker.memory(self.env), deepcopy(known))

    def load(self, snapshot: Snapshot, future: int = 0) -> None:
        """Back to it. With a ``future`` above 0, disturbances are drawn from there, and generators of numpy that the
        environment holds get a seed of this future."""
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
        """One query: its latency, and its actions."""
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

    def check(self, actions: Any) -> None:
        """Execute ``actions`` twice from here; ``NotRestored`` names the first difference."""
        here, courses = self.save(), []
        for _ in range(2):
            try:
                courses.append(self._course(actions))
            finally:
                self.load(here)
        for tick, (first, second) in enumerate(zip(*courses, strict=False)):
            for name, value in first.items():
                if not np.array_equal(value, second[name], equal_nan=np.asarray(value).dtype.kind in "fc"):
                    raise NotRestored(
                        f"env: expected the same course twice, got {name} {value} and then {second[name]} {tick + 1} "
                        f"actions on; it remembers something that snapshots do not hold (left out: "
                        f"{', '.join(self.left_out) or 'nothing'})"
                    )

    def _course(self, actions: Any) -> list[dict[str, Any]]:
        course = []
        for action in actions:
            gained, *ends = self._tick(action)
            course.append({"reward": gained, "ends": (*ends, self.success), **flat(self.observation)})
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


def flat(observation: Any, name: str = "observation") -> dict[str, Any]:
    """The arrays of an observation by name."""
    if isinstance(observation, dict):
        return {key: value for part, each in observation.items() for key, value in flat(each, f"{name}.{part}").items()}
    if isinstance(observation, tuple):
        return {key: v for i, each in enumerate(observation) for key, v in flat(each, f"{name}.{i}").items()}
    return {name: np.array(observation)}


class SnapshotPuzzle(Branching):
    """A puzzle with snapshots: observations are states [rows, columns], the reward is 1 for solving it.

    Args:
        task: the puzzle.
        max_steps: actions per episode.
        budget: queries per episode; None for any number.
    """

    def __init__(self, task: Puzzle, *, max_steps: int = 200, budget: int | None = None) -> None:
        super().__init__(max_steps, budget)
        self.task, self.says_success = task, True

    def reset(self, state: Any) -> Any:
        self.observation = np.array(state, np.uint8)
        self.success = self.over = bool(self.task.is_solved(self.observation))
        self.t = self.k = self.actions = 0
        return self.observation

    def save(self) -> dict[str, Any]:
        return {**vars(self), "observation": self.observation.copy()}

    def load(self, snapshot: dict[str, Any], future: int = 0) -> None:  # noqa: ARG002  (nothing is left to chance)
        vars(self).update(snapshot)
        self.observation = self.observation.copy()

    def commit(self, actions: Any) -> Executed:
        if self.over:
            raise ValueError("commit: expected a running episode, got one that is over; call reset first")
        plan = np.asarray(actions, np.uint8)[: self.max_steps - self.t]
        out = self.task.execute(self.observation, plan, len(plan))
        self.observation, executed = out.states, int(out.executed)
        self.t = self.actions = self.t + executed
        self.k += 1
        self.success = bool(out.solved)
        truncated = not self.success and (self.t >= self.max_steps or self.k == self.budget)
        self.over = self.success or truncated
        return Executed(self.observation, float(self.success), self.success, self.success, truncated, executed)
