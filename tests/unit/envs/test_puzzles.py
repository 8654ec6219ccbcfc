"""Puzzles as environments: Gymnasium's own checker, seeds, where episodes start, and pictures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from tests.unit.envs import battery

import recommit
from recommit import envs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize(
    "options",
    [{}, {"size": 5}, {"observation": "rgb", "cell": 8}, {"observation": "onehot"}],
    ids=["default", "5x5", "rgb", "onehot"],
)
def test_gymnasium_has_no_complaints(name: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, **options).unwrapped)


@pytest.mark.parametrize("name", battery.IDS)
def test_seeds(name: str) -> None:
    battery.check_seeding(lambda: gymnasium.make(name, max_steps=40))


@pytest.mark.parametrize("name", battery.IDS[:1])
@pytest.mark.parametrize("defect", [battery.IgnoresSeed, battery.ForgetsSeed])
def test_an_ignored_seed_is_noticed(name: str, defect: Any) -> None:
    with pytest.raises(AssertionError, match="bytes"):
        battery.check_seeding(lambda: defect(gymnasium.make(name)))


@pytest.mark.parametrize("name", battery.IDS)
def test_the_states_are_those_of_the_task(name: str) -> None:
    env = gymnasium.make(name, **battery.SMALL[name])
    task = env.unwrapped.task
    rng = np.random.default_rng(0)
    for seed in range(30):
        state, info = env.reset(seed=seed)
        for number in range(1, 24):
            assert info["action_mask"].tolist() == task.action_masks(state[None])[0].tolist()
            assert info["action_mask"].tolist() == env.unwrapped.action_masks().tolist()
            action = int(rng.integers(4))
            expected = task.step(state[None], np.array([action]))[0]
            state, reward, terminated, truncated, info = env.step(action)
            assert np.array_equal(state, expected)
            assert terminated == info["solved"] == bool(task.is_solved(state[None])[0]) == (reward == 1)
            assert truncated == (number == 23 and not terminated)
            if terminated or truncated:
                break


def test_a_bank_from_a_file_or_an_error_never_another_bank(tmp_path: Path) -> None:
    sokoban = envs.SokobanEnv  # type: ignore[attr-defined]
    states = recommit.Sokoban(7, 2).generate(20, seed=4).states
    recommit.write_levels(tmp_path / "levels.txt", states)
    env = sokoban(levels=tmp_path / "levels.txt")
    known = {state.tobytes() for state in states}
    firsts = {env.reset(seed=seed)[0].tobytes() for seed in range(200)}
    assert firsts == known
    with pytest.raises(FileNotFoundError):
        sokoban(levels=tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "broken.txt").write_text("#####\n#@$ #\n#####\n")
    for name in ("empty.txt", "broken.txt"):
        with pytest.raises(ValueError, match="expected"):
            sokoban(levels=tmp_path / name)


def test_text_is_that_of_a_level_file() -> None:
    text = "#####\n#@$.#\n#####\n"
    env = gymnasium.make("recommit/Sokoban-v0", levels=recommit.parse_levels(text), render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == text
    env.step(3)
    assert env.render() == "#####\n# @*#\n#####\n"
    assert env.get_wrapper_attr("action_names") == ("up", "down", "left", "right")
    envs = gymnasium.make_vec("recommit/Sliding-v0", num_envs=2, size=(2, 3), render_mode="ansi")
    states, _ = envs.reset(seed=0)
    assert states.shape == (2, 2, 3)
    assert np.array_equal(np.stack([recommit.parse_levels(text).states[0] for text in envs.render()]), states)


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


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize(
    ("kind", "mode", "copy"),
    [
        *(("rgb", mode, copy) for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP) for copy in (True, False)),
        ("onehot", AutoresetMode.SAME_STEP, True),
    ],
)
def test_what_is_shown_is_the_state(name: str, kind: str, mode: AutoresetMode, copy: bool) -> None:
    """At every step of a vector, where episodes end, and of one environment."""
    look = {"cell": 8}
    options = {**battery.SMALL[name], "autoreset_mode": mode, "render_mode": "rgb_array", "max_steps": 20}
    grids = gymnasium.make_vec(name, num_envs=7, **options, **look)
    shown = gymnasium.make_vec(name, num_envs=7, observation=kind, copy=copy, **options, **look)
    one = gymnasium.make(name, observation=kind, render_mode="rgb_array", **battery.SMALL[name], **look)

    def read(pictures: Any) -> Any:
        if kind == "rgb":
            return grids.task.decode(np.ascontiguousarray(pictures), **look)
        assert (pictures.sum(axis=1) == 1).all()
        return pictures.argmax(axis=1)

    states, _ = grids.reset(seed=3)
    images, info = shown.reset(seed=3)
    assert np.array_equal(one.reset(seed=3)[0], images[0])
    assert np.array_equal(one.render(), shown.render()[0])
    rng, kept, finals = np.random.default_rng(0), [], 0
    for _ in range(40):
        assert images.shape == shown.observation_space.shape
        assert images.dtype == np.uint8
        assert images[0] in one.observation_space
        assert np.array_equal(read(images), states)
        assert np.array_equal(shown.action_masks(), info["action_mask"])
        drawn = images if kind == "rgb" else grids.task.render(states, **look)
        for env in (grids, shown):
            assert np.array_equal(np.stack(env.render()), drawn)
        kept.append((images, images.copy()))
        actions = rng.integers(0, 4, 7)
        states, *_, said = grids.step(actions)
        images, *_, info = shown.step(actions)
        for i in np.flatnonzero(info.get("_final_obs", np.zeros(7))):
            assert np.array_equal(read(info["final_obs"][i][None])[0], said["final_obs"][i])
            finals += 1
    assert (finals > 0) == (mode is AutoresetMode.SAME_STEP)
    if copy:
        assert all(np.array_equal(one, other) for one, other in kept)
    else:
        assert all(np.shares_memory(one, images) for one, _ in kept)
        assert not images.flags.writeable
    assert gymnasium.make_vec(name, num_envs=1).render() is None
