"""A Meta-World task as defined by the benchmark, for ``SnapshotEnv``.

By default a task of Meta-World 3 hides its goal, ignores ``reset(seed=)`` and starts all episodes identically.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from recommit import checks
from recommit.storage.errors import need

try:
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS as TASKS
    from metaworld.policies import ENV_POLICY_MAP as EXPERTS
except ImportError:
    raise need("Meta-World", "metaworld") from None

#: The benchmark's episode length in ticks.
MOST_STEPS = 500


class MetaWorld(gymnasium.Env[Any, Any]):
    """A task by name (``push-v3``), with observable goals; the episode of ``reset(seed=s)`` depends on s alone.

    An episode is truncated after ``max_steps`` ticks; Meta-World terminates none.
    """

    def __init__(self, task: str, *, max_steps: int = MOST_STEPS) -> None:
        checks.choice("task", task, tuple(TASKS))
        self.task = TASKS[task]()
        self.task.max_path_length = checks.integer("max_steps", max_steps, 1, MOST_STEPS)
        self.task.seeded_rand_vec, self.task._freeze_rand_vec, self.task._set_task_called = True, False, True
        self.task._partially_observable = False
        del self.task.sawyer_observation_space  # cached while goals were hidden
        self.observation_space, self.action_space = self.task.sawyer_observation_space, self.task.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed, one derived from the last."""
        super().reset(seed=seed)
        self.task.seed(int(self.np_random.integers(2**31)) if seed is None else seed)
        observation, info = self.task.reset(options=options)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action."""
        observation, reward, terminated, truncated, info = self.task.step(action)
        return observation, float(reward), bool(terminated), bool(truncated), info


def expert(task: str) -> Any:
    """The scripted policy of a task: an observation -> an action in -1..1."""
    policy = EXPERTS[task]()
    return lambda observation: np.clip(policy.get_action(observation), -1.0, 1.0).astype(np.float32)


def hold(last: Any) -> Any:
    """Hold the arm still and keep the gripper, for ``SnapshotEnv(latency=...)``."""
    grip = 0.0 if last is None else float(last[-1])
    return np.array([0.0, 0.0, 0.0, grip], np.float32)
