"""Shaped rewards and distances: a twin in plain Python, and slots equal to single environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from tests.reference import rewards as twin
from tests.unit.envs import battery

import recommit
from recommit.envs import VectorCommit

KINDS = ("sparse", "progress", "distance")


def play(name: str, kind: str, discount: float, *, defect: bool = False, episodes: int = 30) -> int:
    """Random episodes against the twin; returns how many actions lost a level."""
    options = {**battery.SMALL[name], "reward": kind, "discount": discount, "info_distance": True}
    env = gymnasium.make(name, **options)
    task, rng, losses = env.unwrapped.task, np.random.default_rng(4), 0
    farthest = options["max_steps"]

    def exact(state: Any) -> int:
        return twin.distance(task.task, state.shape, state.tobytes())

    for seed in range(episodes):
        state, info = env.reset(seed=seed)
        start = before = exact(state)
        over = False
        while not over:
            assert info["distance"] == before
            state, reward, terminated, truncated, info = env.step(int(rng.integers(4)))
            after = exact(state)
            expected = twin.reward(kind, discount, before, after, start, farthest, defect=defect)
            assert reward == expected, (seed, before, after)
            losses += before > 0 > after
            before, over = after, terminated or truncated
    return losses


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("discount", [1.0, 0.97])
def test_rewards_are_those_of_the_formula(name: str, kind: str, discount: float) -> None:
    assert play(name, kind, discount) > 0 or "Sokoban" not in name


def test_a_forgotten_discount_is_noticed() -> None:
    with pytest.raises(AssertionError):
        play("recommit/Sliding-v0", "distance", 0.97, defect=True)


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("mode", battery.MODES)
@pytest.mark.parametrize("kind", ["progress", "distance"])
def test_each_slot_earns_what_a_single_environment_does(name: str, mode: AutoresetMode, kind: str) -> None:
    options = {**battery.SMALL[name], "reward": kind, "discount": 0.99}
    vector = gymnasium.make_vec(name, num_envs=40, autoreset_mode=mode, threads=2, **options)
    singles = [gymnasium.make(name, **options).unwrapped for _ in range(40)]
    counts = battery.check_vector_equals_singles(vector, singles, steps=150, seed=3)
    assert min(counts.values()) > 20


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("mode", battery.MODES)
def test_distances_stand_in_infos_as_sync_vector_env_puts_them(name: str, mode: AutoresetMode) -> None:
    options = {**battery.SMALL[name], "info_distance": True}
    ours = gymnasium.make_vec(name, num_envs=5, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: gymnasium.make(name, **options)] * 5, autoreset_mode=mode)
    assert data_equivalence(ours.reset(seed=7), theirs.reset(seed=7), exact=True)
    rng = np.random.default_rng(0)
    for _ in range(80):
        actions = rng.integers(0, 4, 5)
        one, other = ours.step(actions), theirs.step(actions)
        assert data_equivalence((one[0], *one[2:]), (other[0], *other[2:]), exact=True), (one, other)
        over = other[2] | other[3]
        if mode is AutoresetMode.DISABLED and over.any():
            again = [env.reset(options={"reset_mask": over.copy()}) for env in (ours, theirs)]
            assert data_equivalence(*again, exact=True)


def test_a_solved_episode_makes_one_whole_way() -> None:
    """Without a discount, progress adds up to 1 beside the 1 for solving, and distance to the start's."""
    task = recommit.Sokoban(6, 1)
    for kind in ("progress", "distance"):
        env = gymnasium.make("recommit/Sokoban-v0", size=6, boxes=1, reward=kind, length=5)
        for seed in range(10):
            state, _ = env.reset(seed=seed)
            total = sum(env.step(action)[1] for action in task.solve(state[None])[0])
            assert total == pytest.approx(2.0 if kind == "progress" else 6.0)


@pytest.mark.parametrize("name", battery.IDS)
def test_gymnasium_has_no_complaints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    check_env(gymnasium.make(name, reward="progress", info_distance=True, length=(2, 6)).unwrapped)


def test_wrong_rewards_are_refused() -> None:
    for options, message in (
        ({"reward": "dense"}, "reward: expected sparse, progress or distance, got dense"),
        ({"discount": 0}, "discount: expected more than 0 and at most 1, got 0"),
        ({"discount": 1.5}, "discount: expected more than 0 and at most 1, got 1.5"),
    ):
        with pytest.raises(ValueError, match=message):
            gymnasium.make("recommit/Ice-v0", **options)
    shaped = gymnasium.make_vec("recommit/Ice-v0", num_envs=2, reward="progress", autoreset_mode="SAME_STEP")
    with pytest.raises(ValueError, match="envs: expected reward 'sparse', got a shaped one"):
        VectorCommit(shaped)
