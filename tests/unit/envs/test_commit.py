"""The two clocks, on puzzles and on environments that are not ours, for one environment and for a vector."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from tests.refusals import refused
from tests.unit.envs.battery import IDS, SMALL

import recommit
from recommit.envs import Commit, VectorCommit

OURS = ["recommit/Sliding-v0", "recommit/Sokoban-v0"]
LAKE = "FrozenLake-v1"
OTHERS = [LAKE, max(name for name in gymnasium.registry if name.startswith("Taxi"))]  # of gymnasium 1.1: v3


def episode(env: Any, seed: int, depths: Any, rng: Any, space: Any) -> list[Any]:
    """Random decisions until the end, replayed action by action on a second copy of the environment."""
    twin = (
        gymnasium.make(env.spec.id).unwrapped
        if env.spec.id in OTHERS
        else gymnasium.make(env.spec.id, **env.spec.kwargs)
    )
    commits = Commit(env, depths=depths, budget=15, space=space)
    observation, info = commits.reset(seed=seed)
    expected, _ = twin.reset(seed=seed)
    assert np.array_equal(observation, expected)
    assert [info[key] for key in ("executed", "rewards", "t", "k", "decisions_left")] == [0, [], 0, 0, 15]
    decisions, t, over = [], 0, False
    while not over:
        action = {
            "depth_index": int(rng.integers(len(depths))),
            "actions": rng.integers(0, env.action_space.n, max(depths)),
        }
        row = action if space == "dict" else np.array([action["depth_index"], *action["actions"]])
        observation, reward, terminated, truncated, info = commits.step(row)
        rewards, ended = [], False
        for primitive in action["actions"][: depths[action["depth_index"]]]:
            if not ended:
                expected, gain, done, late, _ = twin.step(int(primitive))
                rewards.append(float(gain))
                ended = done or late
        t += len(rewards)
        decisions.append(info["executed"])
        k = len(decisions)
        assert np.array_equal(observation, expected)
        assert (reward, info["rewards"], info["executed"]) == (sum(rewards), rewards, len(rewards))
        assert (info["t"], info["k"], info["decisions_left"]) == (t, k, 15 - k)
        assert terminated == done
        assert truncated == (late or (k == 15 and not done))
        over = terminated or truncated
    refused([(lambda: commits.step(row), "expected a running episode, got decision")], ResetNeeded)
    return [t, len(decisions), terminated]


@pytest.mark.parametrize("name", OURS + OTHERS)
@pytest.mark.parametrize("depths", [(1, 2, 4, 8), (1,), (3, 5)])
def test_a_decision_is_its_actions(name: str, depths: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    options = {"recommit/Sliding-v0": {"size": 2}, "recommit/Sokoban-v0": {"size": 5, "boxes": 1}}.get(name, {})
    ends = [
        episode(gymnasium.make(name, **options), seed, depths, rng, space)
        for seed in range(15)
        for space in ("dict", "flat")
    ]
    assert all(t <= 15 * max(depths) for t, _, _ in ends)
    if name in OURS or name == LAKE:
        assert any(terminated for *_, terminated in ends)
    if depths == (1,):
        assert any(k == 15 for _, k, _ in ends)


@pytest.mark.parametrize("name", [*OURS, LAKE])
@pytest.mark.parametrize("space", ["dict", "flat"])
def test_gymnasium_has_no_complaints(name: str, space: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes.*")
        check_env(Commit(gymnasium.make(name), space=space), skip_render_check=True)


def test_spaces_and_clones() -> None:
    env = Commit(gymnasium.make("recommit/Sliding-v0"), depths=(1, 4), budget=3)
    assert env.action_space == spaces.Dict(depth_index=spaces.Discrete(2), actions=spaces.MultiDiscrete([4] * 4))
    env.reset(seed=0)
    for _ in range(2):
        assert not env.step(env.action_space.sample())[3]
    assert env.step(env.action_space.sample())[3]
    clone = gymnasium.make(env.spec)
    assert (clone.depths, clone.budget) == ((1, 4), 3)
    assert Commit(gymnasium.make(LAKE), space="flat").action_space == spaces.MultiDiscrete([4] * 9)
    board = Commit(gymnasium.make(OURS[0], size=2), space="flat")
    board.reset(seed=0)
    assert board.action_masks().tolist() == [True] * 4 + board.unwrapped.action_masks().tolist() + [True] * 28


def test_actions_that_do_not_start_at_zero() -> None:
    class Shifted(gymnasium.ActionWrapper[Any, Any, Any]):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.action_space = spaces.Discrete(4, start=1)

        def action(self, action: int) -> int:
            return action - 1

    env = Commit(Shifted(gymnasium.make("recommit/Sliding-v0")))
    env.reset(seed=0)
    assert env.commit(2, [1, 4])[4]["executed"] == 2
    refused([(lambda: env.commit(2, [1, 0]), "actions: expected values 1..4, got 0 at position 1")])


@pytest.mark.parametrize("name", IDS)
def test_a_vector_of_decisions_is_many_single_ones(name: str) -> None:
    slots, budget = 7, 6
    envs = gymnasium.make_vec(name, num_envs=slots, autoreset_mode="SAME_STEP", **SMALL[name])
    vector = VectorCommit(envs, budget=budget)
    singles = [Commit(gymnasium.make(name, **SMALL[name]), budget=budget, space="flat") for _ in range(slots)]
    observations, _ = vector.reset(seed=11)
    for i, single in enumerate(singles):
        assert np.array_equal(single.reset(seed=11 + i)[0], observations[i])
    vector.action_space.seed(0)
    ends = 0
    for _ in range(40):
        rows = vector.action_space.sample()
        observations, rewards, terminated, truncated, info = vector.step(rows)
        for i, single in enumerate(singles):
            seen, reward, solved, late, said = single.step(rows[i])
            assert (reward, solved, late) == (rewards[i], terminated[i], truncated[i])
            assert said["executed"] == info["executed"][i]
            if solved or late:
                ends += 1
                assert np.array_equal(info["final_obs"][i], seen)
                seen, _ = single.reset()
            else:
                assert (said["t"], said["k"]) == (info["t"][i], info["k"][i])
            assert np.array_equal(seen, observations[i])
    assert ends > slots


def test_slots_that_are_over_must_be_reset() -> None:
    levels = recommit.Sokoban(6, 1).generate(2, seed=0).states  # of another size than the default
    options = {"num_envs": 2, "autoreset_mode": "DISABLED", "levels": levels}
    vector = VectorCommit(gymnasium.make_vec("recommit/Sokoban-v0", **options), budget=1)
    vector.reset(seed=0)
    rows = np.zeros((2, 9), int)
    assert vector.step(rows)[3].all()
    refused([(lambda: vector.step(rows), "slot 0")], ResetNeeded)
    vector.reset(options={"reset_mask": np.array([True, True])})
    vector.step(rows)
