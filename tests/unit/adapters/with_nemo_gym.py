"""Run with NeMo-Gym itself: its ``gymnasium_agent`` plays three games against our server's routes. In the place of the
model's server answers one that solves what it reads, in one commitment or in halves, or loses the level."""

from __future__ import annotations

import asyncio
import itertools
import json
from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock

import numpy as np
from fastapi.testclient import TestClient
from nemo_gym.base_resources_server import BaseResourcesServerConfig
from nemo_gym.config_types import ModelServerRef, ResourcesServerRef
from nemo_gym.server_utils import ServerClient
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentConfig, GymnasiumAgentRunRequest

import recommit
from recommit.adapters.nemo_gym import Puzzle
from recommit.adapters.text_game import TextGame

GAME = {"size": [6], "boxes": 1, "length": 8, "count": 64}
MAY = {"host": "", "port": 0, "entrypoint": "", "name": "puzzle"}


def said(actions):
    """A model's response."""
    text = json.dumps({"h": len(actions), "actions": actions})
    part = {"type": "output_text", "annotations": [], "text": text}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {"id": "r", "created_at": 0.0, "model": "m", "object": "response", "output": [message], **more}


def reply(values, cookies):
    """A response of aiohttp, in so far as the agent reads it."""
    return SimpleNamespace(ok=True, cookies=cookies, read=AsyncMock(return_value=json.dumps(values).encode()))


def board(shown):
    """The lines of a board in an observation."""
    lines = shown.splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("#"))
    first = next(i for i in range(last, -1, -1) if i == 0 or not lines[i - 1].startswith("#"))
    return recommit.parse_levels("\n".join(lines[first : last + 1]) + "\n").states[0]


def halves(state):
    """The first four actions of an optimal plan."""
    return [recommit.ACTIONS[action] for action in recommit.solve(state).actions[:4]]


def losing(state):
    """Four actions after which the level cannot be solved."""
    task = TextGame(**GAME).spec.puzzle
    plans = np.array(list(itertools.product(range(4), repeat=4)), np.uint8)
    states = task.execute(np.repeat(state[None], len(plans), 0), plans, np.full(len(plans), 4, np.int32)).states
    return [recommit.ACTIONS[action] for action in plans[task.distance(states).tolist().index(recommit.UNSOLVABLE)]]


async def played(seed, answers):
    """One run of the agent."""
    client = MagicMock(spec=ServerClient)
    client.global_config_dict = {"observability_enabled": False}
    routes = TestClient(Puzzle(config=BaseResourcesServerConfig(**MAY), server_client=client).setup_webserver())
    model, resources = (
        ModelServerRef(type="responses_api_models", name="model"),
        ResourcesServerRef(type="resources_servers", name="puzzle"),
    )
    config = GymnasiumAgentConfig(**MAY, resources_server=resources, model_server=model, max_steps=10)
    turns = 0

    async def post(server_name, url_path, json, cookies=None, **_):
        nonlocal turns
        if server_name == "model":
            turns += 1
            last = json.input[-1]
            return reply(said(answers[turns - 1](board(last.content))), {})
        out = routes.post(url_path, json=json, cookies=cookies)
        out.raise_for_status()
        return reply(out.json(), dict(out.cookies))

    client.post = AsyncMock(side_effect=post)
    row = {"responses_create_params": {"input": []}, "seed": seed, "game": GAME}
    result = await GymnasiumAgent(config=config, server_client=client).run(
        SimpleNamespace(cookies={}), GymnasiumAgentRunRequest(**row)
    )
    return result.reward, result.terminated, turns


def whole(state):
    """An optimal plan of eight actions."""
    return [recommit.ACTIONS[action] for action in recommit.solve(state).actions]


async def main():
    runs = [await played(1, [whole]), await played(2, [halves, halves]), await played(3, [losing])]
    print(json.dumps(dict(zip(("rewards", "terminated", "turns"), zip(*runs, strict=True), strict=True))))


asyncio.run(main())
