"""Episodes on the clock of the robot: a policy is queried, its chunk arrives ``latency`` ticks later, and a rule
chooses how much of it is executed.

Every tick executes one action. With D = ``latency`` and a chunk of H actions, requested at tick t:

* ``hold``: it is requested when nothing is left to execute. In ticks t .. t+D-1 the robot waits (zeros or the last
  action are sent); from t+D on the first h actions of the chunk are executed, h in 1..H.
* ``continue``: it is requested when D of the committed actions are left, which are executed in ticks t .. t+D-1. By
  then the first D actions of the new chunk are stale and dropped; the next h of it are executed from t+D on, h in
  max(1, D)..H-D. The first chunk of an episode is waited for as in ``hold`` and executed from its beginning.

A policy thus has at most one query per episode in flight. With D = 0 both modes equal a synchronous loop.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon.plans import Plans
from recommit.horizon.queue import Queue
from recommit.horizon.sweep.programs import plain
from recommit.horizon.sweep.slots import stacked, succeeded
from recommit.rng import kept_streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.horizon.queue import Rows
    from recommit.horizon.rule import Rule
    from recommit.horizon.sweep.options import SweepOptions
    from recommit.horizon.sweep.slots import Copies, Step, Vector


@dataclass
class Outcome:
    """Outcome of an episode."""

    #: None if info has no success.
    success: bool | None = None
    total: float = 0.0
    ticks: int = 0
    queries: int = 0
    #: Ticks in which the robot waited for a chunk.
    stale: int = 0


def usable(options: SweepOptions, horizon: int) -> range:
    """The depths that a chunk of ``horizon`` actions allows."""
    if options.mode == "hold":
        return range(1, horizon + 1)
    least, most = max(1, options.latency), horizon - options.latency
    if most < least:
        raise ValueError(
            f"latency: expected at most {horizon // 2} with mode continue, half of the {horizon} actions of a chunk, "
            f"got {options.latency}"
        )
    return range(least, most + 1)


class Player:
    """Plays episodes of one environment with one policy.

    Args:
        options: of the sweep.
        slots: the environments.
        policy: an object with ``predict``.
    """

    def __init__(self, options: SweepOptions, slots: Copies | Vector, policy: Any) -> None:
        if not callable(getattr(policy, "predict", None)):
            raise TypeError(
                f"policy: expected an object with predict(observations), got {type(policy).__name__}; for LeRobot and "
                "openpi, Chunks of recommit.adapters.lerobot and recommit.adapters.openpi makes one"
            )
        self.options, self.slots, self.policy = options, slots, policy
        self.finish = getattr(policy, "finish", None)  # makes the environment's actions of its own, tick by tick
        self._seconds = 0.0

    def predict(self, observations: Sequence[Any]) -> Plans:
        """The policy's plans for these observations; adds to the measured time."""
        batch, begin = stacked(observations), time.perf_counter()
        plans = read_plans(self.policy.predict(batch), None if self.finish else self.slots.space)
        self._seconds += time.perf_counter() - begin
        if len(plans) != len(observations):
            raise ValueError(f"policy: expected {len(observations)} chunks, one per observation, got {len(plans)}")
        return plans

    def play(self, rule: Rule, seeds: Sequence[int], *, keep: bool = False) -> Episodes:
        """Play a batch with an episode per seed; with ``keep`` the queue keeps all plans, for a rule's thresholds."""
        self._seconds, known = 0.0, "torch" in sys.modules
        with seeded(seeds[0]):
            if callable(getattr(self.policy, "reset", None)):
                self.policy.reset()
            episodes = Episodes(self, rule, self.slots.reset(seeds), keep=keep)
            while len(episodes.running):
                episodes.tick()
        if not known and "torch" in sys.modules:  # a program imported it just now, so it was not seeded
            return self.play(rule, seeds, keep=keep)
        episodes.seconds = self._seconds
        return episodes


class Episodes:
    """A batch of episodes that began at the same tick."""

    def __init__(self, player: Player, rule: Rule, observations: list[Any], *, keep: bool = False) -> None:
        count = len(observations)
        self.player, self.options, self.observations = player, player.options, observations
        self.outcomes = [Outcome() for _ in range(count)]
        self.running: Rows = np.arange(count)
        self.queue = Queue(rule, count, record=False, keep=keep)
        self.t = 0
        #: Time of the policy's queries, set once all episodes have ended.
        self.seconds = 0.0
        self._asked: list[tuple[int, Rows, Plans]] = []  # tick of arrival, episodes, plans
        self._waiting = np.zeros(count, np.bool_)
        self._last: dict[int, Any] = {}

    def tick(self) -> None:
        """Take in arriving chunks, request new ones, and execute one action per episode."""
        self._arrive()
        self._ask()
        if not self.options.latency:
            self._arrive()
        self._last |= dict(self._actions())
        rows = self.running.tolist()
        steps = self.player.slots.step(rows, [self._last[row] for row in rows])
        over = [self._note(row, step) for row, step in zip(rows, steps, strict=True)]
        self.running = self.running[~np.array(over)]
        self.t += 1

    def _note(self, row: int, step: Step) -> bool:
        """Add a tick to an episode's outcome; True if the episode is over."""
        outcome, options = self.outcomes[row], self.options
        self.observations[row] = step.observation
        outcome.total += step.reward
        outcome.ticks += 1
        said = succeeded(step.info, options.success)
        if said is not None:
            outcome.success = said
        won = bool(said) and options.stop == "success"
        return step.ended or won or outcome.ticks >= options.max_steps

    def _ask(self) -> None:
        """Query the policy where at most ``lead`` actions are left and no chunk is in flight."""
        left = self.queue.remaining[self.running]
        rows = self.running[(left <= self.options.lead) & ~self._waiting[self.running]]
        if not len(rows):
            return
        plans = self.player.predict([self.observations[row] for row in rows])
        stale = self.options.lead if self.t else 0  # the robot waits for the first chunk
        usable(self.options, plans.horizon)
        plans = plans.part(np.arange(len(rows)), slice(stale, stale + plans.horizon - self.options.lead))
        self._asked.append((self.t + self.options.latency, rows, plans))
        self._waiting[rows] = True
        for row in rows:
            self.outcomes[row].queries += 1

    def _arrive(self) -> None:
        """Queue the chunks that arrive now, for episodes that still run."""
        for _, rows, plans in [each for each in self._asked if each[0] == self.t]:
            here = np.isin(rows, self.running)
            if here.any():
                self.queue.fill(plans.part(np.flatnonzero(here)), rows[here])
            self._waiting[rows] = False
        self._asked = [each for each in self._asked if each[0] > self.t]

    def _actions(self) -> Iterator[tuple[int, Any]]:
        """Yield the action of each running episode: the next of its queue, or the one for waiting."""
        space = self.player.slots.space
        empty = self.queue.remaining[self.running] == 0
        moving, standing = self.running[~empty], self.running[empty]
        if len(moving):
            actions = self.queue.pop(moving)
            if self.player.finish:
                actions = np.asarray(plain(self.player.finish(actions)))
                refuse_others(actions[:, None], space)
            refuse_outside(actions, space)
            for row, action in zip(moving.tolist(), actions, strict=True):
                yield row, action.astype(space.dtype) if np.ndim(action) else space.dtype.type(action)
        for row in standing:
            self.outcomes[row].stale += 1
        if len(standing):
            yield from zip(standing.tolist(), self._waits(standing), strict=True)

    def _waits(self, rows: Rows) -> Sequence[Any]:
        """Actions of episodes that wait for a chunk."""
        space, policy = self.player.slots.space, self.player.policy
        if self.options.hold == "last" and self.t:
            return [self._last[row] for row in rows]
        if callable(getattr(policy, "idle", None)):
            return [*plain(policy.idle(stacked([self.observations[row] for row in rows])))]
        if space.shape:
            return [*np.zeros((len(rows), *space.shape), space.dtype)]
        if self.options.hold == "zero":
            raise ValueError(
                f"hold: expected last, or a policy with idle(observations), since 0 of {space} is an action too, got "
                "zero"
            )
        return [space.dtype.type(space.start)] * len(rows)  # nothing was executed yet


def read_plans(said: Any, space: Any = None) -> Plans:
    """Parse a policy's output into plans: chunks alone, ``Plans``, or fields by name in a mapping or a dataclass.

    Without ``actions``, the plan is the mean of the samples. Actions that ``space`` does not have are refused.
    """
    if isinstance(said, Plans):
        refuse_others(said.actions, space)
        return said
    if is_dataclass(said) and not isinstance(said, type):
        said = {field.name: getattr(said, field.name) for field in fields(said)}
    if not isinstance(said, Mapping):
        said = {"actions": np.asarray(plain(said))}
    names = [field.name for field in fields(Plans) if field.name != "previous"]
    values: dict[str, Any] = {name: np.asarray(plain(said[name])) for name in names if said.get(name) is not None}
    if "actions" not in values and "samples" in values and values["samples"].dtype.kind == "f":
        values["actions"] = values["samples"].mean(axis=1, dtype=values["samples"].dtype)
    if "actions" not in values:
        raise ValueError(f"policy: expected chunks, or a mapping with `actions`, got one with {sorted(said)}")
    refuse_others(values["actions"], space)
    return Plans(**values)


def refuse_others(actions: NDArray[Any], space: Any) -> None:
    """Refuse chunks whose shape or dtype does not fit the action space: numpy broadcasts some until they fit, and many
    environments read the first numbers of longer ones. Other kinds of spaces, and boxes of a single float, which no
    chunk has, are left to the environment's own checks."""
    kind = type(space).__name__
    if kind not in ("Box", "Discrete", "MultiDiscrete") or (kind != "Discrete" and not space.shape):
        return
    what, letters = ("integers", "iu") if kind == "Discrete" else ("floats", "f")
    if actions.dtype.kind not in letters or actions.ndim < 2 or actions.shape[2:] != space.shape:
        shape, got = (", ".join(map(str, each)) for each in (("N", "H", *space.shape), actions.shape))
        raise ValueError(
            f"actions: expected {what} [{shape}], since the environment has {space}, got {actions.dtype} [{got}]"
        )
    if kind == "MultiDiscrete" and (actions != np.rint(actions)).any():
        raise ValueError(f"actions: expected whole numbers, since the environment has {space}, got fractions")


def refuse_outside(actions: NDArray[Any], space: Any) -> None:
    """Refuse whole numbers outside the action space when they are executed: -1 would silently become the last entry of
    a table, or 255. Floats beyond a box are common, and environments clip them."""
    kind = type(space).__name__
    if kind in ("Discrete", "MultiDiscrete"):
        low = getattr(space, "start", 0)
        high = low + (space.n if kind == "Discrete" else space.nvec) - 1
    elif kind == "Box" and space.dtype.kind in "iu":
        low, high = space.low, space.high
    else:
        return
    whole = np.trunc(actions)  # as the cast to the space's dtype does
    wrong = ~((whole >= low) & (whole <= high))
    if wrong.any():
        raise ValueError(f"actions: expected those of the environment, which has {space}, got {actions[wrong][0]}")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global random streams, so that a policy that draws from them is reproducible; restores them
    afterwards."""
    with kept_streams() as torch:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        if torch:
            torch.manual_seed(seed)
        yield
