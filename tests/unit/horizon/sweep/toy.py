"""A signal to follow, and a policy that sees it and says it will stay: what depth costs is known in closed form.

Also a program as strangers write them: ``toy.py:make`` and ``toy.py:Policy`` on a command line.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

#: Ticks until the signal changes, ticks of an episode at least, and actions of a chunk.
PERIOD, LENGTH, HORIZON = 5, 12, 6


def signal(seed: int, t: int) -> int:
    """1 or 2: what the right action is at tick t."""
    return 1 + (t + seed) // PERIOD % 2


def length(seed: int) -> int:
    """Ticks of an episode."""
    return LENGTH + seed % 4


class Signal(gymnasium.Env[Any, Any]):
    """Success is no more than ``allowed`` wrong actions at the end; ``trace`` has what was executed."""

    observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def __init__(self, allowed: int = 4) -> None:
        self.allowed = allowed
        self.trace: list[tuple[float, ...]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
        self.seed, self.t, self.wrong, self.trace = seed or 0, 0, 0, []
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.trace.append(tuple(np.asarray(action).tolist()))
        wrong = float(action[0]) != signal(self.seed, self.t)
        self.t, self.wrong = self.t + 1, self.wrong + wrong
        over = self.t >= length(self.seed)
        return self._seen(), -float(wrong), over, False, {"success": over and self.wrong <= self.allowed}

    def _seen(self) -> Any:
        return np.array([self.seed, self.t, signal(self.seed, self.t)], np.float64)


class Policy:
    """A chunk repeats what it sees; its second coordinate says when it was asked for, and the place."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.seeds: list[int] = []

    def predict(self, observations: Any) -> Any:
        self.batches.append(len(observations))
        self.seeds += observations[:, 0].astype(int).tolist()
        stamps = 100 * observations[:, 1:2] + np.arange(HORIZON)
        return np.stack([np.broadcast_to(observations[:, 2:3], stamps.shape), stamps], axis=2)


def make(allowed: int = 4) -> Signal:
    return Signal(allowed)
