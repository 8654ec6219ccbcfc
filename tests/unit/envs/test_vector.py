"""Many environments: slot by slot the single one, in every autoreset mode, on any number of threads (D6, D7)."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from tests.unit.envs import battery

from recommit.envs import PuzzleVectorEnv

SLOTS = 120


def singles(name: str, count: int) -> list[Any]:
    return [gymnasium.make(name, **battery.SMALL[name]).unwrapped for _ in range(count)]


def vector(name: str, count: int, **options: Any) -> Any:
    return gymnasium.make_vec(name, num_envs=count, **battery.SMALL[name], **options)


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize(
    ("mode", "copy"), [*zip(battery.MODES, (True, False, True), strict=True), (battery.MODES[0], False)]
)
def test_each_slot_is_a_single_environment(name: str, mode: AutoresetMode, copy: bool) -> None:
    """All together: 12 * 120 * 480 steps."""
    env = vector(name, SLOTS, autoreset_mode=mode, copy=copy, threads=2)
    counts = battery.check_vector_equals_singles(env, singles(name, SLOTS), steps=480, seed=11)
    assert counts["steps"] == SLOTS * 480
    assert counts["solved"] > 300
    assert counts["late"] > 300


@pytest.mark.parametrize("name", battery.IDS[:1])
def test_a_wrong_end_is_noticed(name: str) -> None:
    wrong = [battery.SolvesLate(env) for env in singles(name, SLOTS)]
    with pytest.raises(AssertionError, match="truncated differ"):
        battery.check_vector_equals_singles(vector(name, SLOTS), wrong, steps=400, seed=11)


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("mode", battery.MODES)
def test_infos_are_those_of_sync_vector_env(name: str, mode: AutoresetMode) -> None:
    """Everything a step returns, key by key, final_obs and final_info included."""
    ours = vector(name, 6, autoreset_mode=mode, info_distance=True)
    options = {**battery.SMALL[name], "info_distance": True}
    theirs = SyncVectorEnv([lambda: gymnasium.make(name, **options)] * 6, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata == theirs.metadata
    assert data_equivalence(ours.reset(seed=7), theirs.reset(seed=7), exact=True)
    rng = np.random.default_rng(0)
    for _ in range(100):
        actions = rng.integers(0, 4, 6)
        found, expected = ours.step(actions), theirs.step(actions)
        assert np.array_equal(found[1], expected[1])
        assert data_equivalence((found[0], *found[2:]), (expected[0], *expected[2:]), exact=True), (found, expected)
        over = expected[2] | expected[3]
        if mode is AutoresetMode.DISABLED and over.any():
            again = [env.reset(options={"reset_mask": over.copy()}) for env in (ours, theirs)]
            assert data_equivalence(*again, exact=True), again


@pytest.mark.parametrize("name", battery.IDS)
def test_slots_and_seed_forms(name: str) -> None:
    env = gymnasium.make_vec(name, num_envs=50)
    battery.check_slots(env)
    first, _ = env.reset(seed=5)
    listed, _ = env.reset(seed=[5 + i for i in range(50)])
    assert np.array_equal(first, listed)
    mixed, _ = env.reset(seed=[None, 6] + [None] * 48)
    following, _ = gymnasium.make_vec(name, num_envs=50).reset(seed=5)
    assert np.array_equal(mixed[1], following[1])
    assert not np.array_equal(mixed, following)
    one, other = (gymnasium.make_vec(name, num_envs=50).reset()[0] for _ in range(2))
    assert not np.array_equal(one, other), "unseeded environments must not repeat each other"
    few, _ = gymnasium.make_vec(name, num_envs=3).reset(seed=5)
    assert np.array_equal(first[:3], few), "a slot does not depend on how many there are"


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_results_do_not_depend_on_threads(name: str, mode: AutoresetMode) -> None:
    def run(threads: int) -> list[bytes]:
        env = vector(name, 5000, autoreset_mode=mode, threads=threads)
        said = [env.reset(seed=1)[0].tobytes()]
        for _ in range(30):
            observations, rewards, terminated, truncated, info = env.step(rng.integers(0, 4, 5000))
            said += [part.tobytes() for part in (observations, rewards, terminated, truncated, info["action_mask"])]
            if "final_obs" in info:
                said += [part.tobytes() for part in info["final_obs"] if part is not None]
        return said

    runs = []
    for threads in (1, 3, 32):
        rng = np.random.default_rng(0)
        runs.append(run(threads))
    assert all(each == runs[0] for each in runs)


def test_fresh_or_live_observations() -> None:
    fresh = vector("recommit/Sliding-v0", 4)
    one, _ = fresh.reset(seed=0)
    two, *_ = fresh.step(np.array([0, 1, 2, 3]))
    assert not np.shares_memory(one, two)
    two[:] = 9  # ours to change
    live = vector("recommit/Sliding-v0", 4, copy=False)
    one, _ = live.reset(seed=0)
    two, *_ = live.step(np.array([0, 1, 2, 3]))
    assert one is two
    assert not two.flags.writeable
    live.close()
    del live
    assert sorted(two[0].ravel().tolist()) == [0, 1, 2, 3]


def test_gymnasium_wrappers_and_modes_work() -> None:
    env = vector("recommit/Sliding-v0", 8)
    assert isinstance(env, PuzzleVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    wrapped = RecordEpisodeStatistics(env)
    wrapped.reset(seed=0)
    lengths = []
    for _ in range(50):
        *_, info = wrapped.step(wrapped.action_space.sample())
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths
    assert max(lengths) <= 23
    for mode in ("sync", "async"):
        many = gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, vectorization_mode=mode)
        assert np.array_equal(
            many.reset(seed=3)[0], gymnasium.make_vec("recommit/Sliding-v0", num_envs=2).reset(seed=3)[0]
        )
        many.close()
