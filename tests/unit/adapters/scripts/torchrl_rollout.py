"""torchrl takes the same environments through Gymnasium."""

from __future__ import annotations

from importlib.metadata import version

import gymnasium
from torchrl.envs import GymWrapper

import recommit  # noqa: F401
from recommit.envs import Commit

env = GymWrapper(Commit(gymnasium.make("recommit/Sliding-v0"), space="flat"))
rollout = env.rollout(8, break_when_any_done=False)
assert rollout.batch_size[0] == 8
assert rollout["next", "reward"].shape[0] == 8
print("torchrl", version("torchrl"), "rolled out", rollout.batch_size[0], "decisions")
