"""One environment: Gymnasium's own checker, seeds, arguments, and what happens after the end."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
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
