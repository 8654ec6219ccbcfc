"""Copies for tree search: the same bytes from there on, and neither disturbs the other."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from tests.refusals import refused
from tests.unit.envs import battery

from recommit.envs import VectorCommit

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}
DISTANCE = {"info_distance": True}


def told(env: Any, seed: int, steps: int) -> list[Any]:
    """What an environment answers from where it is; episodes follow each other."""
    rng, answers = np.random.default_rng(seed), []
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(int(rng.integers(4)))
        answers.append((observation.tobytes(), reward, terminated, truncated, info["distance"]))
        if terminated or truncated:
            observation, info = env.reset()
            answers.append((observation.tobytes(), info["action_mask"].tolist()))
    return answers


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("observation", ["grid", "rgb"])
def test_a_copy_goes_on_as_the_environment_would(name: str, way: str, observation: str) -> None:
    env = gymnasium.make(name, observation=observation, cell=8, **battery.SMALL[name], **DISTANCE).unwrapped
    env.reset(seed=5)
    told(env, 0, 31)
    other = WAYS[way](env)
    expected = told(other, 1, 100)
    assert told(env, 1, 100) == expected


@pytest.mark.parametrize("way", [copy.deepcopy, WAYS["pickle"]])
def test_a_made_environment_copies_with_its_wrappers(way: Any) -> None:
    env = gymnasium.make("recommit/Sokoban-v0", **battery.SMALL["recommit/Sokoban-v0"], **DISTANCE)
    env.reset(seed=5)
    told(env, 0, 10)
    other = way(env)
    assert told(other, 1, 50) == told(env, 1, 50)


def test_copies_before_the_first_reset_and_after_the_end() -> None:
    env = gymnasium.make("recommit/Sliding-v0", size=2, max_steps=1).unwrapped
    fresh = copy.deepcopy(env)
    assert np.array_equal(fresh.reset(seed=1)[0], env.reset(seed=1)[0])
    env.step(0)
    refused([(lambda: copy.deepcopy(env).step(0), "got one that is over")], gymnasium.error.ResetNeeded)
    env.close()
    refused([(copy.deepcopy(env).reset, "")], gymnasium.error.ClosedEnvironmentError)


@pytest.mark.parametrize("name", battery.IDS)
@pytest.mark.parametrize(
    ("way", "mode", "live"),
    [("copy", AutoresetMode.NEXT_STEP, True), ("pickle", AutoresetMode.SAME_STEP, False)],
)
def test_a_vector_copies_as_well(name: str, way: str, mode: AutoresetMode, live: bool) -> None:
    env = gymnasium.make_vec(name, num_envs=9, autoreset_mode=mode, copy=not live, **battery.SMALL[name], **DISTANCE)
    env.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(30):
        env.step(rng.integers(0, 4, 9))
    other = WAYS[way](env)
    for _ in range(60):
        actions = rng.integers(0, 4, 9)
        one, two = (each.step(actions) for each in (env, other))
        for a, b in zip(one[:4], two[:4], strict=True):
            assert a.tobytes() == b.tobytes()
        assert one[4]["distance"].tolist() == two[4]["distance"].tolist()


def test_decisions_copy_as_well() -> None:
    envs = VectorCommit(gymnasium.make_vec("recommit/Sliding-v0", num_envs=5, size=2, autoreset_mode="SAME_STEP"))
    envs.reset(seed=0)
    envs.action_space.seed(0)
    rows = [envs.action_space.sample() for _ in range(40)]
    for row in rows[:10]:
        envs.step(row)
    other = copy.deepcopy(envs)
    for row in rows[10:]:
        assert envs.step(row)[0].tobytes() == other.step(row)[0].tobytes()
