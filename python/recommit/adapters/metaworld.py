"""One task of Meta-World as its benchmark describes it, for ``SnapshotEnv``.

Left to itself a task of Meta-World 3 hides its goal, ignores ``reset(seed=)`` and begins every episode alike.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import gymnasium
import numpy as np

from recommit import checks
from recommit.storage.errors import need

try:
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS as TASKS
    from metaworld.policies import ENV_POLICY_MAP as EXPERTS
    from scipy.spatial.transform import Rotation
except ImportError:
    raise need("Meta-World", "metaworld") from None

#: Ticks until the benchmark ends an episode.
MOST_STEPS = 500
#: The one task that is solved only while something is held.
HELD = "stick-push-v3"


class MetaWorld(gymnasium.Env[Any, Any]):
    """A task by its name, ``push-v3``: goals are observed, and episode ``reset(seed=s)`` depends on s alone.

    Observations are Meta-World's to the bit, in a fraction of its time. Without ``rewards`` the reward is a part of
    itself, ``success`` in ``info`` is what it was, and a step takes less than half as long. An episode is truncated
    after ``max_steps`` ticks; Meta-World terminates none.
    """

    def __init__(self, task: str, *, rewards: bool = True, max_steps: int = MOST_STEPS) -> None:
        checks.choice("task", task, tuple(TASKS))
        self.task = _lean(TASKS[task], rewards, task == HELD)()
        self.task.max_path_length = checks.integer("max_steps", max_steps, 1, MOST_STEPS)
        self.task.seeded_rand_vec, self.task._freeze_rand_vec, self.task._set_task_called = True, False, True
        self.task._partially_observable = False
        del self.task.sawyer_observation_space  # kept from when goals were hidden
        self.observation_space, self.action_space = self.task.sawyer_observation_space, self.task.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed, one that follows from the last."""
        super().reset(seed=seed)
        self.task.seed(int(self.np_random.integers(2**31)) if seed is None else seed)
        observation, info = self.task.reset(options=options)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One tick."""
        observation, reward, terminated, truncated, info = self.task.step(action)
        return observation, float(reward), bool(terminated), bool(truncated), info


def expert(task: str) -> Any:
    """The scripted policy of a task: an observation -> an action in -1..1."""
    policy = EXPERTS[task]()
    return lambda observation: np.clip(policy.get_action(observation), -1.0, 1.0).astype(np.float32)


def hold(last: Any) -> Any:
    """An arm that stands still with its gripper as it was, for ``SnapshotEnv(latency=...)``."""
    grip = 0.0 if last is None else float(last[-1])
    return np.array([0.0, 0.0, 0.0, grip], np.float32)


class _Lean:
    """What Meta-World spends most of a tick on, done plainly; in front of one of its tasks."""

    data: Any
    get_endeff_pos: Any
    _get_pos_objects: Any
    _get_quat_objects: Any

    def _get_curr_obs_combined_no_goal(self) -> Any:
        apart = self.data.body("rightclaw").xpos - self.data.body("leftclaw").xpos
        places, turns = self._get_pos_objects(), self._get_quat_objects()
        seen = np.zeros(18)  # the hand, how far its gripper is open, and two objects of seven numbers
        seen[:3] = self.get_endeff_pos()
        seen[3] = min(np.sqrt(apart.dot(apart)) / 0.1, 1.0)
        for i in range(len(places) // 3):
            seen[4 + 7 * i : 7 + 7 * i] = places[3 * i : 3 * i + 3]
            seen[7 + 7 * i : 11 + 7 * i] = turns[4 * i : 4 * i + 4]
        return seen


class _Unchecked:
    """scipy's rotations of matrices that MuJoCo made: to ask whether they are some takes three times as long."""

    @staticmethod
    def from_matrix(matrix: Any) -> Rotation:
        return Rotation.from_matrix(matrix, assume_valid=True)


@cache
def _lean(task: type, rewards: bool, held: bool) -> type:
    """The class of a task without its detours."""
    body: dict[str, Any] = {}
    turns = task._get_quat_objects  # type: ignore[attr-defined]
    if turns.__globals__.get("Rotation") is Rotation and "assume_valid" in (Rotation.from_matrix.__doc__ or ""):
        body["_get_quat_objects"] = FunctionType(turns.__code__, {**turns.__globals__, "Rotation": _Unchecked})
    if not rewards:
        body |= {"_gripper_caging_reward": _nothing} | ({} if held else {"touching_object": _nothing})
    return type(task.__name__, (_Lean, task), body)


def _nothing(*_: Any, **__: Any) -> float:
    return 0.0
