"""The environment for TRL: its tool, its rows, and one real step of its trainer with a tiny model."""

from __future__ import annotations

import inspect

import pytest
from tests.refusals import refused
from tests.unit.adapters import peers

from recommit.adapters import trl
from recommit.zero_shot.game import GameSpec

SPEC = GameSpec("sliding", (3,), length=(8, 12), budget=3, count=8, view="text")


def row(index=0, split="train"):
    return {"state": SPEC.starts(split).states[index].tolist(), "id": "x", "prompt": []}


def test_a_rollout_by_its_tool():
    puzzle = trl.factory(SPEC)()
    game = SPEC.game("train", 0)
    assert puzzle.reset(**row()) == f"\n{game.rows}\n"
    assert puzzle.commit(["up"] * 3) == f"depth_outside. 2 observations left.\n{game.rows}\n"
    while not game.over:
        said = puzzle.commit(game.words(game.optimal()))
        game.commit(game.optimal())
    assert said == "Solved."
    assert puzzle.get_reward() == 1.0
    assert puzzle.commit(["up"]) == "The game is over."
    puzzle.reset(**row(1))
    assert puzzle.get_reward() == 0.0


def test_only_commit_is_a_tool_and_it_is_described():
    public = [name for name, _ in inspect.getmembers(trl.ToolRollout, inspect.isfunction) if not name.startswith("_")]
    assert sorted(public) == ["commit", "get_reward", "reset"]
    schema = pytest.importorskip("transformers.utils").get_json_schema(trl.ToolRollout(SPEC).commit)["function"]
    assert schema["parameters"]["properties"]["actions"]["items"] == {"type": "string"}
    assert "up" in schema["parameters"]["properties"]["actions"]["description"]


def test_pictures_are_refused():
    refused(
        [(lambda: trl.factory(GameSpec("sliding")), "drop pictures of a tool's answer silently, got image")], ValueError
    )


def test_rows_are_the_starts_of_a_split():
    pytest.importorskip("datasets")
    rows = trl.rows(SPEC, "test", count=3)
    assert rows["id"] == SPEC.ids("test")[:3]
    assert rows[2]["state"] == SPEC.starts("test").states[2].tolist()
    assert "commit" in rows[0]["prompt"][0]["content"]
    assert "JSON" not in rows[0]["prompt"][0]["content"]


@pytest.mark.nightly
def test_one_step_of_the_real_trainer():
    """A tiny model, taught to call the tool: calls are carried out, and the step is a step."""
    shown = peers.run("trl")
    assert shown["tools"] == ["commit"]
    assert shown["steps"] == 1
    assert shown["calls"] > 0
    assert shown["outcomes"] > 0
    assert shown["moved"] > 0 or shown["reward_std"] == 0.0
