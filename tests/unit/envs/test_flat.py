"""Decisions as rows of integers, one action repeated, and decisions for a vector of puzzles."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from tests.unit.envs.battery import IDS, SMALL

from recommit.envs import Commit, Repeat, VectorCommit

LAKE = "FrozenLake-v1"


def test_flat_is_the_same_decision():
    one, other = (Commit(gymnasium.make(LAKE), space=space) for space in ("dict", "flat"))
    assert other.action_space == spaces.MultiDiscrete([4] * 9)
    for seed in range(20):
        one.reset(seed=seed), other.reset(seed=seed)
        other.action_space.seed(seed)
        over = False
        while not over:
            row = other.action_space.sample()
            decision = {"depth_index": int(row[0]), "actions": row[1:]}
            expected, result = one.step(decision), other.step(row)
            assert expected == result
            over = result[2] or result[3]
            assert result[4]["duration"] == result[4]["executed"] <= one.depths[row[0]]


def test_repeat_is_a_plan_of_one_action():
    one, other = Commit(gymnasium.make(LAKE)), Repeat(gymnasium.make(LAKE))
    assert other.action_space == spaces.MultiDiscrete([4, 4])
    one.reset(seed=3), other.reset(seed=3)
    assert one.commit(4, [1] * 4) == other.step(np.array([1, 2]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrapper", [Repeat, lambda env: Commit(env, space="flat")])
def test_gymnasium_has_no_complaints(wrapper):
    check_env(wrapper(gymnasium.make(LAKE)), skip_render_check=True)


@pytest.mark.parametrize("name", IDS)
def test_a_vector_of_decisions_is_many_single_ones(name):
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
            assert said["duration"] == info["duration"][i]
            if solved or late:
                ends += 1
                assert np.array_equal(info["final_obs"][i], seen)
                seen, _ = single.reset()
            else:
                assert (said["t"], said["k"]) == (info["t"][i], info["k"][i])
            assert np.array_equal(seen, observations[i])
    assert ends > slots


def test_slots_that_are_over_must_be_reset():
    envs = gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, autoreset_mode="DISABLED")
    vector = VectorCommit(envs, budget=1)
    vector.reset(seed=0)
    rows = np.zeros((2, 9), int)
    assert vector.step(rows)[3].all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="slot 0"):
        vector.step(rows)
    vector.reset(options={"reset_mask": np.array([True, True])})
    vector.step(rows)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.zeros((2, 8), int), ValueError, r"actions: expected \(2, 8\) beside the depths, got \(2, 7\)"),
        (np.full((2, 9), 4), ValueError, r"depth_index: expected 0..3, got 4..4"),
        (np.zeros((2, 9)), TypeError, "depth_index: expected integers, got float64"),
    ],
)
def test_wrong_decisions_change_nothing(rows, error, message):
    vector = VectorCommit(gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, autoreset_mode="SAME_STEP"))
    vector.reset(seed=0)
    with pytest.raises(error, match=message):
        vector.step(rows)
    assert vector._k.tolist() == [0, 0]


def test_what_cannot_be_wrapped():
    with pytest.raises(TypeError, match="envs: expected a vector of our puzzles"):
        VectorCommit(gymnasium.make_vec(LAKE, num_envs=2))
    with pytest.raises(ValueError, match="got NEXT_STEP"):
        VectorCommit(gymnasium.make_vec("recommit/Sliding-v0", num_envs=2))
