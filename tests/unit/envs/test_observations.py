"""Pictures: what rgb observations and render() show is the state, in every mode, fresh or in place."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from tests.unit.envs import battery

LOOKS = [{"cell": 8, "theme": "dark"}, {"cell": 12, "crop": True}]


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("copy", [True, False], ids=["copy", "live"])
def test_a_picture_shows_the_state(name: str, look: dict[str, Any], mode: AutoresetMode, copy: bool) -> None:
    options = {**battery.SMALL[name], "autoreset_mode": mode, "render_mode": "rgb_array"}
    if look.get("crop") and "Sliding" in name:
        with pytest.raises(ValueError, match="crop: expected levels with walls all around"):
            gymnasium.make_vec(name, num_envs=7, observation="rgb", **options, **look)
        return
    grids = gymnasium.make_vec(name, num_envs=7, **options, **look)
    pictures = gymnasium.make_vec(name, num_envs=7, observation="rgb", copy=copy, **options, **look)
    task = grids.task
    states, _ = grids.reset(seed=3)
    images, _ = pictures.reset(seed=3)
    rng, kept, finals = np.random.default_rng(0), [], 0
    for _ in range(40):
        assert images.shape == pictures.observation_space.shape
        assert np.array_equal(task.decode(np.ascontiguousarray(images), **look), states)
        for env in (grids, pictures):
            assert np.array_equal(np.stack(env.render()), images)
        kept.append((images, images.copy()))
        actions = rng.integers(0, 4, 7)
        states, *_, said = grids.step(actions)
        images, *_, info = pictures.step(actions)
        for i in np.flatnonzero(info.get("_final_obs", np.zeros(7))):
            assert np.array_equal(task.decode(info["final_obs"][i][None], **look)[0], said["final_obs"][i])
            finals += 1
    assert (finals > 0) == (mode is AutoresetMode.SAME_STEP)
    if copy:
        assert all(np.array_equal(one, other) for one, other in kept)
    else:
        assert all(np.shares_memory(one, images) for one, _ in kept)
        assert not images.flags.writeable


@pytest.mark.parametrize("name", battery.IDS)
def test_one_environment_draws_the_same(name: str) -> None:
    env = gymnasium.make(name, observation="rgb", cell=16, render_mode="rgb_array", **battery.SMALL[name])
    image, _ = env.reset(seed=1)
    vector = gymnasium.make_vec(name, num_envs=1, observation="rgb", cell=16, **battery.SMALL[name])
    assert np.array_equal(vector.reset(seed=1)[0][0], image)
    assert np.array_equal(env.render(), image)
    assert image in env.observation_space
    assert vector.render() is None
