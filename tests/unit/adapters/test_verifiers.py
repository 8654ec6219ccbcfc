"""The taskset and environment for verifiers: with scripted agents, and with vf-eval against a server of ours."""

from __future__ import annotations

import asyncio
import base64
import json
import types

import numpy as np
import pytest
from tests.unit.adapters import peers
from tests.unit.zero_shot.servers import Server, expert, pixels, reply

import recommit

FIELDS = {"length": [8, 12], "count": 4, "cell": 28, "size": [3]}


class Generic(peers.Model):
    def __class_getitem__(cls, _):
        return cls


@pytest.fixture
def verifiers(monkeypatch):
    class Taskset(Generic):
        config = None

    class Task(Generic):
        def __init__(self, data, config=None):
            self.data, self.config = data, config

    class TaskData(peers.Model):
        id: str
        name: str
        system_prompt: str

    class TasksetConfig(peers.Model):
        task = None

    class Part(peers.Model):
        text: str
        url: str
        image_url: object
        content: list

    class Env(Generic):
        config = None

    content = dict.fromkeys(("TextContentPart", "ImageUrlContentPart", "ImageUrlSource", "UserMessage"), Part)
    plain = dict.fromkeys(("AgentConfig", "EnvConfig", "State", "TaskConfig"), Generic)
    package = peers.module(monkeypatch, "verifiers", __path__=[])
    v1 = {"Taskset": Taskset, "Task": Task, "TaskData": TaskData, "TasksetConfig": TasksetConfig, "Env": Env}
    package.v1 = peers.module(monkeypatch, "verifiers.v1", **v1, **content, **plain)
    return peers.adapter(monkeypatch, "verifiers")


class Player:
    """An agent whose replies a function writes."""

    def __init__(self, answer, turns=99):
        self.answer, self.turns, self.seen = answer, turns, []
        self.trace = self
        self.rewards, self.metrics = {}, {}

    def interaction(self, _):
        return self

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None

    async def turn(self, messages):
        self.seen.append(messages[0])
        if len(self.seen) > self.turns:
            return types.SimpleNamespace(terminated=True)
        return types.SimpleNamespace(terminated=False, last_reply=self.answer(messages[0]))

    def record_reward(self, name, value, weight):
        self.rewards[name] = value * weight

    def record_metric(self, name, value):
        self.metrics[name] = value


def tasks(verifiers, **fields):
    taskset = verifiers.RecommitTaskset()
    taskset.config = verifiers.RecommitConfig(**{**FIELDS, **fields})
    return list(taskset.load())


def played(verifiers, task, answer, **how):
    player = Player(answer, **how)
    asyncio.run(verifiers.RecommitEnv().run(task, types.SimpleNamespace(player=player)))
    return player


def by_picture(message):
    puzzle = recommit.Sliding(3)
    picture = pixels(base64.b64decode(message.content[0].image_url.url.split(",")[1]))
    plan = puzzle.solve(puzzle.decode(np.ascontiguousarray(picture)[None], cell=28)).actions[:8]
    depth = max(h for h in (1, 2, 4, 8) if h <= len(plan))
    return json.dumps({"h": depth, "actions": [recommit.ACTIONS[a] for a in plan[:depth]]})


def test_who_sees_the_pictures_solves_all(verifiers):
    for task in tasks(verifiers):
        player = played(verifiers, task, by_picture)
        assert player.rewards == {"solved": 1.0}
        assert (player.metrics["spl"], player.metrics["regret"]) == (1.0, 0.0)


def test_who_says_nonsense_solves_nothing(verifiers):
    player = played(verifiers, tasks(verifiers, budget=2)[0], lambda _: "left")
    assert player.rewards == {"solved": 0.0}
    assert player.metrics["decisions"] == 2.0
    assert player.metrics["actions"] == 0.0


def test_a_run_that_was_ended_counts_as_far_as_it_came(verifiers):
    assert played(verifiers, tasks(verifiers)[0], by_picture, turns=0).metrics["decisions"] == 0.0


def test_text_has_no_picture(verifiers):
    player = played(verifiers, tasks(verifiers, view="text", budget=1)[0], lambda _: "")
    assert [hasattr(part, "image_url") for part in player.seen[0].content] == [False]


def streamed(inner):
    """A script whose answers come as a stream where one is asked for."""

    def script(request, number):
        out = inner(request, number)
        if not request.body.get("stream"):
            return out
        body = json.loads(out.split(b"\r\n\r\n", 1)[1])
        chunk = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}
        first = {"index": 0, "delta": body["choices"][0]["message"], "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        events = [chunk | {"choices": [first]}, chunk | {"choices": [last], "usage": body["usage"]}]
        lines = [*(json.dumps(event) for event in events), "[DONE]"]
        return reply("".join(f"data: {line}\n\n" for line in lines).encode(), kind="text/event-stream")

    return script


@pytest.mark.nightly
def test_vf_eval_against_a_server_that_reads_the_pictures():
    server = Server(script=streamed(expert(recommit.Sliding(3), depth=8)))
    shown = peers.run("verifiers", server.url)
    server.close()
    assert shown == {"rewards": [1.0, 1.0, 1.0], "errors": 0}
    assert all(request.picture().shape == (168, 168, 3) for request in server.seen)
