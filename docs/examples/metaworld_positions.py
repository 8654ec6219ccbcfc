"""Meta-World for LeRobot by positions instead of pictures, and a LeRobotDataset of its scripted experts.

    export PYTHONPATH=docs/examples
    python docs/examples/metaworld_positions.py --out=push --task=push-v3
    lerobot-eval --env.discover_packages_path=metaworld_positions --env.type=metaworld_positions ...

LeRobot's own ``metaworld`` gives pictures and the hand's place, for which a policy takes hours to train; with what
Meta-World itself calls an observation it takes minutes. Needs LeRobot with its dataset, and recommit[metaworld].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import draccus
import gymnasium
import numpy as np
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.envs.configs import EnvConfig
from lerobot.envs.utils import freeze_after_episode_end

from recommit.adapters.metaworld import TASKS, MetaWorld, expert

__path__: list[str] = []  # LeRobot looks for modules inside what it discovers: here are none

NAME = "metaworld_positions"
#: Of Meta-World's 39 numbers: the hand's place and grip; places and turns of two objects, and the goal. The rest is the
#: tick before.
HAND, OBJECTS = np.arange(4), np.r_[4:18, 36:39]
SIZES = {"agent_pos": len(HAND), "environment_state": len(OBJECTS)}
#: What LeRobot calls them in data sets and policies.
NAMES = {"agent_pos": "observation.state", "environment_state": "observation.environment_state", "action": "action"}
FPS = 80
#: First seed of the demonstrations; evaluations and sweeps begin at other ones.
DEMONSTRATIONS = 10_000_000


def seen(observation: Any) -> dict[str, Any]:
    """What a policy gets."""
    return {"agent_pos": observation[HAND], "environment_state": observation[OBJECTS]}


class Positions(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A task whose episodes end at success; its picture, for LeRobot's videos, is a plan of the table."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": FPS}
    render_mode = "rgb_array"

    def __init__(self, task: str) -> None:
        super().__init__(MetaWorld(task))
        self.task_description = task.removesuffix("-v3").replace("-", " ")
        spaces = {name: gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64) for name, size in SIZES.items()}
        self.observation_space = gymnasium.spaces.Dict(spaces)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, which depends on the seed alone."""
        self.last, _ = self.env.reset(seed=seed, options=options)
        return seen(self.last), {"is_success": False}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One tick."""
        self.last, reward, _, truncated, info = self.env.step(np.clip(action, -1, 1))
        won = {"is_success": bool(info["success"])}
        return seen(self.last), float(reward), won["is_success"], truncated, {**won, "final_info": won}

    def render(self) -> Any:
        """From above: the hand in red, the first object in green, the goal in blue."""
        picture = np.full((128, 128, 3), 255, np.uint8)
        for place, colour in ((self.last[36:38], 2), (self.last[4:6], 1), (self.last[:2], 0)):
            x, y = np.clip((place - [-0.5, 0.3]) * 128, 4, 124).astype(int)
            picture[124 - y : 132 - y, x - 4 : x + 4] = 200 * np.eye(3, dtype=np.uint8)[colour]
        return picture


for each in TASKS:
    gymnasium.register(f"gym_{NAME}/{each}", Positions, kwargs={"task": each})


@EnvConfig.register_subclass(NAME)
@dataclass
class PositionsConfig(EnvConfig):
    """``--env.type=metaworld_positions --env.task=push-v3 --env.episode_length=150``."""

    task: str = "push-v3"
    fps: int = FPS
    episode_length: int = 150
    features: dict[str, PolicyFeature] = field(
        default_factory=lambda: {
            "action": PolicyFeature(FeatureType.ACTION, (4,)),
            "agent_pos": PolicyFeature(FeatureType.STATE, (SIZES["agent_pos"],)),
            "environment_state": PolicyFeature(FeatureType.ENV, (SIZES["environment_state"],)),
        }
    )
    features_map: dict[str, str] = field(default_factory=lambda: dict(NAMES))

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        return {"max_episode_steps": self.episode_length}

    def create_envs(self, n_envs: int, use_async_envs: bool = False) -> Any:  # noqa: ARG002
        """In one process, since another one would not know of this file; an episode that is over costs no more."""
        make = freeze_after_episode_end(
            partial(gymnasium.make, self.gym_id, disable_env_checker=True, **self.gym_kwargs)
        )
        return {self.type: {0: gymnasium.vector.SyncVectorEnv([make] * n_envs)}}


@dataclass
class Recording:
    """A data set: its folder, and how its expert acts."""

    out: str  # which does not exist yet
    task: str = "push-v3"
    episodes: int = 100
    ticks: int = 150  # in which the expert has to succeed
    beyond: int = 32  # ticks after success, so that the last chunks are whole
    shake: float = 0.15  # standard deviation of the hand's noise


def record(options: Recording) -> None:
    """Record the episodes that an expert with a shaking hand solves."""
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    sizes = {**SIZES, "action": 4}
    features = {NAMES[name]: {"dtype": "float32", "shape": (size,), "names": None} for name, size in sizes.items()}
    data = LeRobotDataset.create(f"local/{options.task}", FPS, features, root=options.out, use_videos=False)
    env, act, seed = Positions(options.task), expert(options.task), DEMONSTRATIONS
    while data.num_episodes < options.episodes:
        env.reset(seed=seed)
        noise, left, t, seed = np.random.default_rng(seed), options.beyond, 0, seed + 1
        while left and (t < options.ticks or left < options.beyond):
            action = act(env.last)
            action[:3] += noise.normal(0, options.shake, 3)
            action = np.clip(action, -1, 1).astype(np.float32)
            frame = {NAMES[name]: value.astype(np.float32) for name, value in seen(env.last).items()}
            data.add_frame({**frame, "action": action, "task": env.task_description})
            success, t = env.step(action)[2], t + 1
            left -= success or left < options.beyond
        if left:
            data.clear_episode_buffer()
        else:
            data.save_episode()
    data.finalize()
    print(f"{options.task}: {data.num_episodes} of {seed - DEMONSTRATIONS} episodes solved, {data.num_frames} frames")


if __name__ == "__main__":
    record(draccus.parse(Recording))
