"""The two clocks: actions tick one, decisions the other, and only decisions are scarce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import RecordConstructorArgs

from recommit.puzzles import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    Info = dict[str, Any]

MAX_DEPTH = 1024


class Commit(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Any environment with Discrete actions, with one decision per step.

    A decision is a dict: ``depth_index`` picks one of ``depths``, and the first ``depths[depth_index]`` of ``actions``
    are executed open loop, without another look, until the episode ends. The rest of ``actions`` is ignored.
    ``commit(depth, actions)`` takes the depth itself and exactly that many actions.

    The observation is the last one, the reward the sum. The episode is truncated when ``budget`` decisions are spent.
    ``info`` is that of the last action, and ``executed`` (how many actions were), ``rewards`` (theirs, one by one),
    ``t`` (the clock of actions), ``k`` (the clock of decisions) and ``decisions_left``. ``duration`` is ``executed``
    under the name that discounting by time asks for: gamma**duration.

    With ``space="flat"`` a decision is one row of integers instead, the depth's index and then the actions: a
    ``MultiDiscrete``, which Stable-Baselines3, CleanRL and torchrl take.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        depths: Sequence[int] = (1, 2, 4, 8),
        budget: int = 15,
        space: Literal["dict", "flat"] = "dict",
    ) -> None:
        if not isinstance(env, gymnasium.Env):
            raise TypeError(
                f"env: expected a gymnasium.Env (one environment, not a vector of them), got {type(env).__name__}"
            )
        if not isinstance(env.action_space, spaces.Discrete):
            raise TypeError(f"env: expected a Discrete action space, got {env.action_space}")
        RecordConstructorArgs.__init__(self, depths=depths, budget=budget, space=space)
        gymnasium.Wrapper.__init__(self, env)
        self.depths = checked_depths(depths)
        self.budget = checks.integer("budget", budget, 1, 2**31 - 1)
        self._first, self._count = int(env.action_space.start), int(env.action_space.n)
        checks.choice("space", space, ("dict", "flat"))
        self._flat = space == "flat"
        self.action_space = decisions(len(self.depths), max(self.depths), self._count, self._first, self._flat)
        self._t = self._k = 0
        self._running = False

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode with the whole budget."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._t = self._k = 0
        self._running = True
        return observation, self._with_clocks(info, [])

    def step(self, action: dict[str, Any]) -> tuple[Any, float, bool, bool, Info]:
        """One decision."""
        if self._flat:
            action = self._unpacked(action)
        if not isinstance(action, dict) or set(action) != {"depth_index", "actions"}:
            got = sorted(action) if isinstance(action, dict) else type(action).__name__
            raise ValueError(f"action: expected a dict with 'depth_index' and 'actions', got {got}")
        depth = self.depths[checks.integer("depth_index", _scalar(action["depth_index"]), 0, len(self.depths) - 1)]
        actions = self._checked_actions(action["actions"])
        if len(actions) < depth:
            raise ValueError(f"actions: expected at least {depth} actions for depth {depth}, got {len(actions)}")
        return self._execute(actions[:depth])

    def commit(self, depth: int, actions: Sequence[int]) -> tuple[Any, float, bool, bool, Info]:
        """One decision, said directly: ``depth`` actions, and these are they."""
        if depth not in self.depths:
            raise ValueError(f"depth: expected one of {self.depths}, got {depth!r}")
        checked = self._checked_actions(actions)
        if len(checked) != depth:
            raise ValueError(f"actions: expected {depth} actions for depth {depth}, got {len(checked)}")
        return self._execute(checked)

    def _unpacked(self, action: Any) -> dict[str, Any]:
        row = np.asarray(action)
        if row.shape != (1 + max(self.depths),):
            raise ValueError(
                f"action: expected {1 + max(self.depths)} integers, a depth's index first, got {row.shape}"
            )
        return {"depth_index": row[0].item(), "actions": row[1:]}

    def _execute(self, actions: list[int]) -> tuple[Any, float, bool, bool, Info]:
        if not self._running:
            raise ResetNeeded(
                f"step: expected a running episode, got decision {self._k + 1} after the last; call reset first"
            )
        self._k += 1
        rewards: list[float] = []
        for action in actions:
            observation, reward, terminated, truncated, info = self.env.step(action)
            self._t += 1
            rewards.append(float(reward))
            if terminated or truncated:
                break
        truncated = bool(truncated) or (self._k >= self.budget and not terminated)
        self._running = not (terminated or truncated)
        return observation, sum(rewards), bool(terminated), truncated, self._with_clocks(info, rewards)

    def _with_clocks(self, info: Info, rewards: list[float]) -> Info:
        clocks = {"executed": len(rewards), "rewards": rewards, "t": self._t, "k": self._k}
        return {**info, **clocks, "duration": len(rewards), "decisions_left": self.budget - self._k}

    def _checked_actions(self, actions: Sequence[int]) -> list[int]:
        array = np.asarray(actions)
        if array.ndim != 1:
            raise ValueError(f"actions: expected one dimension, got shape {array.shape}")
        if array.dtype.kind not in "iu":
            raise TypeError(f"actions: expected integers, got dtype {array.dtype}")
        last = self._first + self._count - 1
        wrong = np.flatnonzero((array < self._first) | (array > last))
        if len(wrong):
            raise ValueError(
                f"actions: expected values {self._first}..{last}, got {array[wrong[0]]} at position {wrong[0]}"
            )
        return [int(action) for action in array]


class Repeat(Commit):
    """One action, and how often: ``MultiDiscrete([actions, depths])``, the setting of DAR, FiGAR and TempoRL.

    Everything else is as in ``Commit``.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], depths: Sequence[int] = (1, 2, 4, 8), budget: int = 15) -> None:
        RecordConstructorArgs.__init__(self, depths=depths, budget=budget)  # the first call counts
        super().__init__(env, depths, budget)
        self.action_space = spaces.MultiDiscrete([self._count, len(self.depths)], start=[self._first, 0])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """One decision: an action, and the index of a depth."""
        row = np.asarray(action)
        if row.shape != (2,):
            raise ValueError(f"action: expected an action and a depth's index, got shape {row.shape}")
        return super().step({"depth_index": row[1].item(), "actions": np.repeat(row[:1], max(self.depths))})


def decisions(depths: int, longest: int, count: int, first: int, flat: bool) -> spaces.Space[Any]:
    """The space of decisions: one of ``depths``, and ``longest`` of ``count`` actions from ``first`` on."""
    if flat:
        return spaces.MultiDiscrete([depths, *[count] * longest], start=[0, *[first] * longest])
    plan = spaces.MultiDiscrete([count] * longest, start=[first] * longest)
    return spaces.Dict(depth_index=spaces.Discrete(depths), actions=plan)


def checked_depths(depths: Sequence[int]) -> tuple[int, ...]:
    """Depths in ascending order."""
    checked = tuple(checks.integer("depths", depth, 1, MAX_DEPTH) for depth in depths)
    if not checked or list(checked) != sorted(set(checked)):
        raise ValueError(f"depths: expected at least one depth, in ascending order, got {tuple(depths)}")
    return checked


def _scalar(value: Any) -> Any:
    """A zero-dimensional array, as spaces sample them, as its number."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
