"""One environment: Gymnasium's own checker, seeds, arguments, and what happens after the end."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env
from tests.unit.envs import battery

import recommit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("options", [{}, {"size": 5}, {"observation": "rgb", "cell": 8}], ids=["default", "5x5", "rgb"])
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
            action = int(rng.integers(4))
            expected = task.step(state[None], np.array([action]))[0]
            state, reward, terminated, truncated, info = env.step(action)
            assert np.array_equal(state, expected)
            assert terminated == info["solved"] == bool(task.is_solved(state[None])[0]) == (reward == 1)
            assert truncated == (number == 23 and not terminated)
            if terminated or truncated:
                break


def test_after_the_end_a_reset_is_needed() -> None:
    env = gymnasium.make("recommit/Sliding-v0", size=2, max_steps=1).unwrapped
    with pytest.raises(ResetNeeded, match="expected a call of reset first"):
        env.step(0)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(ResetNeeded, match="episode"):
        env.step(0)
    env.reset()
    env.step(0)


def test_use_after_close() -> None:
    env = gymnasium.make("recommit/Sokoban-v0", size=6, boxes=1).unwrapped
    env.reset(seed=0)
    env.close()
    env.close()
    for use in (lambda: env.step(0), env.reset, env.render):
        with pytest.raises(ClosedEnvironmentError, match="expected an open environment"):
            use()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 1}, r"rows: expected 2\.\.5, got 1"),
        ({"size": (3, 3, 3)}, r"size: expected one number or two, got \(3, 3, 3\)"),
        ({"boxes": 2}, "boxes: expected None for sliding, got 2"),
        ({"max_steps": 0}, r"max_steps: expected 1\.\.2147483647, got 0"),
        ({"bank_size": 0}, r"bank_size: expected 1\.\.16777216, got 0"),
        ({"bank_seed": -1}, r"bank_seed: expected 0\.\.\d+, got -1"),
        ({"observation": "pixels"}, "observation: expected grid or rgb, got pixels"),
        ({"cell": 3}, r"cell: expected 4\.\.112, got 3"),
        ({"levels": np.zeros((2, 3, 3), np.uint8)}, r"levels: expected every tile 0\.\.8 exactly once"),
        ({"levels": np.zeros((0, 3, 3), np.uint8)}, "levels: expected at least one level, got none"),
        ({"levels": np.zeros((3, 3), np.uint8)}, r"levels: expected states of shape \[N, rows, columns\], got shape"),
        ({"levels": np.array([[[1, 2], [3, 0]]], np.uint8)}, "levels: .* solved .* in level 0"),
        ({"levels": np.array([[[2, 1], [3, 0]]], np.uint8)}, "levels: expected solvable boards, .* in level 0"),
        ({"levels": np.array([[[1, 2], [0, 3]]], np.uint8), "size": 3}, "levels: expected states of 3x3, got 2x2"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recommit_envs().SlidingEnv(**options)


def test_wrong_sokoban_levels() -> None:
    sokoban = recommit_envs().SokobanEnv
    level = recommit.Sokoban(6, 1).generate(1, seed=0).states
    for change, message in (
        (np.where(level == 3, 0, level), "levels: expected a box off its goal"),
        (np.where(level == 2, 0, level), "levels: expected a goal for every box, got 1 boxes too many in level 0"),
        (np.where(level >= 5, 0, level), "levels: expected exactly one player, got 0 in state 0"),
        (level + np.uint8(3), r"levels: expected cell codes 0\.\.6"),
    ):
        with pytest.raises(ValueError, match=message):
            sokoban(levels=change.astype(np.uint8))
    with pytest.raises(ValueError, match="boxes: expected None where levels are given, got 3"):
        sokoban(levels=level, boxes=3)


def test_a_bank_from_a_file_or_an_error_never_another_bank(tmp_path: Path) -> None:
    sokoban = recommit_envs().SokobanEnv
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


def recommit_envs() -> Any:
    from recommit import envs

    return envs


@pytest.mark.parametrize("action", [1.7, np.float32(1.7), None, "1"])
def test_an_action_that_is_no_integer_is_refused(action):
    env = gymnasium.make("recommit/Sliding-v0", disable_env_checker=True).unwrapped
    env.reset(seed=0)
    with pytest.raises(TypeError, match=f"action: expected an integer 0..3, got {type(action).__name__}"):
        env.step(action)
