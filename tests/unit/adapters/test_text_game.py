"""The game of language agents, and its faces for VAGEN and NeMo-Gym: rewards against distances that the solver proves,
prompts by their options, and loops of the methods that these trainers call."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from tests.unit.adapters import peers

import recommit
from recommit.adapters import vagen
from recommit.adapters.text_game import TextGame

SMALL = {"size": (6,), "boxes": 1, "length": 8, "count": 64}
#: The box goes right and down; up against the wall it is lost.
ROOM = "######\n#    #\n#@$  #\n#  . #\n######\n"


def answer(*actions):
    return f"Let me think {{briefly}}. {json.dumps({'h': len(actions), 'actions': actions})}"


def best(play):
    return answer(*play.game.words(play.game.optimal()))


def in_room(**options):
    play = TextGame(**SMALL, **options)
    play.game = play.spec.of_state(recommit.parse_levels(ROOM).states[0])
    return play


def test_rewards_are_what_solvers_prove():
    play, seen = TextGame(**SMALL, budget=30), set()
    for seed in range(20):
        play.reset(seed)
        seen.add(play.game.state.tobytes())
        distance, total, turn = play.spec.puzzle.solve(play.game.state[None]).length[0], 0.0, None
        assert distance == 8
        rng = np.random.default_rng(seed)
        while turn is None or not (turn.terminated or turn.truncated):
            turn = play.step(answer(recommit.ACTIONS[rng.integers(4)]) if rng.random() < 0.5 else best(play))
            now = play.spec.puzzle.solve(play.game.state[None]).length[0]
            total += turn.reward
            assert turn.reward == (-1.0 if turn.info["lost"] else distance - now)
            distance = now
        assert turn.terminated == (distance == 0 or turn.info["lost"])
        assert turn.info["success"] == (distance == 0)
        assert total == 8 or not turn.info["success"]
    assert len(seen) == 20
    play.reset(64 + 19)
    assert play.game.state.tobytes() in seen


@pytest.mark.parametrize("lost", [-1.0, -12.5])
def test_a_box_against_the_wall_ends_the_episode_at_the_stated_reward(lost):
    play = in_room(lost=lost)
    assert play.step(answer("down", "right")) == (
        -2.0,
        False,
        False,
        {"outcome": "ok", "executed": 2, "moved": 2, "success": False, "lost": False, "distance": 6},
    )
    turn = play.step(answer("up", "up"))  # which has moves left, and an observation
    assert (turn.reward, turn.terminated, turn.truncated) == (lost, True, False)
    assert (turn.info["lost"], turn.info["success"], turn.info["distance"]) == (True, False, recommit.UNSOLVABLE)


def test_an_answer_without_a_commitment_costs_an_observation_alone():
    play = in_room(budget=2)
    assert play.step("I would push it.")[:3] == (0.0, False, False)
    assert "no_object. 1 observations left." in play.observation
    assert play.step(answer("up", "up", "up"))[:3] == (0.0, False, True)


def test_prompts_have_what_the_options_say():
    marks = {"form": '"actions"', "picture": "grey brick", "signs": "$ is a box", "rules": "pushes it by one cell"}
    for options, shown in (
        ({}, set(marks)),
        ({"caption": False}, {"form", "picture", "rules"}),
        ({"rules": False}, {"form"}),
        ({"rules": False, "caption": False}, {"form"}),
        ({"view": "text"}, {"form", "signs", "rules"}),
        ({"view": "text", "rules": False}, {"form"}),
    ):
        play = in_room(**options)
        assert {name for name, mark in marks.items() if mark in play.prompt} == shown, options
        assert play.prompt.count("pushes") == ("rules" in shown)
        assert (ROOM in play.observation) == (options.get("view") == "text" or options.get("caption", True))
        assert play.observation.endswith("observations left. Which commitment do you make?")


@pytest.mark.parametrize("view", ["image", "text"])
def test_vagen_calls_four_methods(view):
    """As its agent loop does: reset, then the system prompt, then steps until done; a mark for each picture."""
    if view == "image":
        pytest.importorskip("PIL")
    env = vagen.Puzzle(env_config={**SMALL, "size": [6], "view": view, "cell": 28})

    async def episode():
        (seen, info), system, rewards, done = await env.reset(seed=5), await env.system_prompt(), [], False
        every = [system, seen]
        while not done:
            if view == "image":
                (picture,) = seen["multi_modal_input"]["<image>"]
                assert np.array_equal(np.asarray(picture), env.play.game.picture)
            seen, reward, done, info = await env.step(best(env.play))
            rewards.append(reward)
            every.append(seen)
        await env.close()
        return every, rewards, info

    every, rewards, info = asyncio.run(episode())
    assert (sum(rewards), info["success"]) == (8.0, True)
    for each in every:
        assert each["obs_str"].count("<image>") == len(each.get("multi_modal_input", {}).get("<image>", []))
    assert len(every[-1].get("multi_modal_input", {})) == (view == "image")


def test_nemo_gym_plays_a_game_per_session(monkeypatch):
    """Its server's base class, in so far as it is needed; ``with_nemo_gym.py`` has the real one."""
    base = ModuleType("resources_servers.gymnasium")
    base.GymnasiumServer = type("GymnasiumServer", (), {"__init__": lambda self: setattr(self, "session_state", {})})
    base.extract_text = lambda response: response.text
    monkeypatch.setitem(sys.modules, "resources_servers", ModuleType("resources_servers"))
    monkeypatch.setitem(sys.modules, "resources_servers.gymnasium", base)
    monkeypatch.delitem(sys.modules, "recommit.adapters.nemo_gym", raising=False)
    server = importlib.import_module("recommit.adapters.nemo_gym").Puzzle()

    async def sessions():
        for seed in (1, 2):
            shown, info = await server.reset({"seed": seed, "game": dict(SMALL)}, f"s{seed}")
            play = server.session_state[f"s{seed}"]
            assert shown == f"{play.prompt}\n\n{play.observation}"
            assert (play.spec.view, info["distance"]) == ("text", 8)
        said = SimpleNamespace(text=best(server.session_state["s1"]))
        shown, reward, terminated, truncated, info = await server.step(said, {}, "s1")
        assert (reward, terminated, truncated, info["success"]) == (8.0, True, False, True)
        assert shown == server.session_state["s1"].observation
        assert server.session_state["s2"].game.distance == 8

    asyncio.run(sessions())
    monkeypatch.delitem(sys.modules, "recommit.adapters.nemo_gym")


@pytest.mark.nightly
def test_nemo_gyms_own_agent_plays_to_the_end():
    assert peers.run("nemo_gym") == {"rewards": [8.0, 8.0, -1.0], "terminated": [True, True, True], "turns": [1, 2, 1]}
