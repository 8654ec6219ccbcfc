"""A vector of our environments as Stable-Baselines3's ``VecEnv``, at its native speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from recommit.envs.puzzles import PuzzleVectorEnv
from recommit.storage.errors import need

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise need("stable_baselines3", "sb3") from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.envs.commit import VectorCommit

    Info = dict[str, Any]

_GOES_ON: Info = {}  # shared by all slots whose episode continues


class PuzzleVecEnv(VecEnv):
    """Wraps ``gymnasium.make_vec("recommit/...", autoreset_mode="SAME_STEP")``, or a ``VectorCommit`` around it.

    Stable-Baselines3 expects a dict per slot and step. Slots that continue share one empty dict; those that end have
    ``terminal_observation``, ``TimeLimit.truncated`` and ``episode`` (return and length), so that no ``VecMonitor`` is
    needed. There are no single environments inside: ``env_method`` only supports ``action_masks``.
    """

    def __init__(self, envs: PuzzleVectorEnv | VectorCommit, seed: int = 0) -> None:
        if envs.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"envs: expected autoreset_mode SAME_STEP, got {envs.autoreset_mode.name}")
        if isinstance(envs, PuzzleVectorEnv) and not envs.copies:
            raise ValueError("envs: expected copy=True, since SB3 keeps observations for a step, got copy=False")
        self.envs = envs  # before super(), which reads the render mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._first: int | None = seed
        self._returns = np.zeros(self.num_envs, np.float32)
        self._begun = np.zeros(self.num_envs, np.int64)  # first step of each episode
        self._steps = 0

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset."""
        self._first = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def reset(self) -> NDArray[Any]:
        """Begin new episodes in all slots."""
        observations, _ = self.envs.reset(seed=self._first)
        self._first = None
        self._returns[:], self._begun[:] = 0, self._steps
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[Info]]:
        """Take one action per slot."""
        observations, rewards, terminated, truncated, slots, finals = self._advance(self._actions)
        np.add(self._returns, rewards, out=self._returns)
        self._steps += 1
        infos: list[Info] = [_GOES_ON] * self.num_envs
        if len(slots):
            self._end(slots, truncated, finals, infos)
        return observations, rewards, np.bitwise_or(terminated, truncated, out=terminated), infos

    def _advance(self, actions: NDArray[Any]) -> tuple[Any, ...]:
        """(observations, rewards, terminated, truncated, slots that ended, their final observations)"""
        if isinstance(self.envs, PuzzleVectorEnv):  # skips Gymnasium's infos, which SB3 does not read
            observations, rewards, terminated, truncated, _, (slots, states, _) = self.envs.advance(actions)
            finals = self.envs.shown(states) if len(slots) else states
        else:
            observations, rewards, terminated, truncated, info = self.envs.step(actions)
            slots = np.flatnonzero(terminated | truncated)
            finals = info["final_obs"][slots] if len(slots) else slots
        return observations, rewards, terminated, truncated, slots, finals

    def _end(self, slots: Any, truncated: Any, finals: Any, infos: list[Info]) -> None:
        columns = (self._returns[slots], self._steps - self._begun[slots], truncated[slots])
        rows = zip(slots.tolist(), finals, *(column.tolist() for column in columns), strict=True)
        for i, observation, total, length, late in rows:
            episode = {"r": total, "l": length, "t": 0.0}
            infos[i] = {"terminal_observation": observation, "TimeLimit.truncated": late, "episode": episode}
        self._returns[slots] = 0
        self._begun[slots] = self._steps

    def close(self) -> None:
        """Free the episodes."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The vector environment's attribute, repeated per slot."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ARG002
        """Not supported: slots share all attributes."""
        raise AttributeError(f"{attr_name}: expected an attribute of single environments, got slots that share all")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:  # noqa: ARG002
        """Only ``action_masks``, for MaskablePPO; there are no single environments."""
        if method_name == "action_masks" and isinstance(self.envs, PuzzleVectorEnv):
            return [*self.envs.action_masks()[self._get_indices(indices)]]
        raise AttributeError(f"{method_name}: expected a method of single environments, got slots that share all")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:  # noqa: ARG002
        """Always False; ``episode`` in infos replaces the ``Monitor`` that SB3 looks for."""
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> list[Any]:
        """One frame per slot, if there is a render mode."""
        return list(self.envs.render() or [None] * self.num_envs)
