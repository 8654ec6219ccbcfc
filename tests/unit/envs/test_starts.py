"""Where episodes start: lengths, instances, states and levels that ``reset`` is told, curricula."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from tests.unit.envs import battery


def puzzle(name: str) -> Any:
    return gymnasium.make(name, **battery.SMALL[name]).unwrapped.task


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("length", [3, (2, 5)])
def test_starts_have_the_exact_length(name: str, length: Any) -> None:
    low, high = length if isinstance(length, tuple) else (length, length)
    options = {"length": length, "bank_size": 32}
    one, many = gymnasium.make(name, **options), gymnasium.make_vec(name, num_envs=50, **options)
    states = np.concatenate([many.reset(seed=1)[0], np.stack([one.reset(seed=seed)[0] for seed in range(20)])])
    distances = one.unwrapped.task.distance(states)
    assert low <= distances.min() <= distances.max() <= high
    assert len(set(distances.tolist())) == high - low + 1


@pytest.mark.parametrize("name", battery.IDS)
def test_reset_takes_a_state_or_a_level(name: str) -> None:
    env, task = gymnasium.make(name, **battery.SMALL[name]), puzzle(name)
    wanted = task.generate(1, seed=77).states[0]
    state, info = env.reset(seed=3, options={"state": wanted})
    assert np.array_equal(state, wanted)
    assert info["action_mask"].tolist() == task.action_masks(wanted[None])[0].tolist()
    plan = task.solve(wanted[None])[0]
    ends = [env.step(action)[2] for action in plan]
    assert ends == [False] * (len(plan) - 1) + [True]
    assert not np.array_equal(env.reset(seed=3)[0], wanted), "an episode's own start comes back"
    bank = task.generate(8, seed=0).states
    for level in (0, 7):
        assert np.array_equal(env.reset(options={"level": level})[0], bank[level])
    levels = gymnasium.make(name, levels=bank)
    assert np.array_equal(levels.reset(options={"level": 5})[0], bank[5])


@pytest.mark.parametrize("name", battery.IDS)
def test_slots_take_them_too(name: str) -> None:
    envs = gymnasium.make_vec(name, num_envs=4, **battery.SMALL[name])
    states = puzzle(name).generate(4, seed=9).states
    assert np.array_equal(envs.reset(seed=0, options={"state": states})[0], states)
    assert np.array_equal(envs.reset(options={"state": states[2]})[0], states[[2] * 4])
    before, _ = envs.reset(seed=0)
    mask = np.array([False, True, False, True])
    after, _ = envs.reset(options={"reset_mask": mask, "state": states})
    assert np.array_equal(after[mask], states[mask])
    assert np.array_equal(after[~mask], before[~mask])
    numbers = np.array([1, 0, 3, 2])
    bank = puzzle(name).generate(4, seed=0).states
    assert np.array_equal(envs.reset(options={"level": numbers})[0], bank[numbers])


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_later_episodes_take_another_length(mode: str) -> None:
    envs = gymnasium.make_vec("recommit/Sliding-v0", num_envs=16, length=1, bank_size=16, autoreset_mode=mode)
    states, _ = envs.reset(seed=0)
    envs.set_length((4, 5))  # type: ignore[attr-defined]
    assert (envs.task.distance(states) == 1).all()  # type: ignore[attr-defined]
    best = envs.task.optimal_actions(states)  # type: ignore[attr-defined]
    states, *_ = envs.step(np.argmax(best, axis=1))
    if mode == "NEXT_STEP":
        states, *_ = envs.step(np.zeros(16, np.int64))
    assert set(envs.task.distance(states).tolist()) == {4, 5}  # type: ignore[attr-defined]
