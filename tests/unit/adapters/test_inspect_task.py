"""The task for Inspect: with stand-ins for its classes; test_guides.py runs it with Inspect itself."""

from __future__ import annotations

import asyncio
import json
import types

import pytest
from tests.unit.adapters import peers

from recommit.zero_shot.game_spec import GameSpec

FIELDS = {"task": "sliding", "size": 3, "length": [8, 12], "count": 3, "view": "text", "budget": 4}
SPEC = GameSpec(**FIELDS)


class Loose:
    def __init__(self, *values, **fields):
        self.values = values
        self.__dict__.update(fields)


@pytest.fixture
def inspect_task(monkeypatch):
    peers.module(monkeypatch, "inspect_ai", __path__=[], Task=Loose, task=lambda function: function)
    peers.module(monkeypatch, "inspect_ai.dataset", MemoryDataset=Loose, Sample=Loose)
    kinds = ("ChatMessageSystem", "ChatMessageUser", "ContentImage", "ContentText")
    peers.module(monkeypatch, "inspect_ai.model", **dict.fromkeys(kinds, Loose))
    scoring = {"Score": Loose, "Target": Loose, "mean": list, "stderr": list}
    peers.module(monkeypatch, "inspect_ai.scorer", scorer=lambda **_: lambda function: function, **scoring)
    solving = {"Generate": Loose, "TaskState": Loose, "solver": lambda function: function}
    peers.module(monkeypatch, "inspect_ai.solver", **solving)
    return peers.adapter(monkeypatch, "inspect_task")


class Store(dict):
    set = dict.__setitem__


def play(task, text, stop="stop"):
    """The score of its first sample when the model always says this; and how many looks it was shown."""
    sample, seen = task.dataset.values[0][0], []

    async def generate(state):
        seen.append(state.messages)
        choice = Loose(stop_reason=stop)
        state.output = Loose(completion=text(state) if callable(text) else text, choices=[choice])
        state.messages = [*state.messages, Loose(content="answer")]
        return state

    state = types.SimpleNamespace(metadata=sample.metadata, store=Store(), messages=[], output=None)
    asyncio.run(task.solver(state, generate))
    return asyncio.run(task.scorer(state, None)), seen


def test_optimal_answers_score_one(inspect_task):
    game = SPEC.game("test", 0)

    def best(_):
        commitment = game.optimal()
        game.commit(commitment)
        return json.dumps({"h": commitment.depth, "actions": game.words(commitment)})

    score, seen = play(inspect_task.commitments(**FIELDS), best)
    assert (score.value["solved"], score.value["regret"], score.value["spl"]) == (1.0, 0.0, 1.0)
    assert [len(messages) for messages in seen] == [2] * len(seen)


def test_an_answer_that_was_cut_off_is_said_to_be(inspect_task):
    score, seen = play(inspect_task.commitments(**FIELDS), "I think that", stop="max_tokens")
    assert score.explanation == "cut_off 0, cut_off 0, cut_off 0, cut_off 0"
    assert score.value["solved"] == 0.0
    assert len(seen) == 4


def test_a_model_may_see_what_was_before(inspect_task):
    _, seen = play(inspect_task.commitments(forget=False, **FIELDS), "left")
    assert [len(messages) for messages in seen] == [2, 4, 6, 8]


def test_its_samples_are_the_test_games(inspect_task):
    samples = inspect_task.commitments(**FIELDS).dataset.values[0]
    assert [sample.id for sample in samples] == SPEC.ids("test")
