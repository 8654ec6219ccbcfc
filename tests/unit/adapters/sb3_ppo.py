"""Stable-Baselines3 on our environments: equal to the vector beneath; it takes actions and flat decisions."""

from __future__ import annotations

from importlib.metadata import version

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO

import recommit  # noqa: F401
from recommit.adapters.sb3 import PuzzleVecEnv
from recommit.envs import Commit, VectorCommit

BOARD = {"size": 2, "bank_size": 4, "max_steps": 20}


def make(slots, **options):
    mode = {"autoreset_mode": "SAME_STEP"}
    return gymnasium.make_vec("recommit/Sliding-v0", num_envs=slots, **mode, **{**BOARD, **options})


def check_equal(**options):
    """Observations, rewards and ends are the vector's; what SB3 reads of ended episodes is right."""
    ours, native = PuzzleVecEnv(make(5, **options), seed=3), make(5, **options)
    assert np.array_equal(ours.reset(), native.reset(seed=3)[0])
    rng, totals, lengths, ends = np.random.default_rng(0), np.zeros(5, np.float32), np.zeros(5, int), 0
    for _ in range(100):
        actions = rng.integers(0, 4, 5)
        seen, rewards, done, infos = ours.step(actions)
        expected = native.step(actions)
        assert np.array_equal(seen, expected[0])
        assert np.array_equal(rewards, expected[1])
        assert np.array_equal(done, expected[2] | expected[3])
        totals, lengths = totals + rewards, lengths + 1
        for i in range(5):
            if not done[i]:
                assert infos[i] == {}
                continue
            assert (infos[i]["episode"]["r"], infos[i]["episode"]["l"]) == (totals[i], lengths[i])
            assert np.array_equal(infos[i]["terminal_observation"], expected[4]["final_obs"][i])
            assert infos[i]["TimeLimit.truncated"] == expected[3][i]
            totals[i], lengths[i], ends = 0, 0, ends + 1
    assert ends > 10


check_equal()
check_equal(observation="rgb", cell=8)
check_equal(observation="onehot")
masked = PuzzleVecEnv(make(16, observation="onehot"))
states = masked.reset().argmax(axis=1).astype(np.uint8)
assert is_masking_supported(masked)
assert np.array_equal(get_action_masks(masked), masked.envs.task.action_masks(states))
assert len(masked.env_method("action_masks", indices=[1, 3])) == 2
with pytest.raises(ValueError, match="copy=True"):
    PuzzleVecEnv(make(16, copy=False))
MaskablePPO("MlpPolicy", masked, n_steps=8, batch_size=64, device="cpu").learn(256)
one = gymnasium.make("recommit/Sliding-v0", **BOARD)
for env in (one, Commit(one, space="flat")):
    MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu").learn(16)
PPO("MlpPolicy", PuzzleVecEnv(make(16)), n_steps=8, batch_size=64, device="cpu").learn(256)
PPO("MlpPolicy", PuzzleVecEnv(VectorCommit(make(16))), n_steps=8, batch_size=64, device="cpu").learn(256)
PPO("MlpPolicy", Commit(gymnasium.make("FrozenLake-v1"), space="flat"), n_steps=64, device="cpu").learn(64)
DQN("MlpPolicy", gymnasium.make("recommit/Sliding-v0", **BOARD), learning_starts=10, device="cpu").learn(50)
print(f"stable-baselines3 {version('stable-baselines3')}: equal to the vector beneath")
