"""The environment for VAGEN, by the signatures of its ``GymImageEnv``."""

from __future__ import annotations

import asyncio
import inspect
import json

import numpy as np
import pytest

from recommit.adapters.vagen import VagenPuzzle

CONFIG = {"task": "sliding", "size": 3, "length": [8, 12], "count": 8, "cell": 28, "split": "test"}


def wait(coroutine):
    return asyncio.run(coroutine)


def test_it_has_the_methods_of_its_base():
    names = {"reset": ["seed"], "step": ["action_str"], "system_prompt": [], "close": []}
    for name, arguments in names.items():
        method = getattr(VagenPuzzle, name)
        assert inspect.iscoroutinefunction(method)
        assert list(inspect.signature(method).parameters)[1:] == arguments


def test_an_expert_is_paid_once():
    pytest.importorskip("PIL")
    env = VagenPuzzle(CONFIG)
    seen, _ = wait(env.reset(11))
    state = env.spec.starts("test").states[3]
    assert seen["obs_str"].count("<image>") == len(seen["multi_modal_input"]["<image>"]) == 1
    assert np.array_equal(
        np.asarray(seen["multi_modal_input"]["<image>"][0]), env.spec.puzzle.render(state[None], cell=28)[0]
    )
    assert "picture" in wait(env.system_prompt())["obs_str"]
    done, rewards = False, []
    while not done:
        best = env.game.optimal()
        text = json.dumps({"h": best.depth, "actions": env.game.words(best)})
        _, reward, done, info = wait(env.step(text))
        rewards.append(reward)
        assert info["metrics"]["turn_metrics"]["action_is_valid"]
    assert sum(rewards) == 1.0
    assert info["success"]
    assert info["metrics"]["traj_metrics"]["regret"] == 0.0


def test_nonsense_is_no_action():
    env = VagenPuzzle({**CONFIG, "view": "text"})
    before, _ = wait(env.reset(0))
    after, reward, done, info = wait(env.step("left, I think"))
    assert (after, reward, done) == (before, 0.0, False)
    assert not info["metrics"]["turn_metrics"]["action_is_valid"]
    wait(env.close())
    with pytest.raises(RuntimeError, match="reset: expected before step"):
        wait(env.step("up"))
