"""Where episodes start: lengths, instances, states and levels that ``reset`` is told, curricula."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from tests.unit.envs import battery

import recommit


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


def test_wrong_levels_say_so_in_a_line() -> None:
    caves, boards = recommit.Ice(8).generate(200), recommit.Sliding(3).generate(200)
    for levels, message in (
        (caves, "levels: expected sliding levels, got ice levels"),
        (boards.states.tolist(), "levels: expected a path, Levels, Instances or a numpy array, got list"),
        (boards.states.astype(np.int64), "levels: expected dtype uint8, got int64"),
    ):
        with pytest.raises(ValueError, match=message) as raised:
            gymnasium.make("recommit/Sliding-v0", levels=levels)
        assert str(raised.value) == message
    with pytest.raises(ValueError, match="length: expected None where levels are given, got 3"):
        gymnasium.make("recommit/Sliding-v0", levels=boards, length=3)
    with pytest.raises(ValueError, match=r"length: expected \(shortest, longest\) in this order, got \(5, 3\)"):
        gymnasium.make("recommit/Sliding-v0", length=(5, 3))


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


def test_wrong_options_are_refused_by_name() -> None:
    board = np.array([[1, 2, 3], [4, 5, 6], [7, 0, 8]], np.uint8)
    solved = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 0]], np.uint8)
    open_level = np.zeros((5, 5), np.uint8)
    open_level[1, :3] = 5, 3, 2
    sliding = gymnasium.make("recommit/Sliding-v0").unwrapped
    sokoban = gymnasium.make("recommit/Sokoban-v0", size=5, boxes=1).unwrapped
    for env, options, error, message in (
        (sliding, {"start": board}, ValueError, "options: expected state or level, got start"),
        (sliding, {"state": board, "level": 0}, ValueError, "options: expected either state or level, got both"),
        (sliding, {"state": solved}, ValueError, "state: expected boards to be solved, got a solved one"),
        (sliding, {"state": board[:2]}, ValueError, "state: expected states of 3x3 cells, got 2x3|state: .* tile"),
        (sliding, {"state": board.astype(int)}, TypeError, "state: expected dtype uint8, got int64"),
        (sliding, {"state": board[0]}, ValueError, r"state: expected one state, or one for each of 1 slots, got"),
        (sliding, {"level": 1024}, ValueError, r"level: expected 0\.\.1023, got 1024"),
        (sliding, {"level": 1.5}, TypeError, "level: expected an integer, got float"),
        (sokoban, {"state": open_level}, ValueError, "state: expected walls all around"),
    ):
        with pytest.raises(error, match=message):
            env.reset(seed=0, options=options)
    envs = gymnasium.make_vec("recommit/Sliding-v0", num_envs=3)
    with pytest.raises(ValueError, match="options: expected reset_mask, state or level, got mask"):
        envs.reset(seed=0, options={"mask": np.ones(3, bool)})
    with pytest.raises(ValueError, match=r"level: expected one number, or 3, got shape \(2,\)"):
        envs.reset(seed=0, options={"level": [0, 1]})


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
