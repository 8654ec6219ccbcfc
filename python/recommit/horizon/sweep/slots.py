"""Episodes side by side: copies of one environment, or a vector of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: Keys of info that say by custom whether an episode succeeded.
SUCCESS = ("success", "is_success")


class Step(NamedTuple):
    """What one environment says after an action."""

    observation: Any
    reward: float
    ended: bool
    info: dict[str, Any]


class Copies:
    """So many environments, made one by one as they are needed."""

    def __init__(self, make: Callable[[], Any], first: Any, count: int) -> None:
        self.count, self._make, self._envs = count, make, [first]
        self.space = first.action_space

    def reset(self, seeds: Sequence[int]) -> list[Any]:
        """Begin an episode for each seed; their observations."""
        self._envs += [self._make() for _ in range(len(seeds) - len(self._envs))]
        return [env.reset(seed=seed)[0] for env, seed in zip(self._envs, seeds, strict=False)]

    def step(self, rows: Sequence[int], actions: Sequence[Any]) -> list[Step]:
        """One tick of the environments ``rows``."""
        result = []
        for row, action in zip(rows, actions, strict=True):
            observation, reward, terminated, truncated, info = self._envs[row].step(action)
            result.append(Step(observation, float(reward), bool(terminated or truncated), info))
        return result


class Vector:
    """A vector environment of Gymnasium. Slots whose episodes are over go on, and nobody looks."""

    def __init__(self, env: Any) -> None:
        self.count, self._env, self.space = int(env.num_envs), env, env.single_action_space
        self._actions = np.zeros(env.action_space.shape, env.action_space.dtype)

    def reset(self, seeds: Sequence[int]) -> list[Any]:
        """Begin an episode for each seed; the slots beyond them have the last seed, too."""
        every = [*seeds, *[seeds[-1]] * (self.count - len(seeds))]
        self._actions[...] = 0
        observations, _ = self._env.reset(seed=every)
        return [row(observations, i) for i in range(len(seeds))]

    def step(self, rows: Sequence[int], actions: Sequence[Any]) -> list[Step]:
        """One tick of all; what those of ``rows`` say."""
        self._actions[list(rows)] = actions
        observations, rewards, terminated, truncated, infos = self._env.step(self._actions)
        ended = terminated | truncated
        return [Step(row(observations, i), float(rewards[i]), bool(ended[i]), _info(infos, i)) for i in rows]


def _info(infos: dict[str, Any], slot: int) -> dict[str, Any]:
    """Of one slot; where it began anew in the same step, that of the episode that ended."""
    last = infos.get("final_info")
    if isinstance(last, dict) and np.any(infos.get("_final_info", [False] * (slot + 1))[slot]):
        return _info(last, slot)
    there = {name: infos.get(f"_{name}") for name in infos if not name.startswith("_")}
    return {name: infos[name][slot] for name, mask in there.items() if mask is not None and mask[slot]}


def slots(make: Callable[[], Any], batch: int) -> Copies | Vector:
    """Room for ``batch`` episodes, or for as many as a vector has."""
    env = make()
    if hasattr(env, "single_action_space"):
        return Vector(env)
    if not hasattr(env, "action_space"):
        raise ValueError(f"env: expected a gymnasium.Env or a vector of them, got {type(env).__name__}")
    return Copies(make, env, batch)


def row(values: Any, i: int) -> Any:
    """Place i of arrays that may be in dicts and tuples."""
    if isinstance(values, dict):
        return {name: row(each, i) for name, each in values.items()}
    if isinstance(values, tuple):
        return tuple(row(each, i) for each in values)
    return values[i]


def size(values: Any) -> int:
    """How many observations there are in ``values``."""
    while isinstance(values, dict | tuple):
        values = next(iter(values.values() if isinstance(values, dict) else values))
    return len(values)


def stacked(values: Sequence[Any]) -> Any:
    """Observations [N, ...]: arrays alone, or in dicts and tuples; texts stay in a list."""
    first = values[0]
    if isinstance(first, dict):
        return {name: stacked([each[name] for each in values]) for name in first}
    if isinstance(first, tuple):
        return tuple(stacked([each[i] for each in values]) for i in range(len(first)))
    return list(values) if isinstance(first, str) else np.stack([np.asarray(each) for each in values])


def alike(one: Any, other: Any) -> bool:
    """Are two observations the same?"""
    if isinstance(one, dict):
        return all(alike(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return all(map(alike, one, other))
    return bool(np.array_equal(one, other))


def succeeded(info: dict[str, Any], key: str) -> bool | None:
    """Did the episode succeed, as info says? None if it says nothing."""
    for name in (key,) if key else SUCCESS:
        if name in info:
            return bool(np.all(info[name]))
    return None


def idle(space: Any, count: int) -> NDArray[Any]:
    """Zeros for each of so many environments."""
    if not getattr(space, "shape", ()):
        raise ValueError(
            f"hold: expected last, or a policy with idle(observations), since 0 of {space} is an action too, got zero"
        )
    return np.zeros((count, *space.shape), space.dtype)
