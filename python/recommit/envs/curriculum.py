"""Starts that get farther as they are solved: exact optimal length, one step at a time."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorWrapper

from recommit.envs.single import PuzzleEnv
from recommit.envs.vector import PuzzleVectorEnv
from recommit.puzzles import checks

LONGEST = 1024
Info = dict[str, Any]


class Ladder:
    """Which lengths starts have: 1 up to ``top``, from ``first`` to ``last``, one more whenever ``target`` of the last
    ``episodes`` that began on this rung were solved."""

    def __init__(self, first: int, last: int, target: float, episodes: int) -> None:
        self.top = checks.integer("first", first, 1, LONGEST)
        self.last = checks.integer("last", last, self.top, LONGEST)
        if not 0 < target <= 1:
            raise ValueError(f"target: expected more than 0 and at most 1, got {target}")
        self.target, self._episodes = float(target), checks.integer("episodes", episodes, 1, 2**31 - 1)
        self._solved: list[bool] = []

    def count(self, solved: bool) -> bool:
        """One more episode; is the next rung reached with it?"""
        self._solved = [*self._solved, solved][-self._episodes :]
        if len(self._solved) < self._episodes or sum(self._solved) < self.target * self._episodes:
            return False
        if self.top == self.last:
            return False
        self.top, self._solved = self.top + 1, []
        return True


class Curriculum(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """A puzzle whose starts have exact lengths 1 to ``info["top"]``: ``first`` to begin with, one more whenever
    ``target`` of the last ``episodes`` were solved, up to ``last``."""

    def __init__(
        self, env: gymnasium.Env[Any, Any], first: int = 1, last: int = 20, target: float = 0.8, episodes: int = 100
    ) -> None:
        if not isinstance(env.unwrapped, PuzzleEnv):
            raise TypeError(f"env: expected one of our puzzles, got {type(env.unwrapped).__name__}")
        RecordConstructorArgs.__init__(self, first=first, last=last, target=target, episodes=episodes)
        gymnasium.Wrapper.__init__(self, env)
        self.ladder = Ladder(first, last, target, episodes)
        self._puzzle = env.unwrapped
        self._puzzle.set_length((1, self.ladder.top))

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """The next episode, from the lengths of now."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "top": self.ladder.top}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Info]:
        """One action; where it ends an episode, the next may start farther away."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if (terminated or truncated) and self.ladder.count(bool(terminated)):
            self._puzzle.set_length((1, self.ladder.top))
        return observation, reward, bool(terminated), bool(truncated), {**info, "top": self.ladder.top}


class VectorCurriculum(VectorWrapper):
    """The same for a vector of puzzles, all slots on one ladder; episodes count in the order of slots.

    Slots that end begin anew from the lengths of before where resets are SAME_STEP, since the core has begun them by
    then; with NEXT_STEP and DISABLED they have the new ones.
    """

    def __init__(
        self, envs: PuzzleVectorEnv, first: int = 1, last: int = 20, target: float = 0.8, episodes: int = 1000
    ) -> None:
        if not isinstance(envs, PuzzleVectorEnv):
            raise TypeError(f"envs: expected a vector of our puzzles, got {type(envs).__name__}")
        super().__init__(envs)
        self.ladder = Ladder(first, last, target, episodes)
        self._puzzles = envs
        self._over = np.zeros(envs.num_envs, np.bool_)
        envs.set_length((1, self.ladder.top))

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Info]:
        """One action per slot; where episodes end, later ones may start farther away."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        ended = np.flatnonzero(terminated | truncated)
        rungs = [self.ladder.count(bool(terminated[slot])) for slot in ended]
        if any(rungs):
            self._puzzles.set_length((1, self.ladder.top))
        return observations, rewards, terminated, truncated, info
