"""A rule in vla-eval: with its base class in so far as it is needed, and nightly with vla-eval itself."""

from __future__ import annotations

import asyncio
import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from tests.unit.adapters import peers

from recommit import horizon


class Server:
    """``PredictModelServer``."""

    continuous_inference = False

    def __init__(self, chunk_size=None, max_batch_size=1, max_wait_time=0.01):
        self.chunk_size, self.max_batch_size, self.max_wait_time = chunk_size, max_batch_size, max_wait_time

    async def on_episode_start(self, config, ctx):
        ctx.told.append(config)

    def get_action_spec(self):
        return {}

    get_observation_spec = get_observation_params = get_action_spec

    def predict(self, obs, ctx):
        return self.predict_batch([obs], [ctx])[0]

    def predict_batch(self, obs_batch, ctx_batch):  # noqa: ARG002
        return [{"actions": obs + np.arange(8.0)[:, None], "more": 1} for obs in obs_batch]


@pytest.fixture
def adapter(monkeypatch):
    names = ("vla_eval", "vla_eval.model_servers", "vla_eval.model_servers.predict")
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[names[-1]].PredictModelServer = Server
    monkeypatch.delitem(sys.modules, "recommit.adapters.vla_eval", raising=False)
    yield importlib.import_module("recommit.adapters.vla_eval")
    monkeypatch.delitem(sys.modules, "recommit.adapters.vla_eval")


def test_sessions_have_a_queue_each_and_rules_see_the_last_plan(adapter):
    """A plan that goes on as the last one is executed one action beyond it; chunks count in the server's own size."""
    inner = Server(chunk_size=6)
    server = adapter.Adaptive(inner, horizon.Consecutive(first=4))
    sessions = [SimpleNamespace(session_id=name, told=[]) for name in "ab"]

    async def begun():
        for ctx in sessions:
            await server.on_episode_start({"task": 1}, ctx)

    asyncio.run(begun())
    assert all(ctx.told == [{"task": 1}] * 2 for ctx in sessions)  # the server's own, too
    first = server.predict(0.0, sessions[0])
    assert (first["actions"].ravel().tolist(), first["more"]) == ([0, 1, 2, 3], 1)
    both = server.predict_batch([4.0, 0.0], sessions)
    assert [each["actions"].ravel().tolist() for each in both] == [[4, 5, 6], [0, 1, 2, 3]]
    asyncio.run(begun())
    assert server.predict(7.0, sessions[0])["actions"].shape == (4, 1)  # nothing is left of another episode
    own = [(each.episode, each.t, each.k, each.h) for each in server.queues["a"].decisions]
    assert own == [(0, 0, 0, 4), (0, 4, 1, 3), (1, 0, 0, 4)]
    inner.continuous_inference = True
    with pytest.raises(ValueError, match="continuous_inference"):
        adapter.Adaptive(inner, horizon.Fixed(1))


@pytest.mark.nightly
def test_vla_evals_own_runner_plays_it():
    found = peers.run("vla_eval")
    assert found["fixed as chunk_size"]
    assert found["batched"]
    assert found["asked"] == [0, 3, 6, 9, 12, 15, 18] * 2
    assert found["clocks"] == [[1, 15, 5, 3], [1, 18, 6, 3]]
    assert (found["limited"], found["short"]) == ([0.0, 0.1, 0.2, 3.0, 3.1, 3.2], [0.0, 0.1, 2.0, 2.1])
