"""Environments for parallel episodes: copies of one environment, or a vector environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recommit.horizon.sweep.programs import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Usual keys of info for the success of an episode.
SUCCESS = ("success", "is_success")


class Step(NamedTuple):
    """Result of one environment's step."""

    observation: Any
    reward: float
    ended: bool
    info: dict[str, Any]


class Copies:
    """Up to ``count`` environments, created when they are first needed."""

    def __init__(self, make: Callable[[], Any], first: Any, count: int) -> None:
        self.count, self._make, self._envs = count, make, [first]
        self.space = first.action_space

    def reset(self, seeds: Sequence[int]) -> list[Any]:
        """Begin an episode for each seed; returns their observations."""
        self._envs += [self._make() for _ in range(len(seeds) - len(self._envs))]
        if len({id(env) for env in self._envs}) < len(self._envs):
            raise ValueError(
                f"env: expected what makes another environment at each call, since batch is {self.count}, got one "
                "environment twice; a function or a class makes others"
            )
        return [env.reset(seed=seed)[0] for env, seed in zip(self._envs, seeds, strict=False)]

    def step(self, rows: Sequence[int], actions: Sequence[Any]) -> list[Step]:
        """Step the environments ``rows``."""
        result = []
        for row, action in zip(rows, actions, strict=True):
            observation, reward, terminated, truncated, info = self._envs[row].step(action)
            result.append(Step(observation, float(reward), bool(terminated or truncated), info))
        return result


class Vector:
    """A vector environment of Gymnasium. Slots whose episodes are over keep stepping and are ignored."""

    def __init__(self, env: Any) -> None:
        mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode")
        if getattr(mode, "value", mode) == "Disabled":
            raise ValueError(
                "env: expected a vector whose episodes begin anew by themselves, since all slots go on until the last "
                "episode is over, got one with autoreset_mode DISABLED; NEXT_STEP and SAME_STEP work"
            )
        self.count, self._env, self.space = int(env.num_envs), env, env.single_action_space
        self._actions = np.zeros(env.action_space.shape, env.action_space.dtype)

    def reset(self, seeds: Sequence[int]) -> list[Any]:
        """Begin an episode for each seed; returns their observations. Further slots get the last seed."""
        every = [*seeds, *[seeds[-1]] * (self.count - len(seeds))]
        self._actions[...] = 0
        observations, _ = self._env.reset(seed=every)
        return [row(observations, i) for i in range(len(seeds))]

    def step(self, rows: Sequence[int], actions: Sequence[Any]) -> list[Step]:
        """Step all slots; returns the results of ``rows``."""
        self._actions[list(rows)] = actions
        observations, rewards, terminated, truncated, infos = self._env.step(self._actions)
        ended = terminated | truncated
        return [
            Step(row(observations, i), float(rewards[i]), bool(ended[i]), _info(infos, i, self.count)) for i in rows
        ]


def _info(infos: dict[str, Any], slot: int, count: int) -> dict[str, Any]:
    """Info of one slot; if it was reset within the same step, that of the episode that ended. A mask marks the slots
    that have a value; without one, as from vectors that are not lists of environments, all have."""
    last = infos.get("final_info")
    if isinstance(last, dict) and np.any(plain(infos.get("_final_info", [False] * count)[slot])):
        return _info(last, slot, count)
    there = {name: infos.get(f"_{name}", [True] * count) for name in infos if not name.startswith("_")}
    return {name: infos[name][slot] for name, mask in there.items() if _for_each(infos[name], count) and mask[slot]}


def _for_each(values: Any, count: int) -> bool:
    """True if there is a value for each slot."""
    shape = (len(values),) if isinstance(values, list | tuple) else getattr(values, "shape", ())
    return tuple(shape[:1]) == (count,)


def slots(make: Callable[[], Any], batch: int) -> Copies | Vector:
    """Slots for ``batch`` episodes, or for as many as a vector environment has."""
    env = make()
    if hasattr(env, "single_action_space"):
        return Vector(env)
    if not hasattr(env, "action_space"):
        raise ValueError(f"env: expected a gymnasium.Env or a vector of them, got {type(env).__name__}")
    return Copies(make, env, batch)


def row(values: Any, i: int) -> Any:
    """Row i of arrays that may be nested in dicts and tuples."""
    if isinstance(values, dict):
        return {name: row(each, i) for name, each in values.items()}
    if isinstance(values, tuple):
        return tuple(row(each, i) for each in values)
    return values[i]


def size(values: Any) -> int:
    """Number of observations in ``values``."""
    while isinstance(values, dict | tuple):
        values = next(iter(values.values() if isinstance(values, dict) else values))
    return len(values)


def stacked(values: Sequence[Any]) -> Any:
    """Stack observations to [N, ...]: arrays, also nested in dicts and tuples; texts stay in a list."""
    first = values[0]
    if isinstance(first, dict):
        return {name: stacked([each[name] for each in values]) for name in first}
    if isinstance(first, tuple):
        return tuple(stacked([each[i] for each in values]) for i in range(len(first)))
    return list(values) if isinstance(first, str) else np.stack([np.asarray(plain(each)) for each in values])


def alike(one: Any, other: Any) -> bool:
    """True if two observations are the same. NaN, such as that of an absent sensor, equals NaN."""
    if isinstance(one, dict):
        return all(alike(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return all(map(alike, one, other))
    one, other = np.asarray(plain(one)), np.asarray(plain(other))
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc" and other.dtype.kind in "fc"))


def succeeded(info: dict[str, Any], key: str) -> bool | None:
    """Success of the episode by info; None if info has no such key."""
    for name in (key,) if key else SUCCESS:
        if name in info:
            return bool(np.all(plain(info[name])))
    return None
