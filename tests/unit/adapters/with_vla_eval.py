"""Run with vla-eval itself: its server, client and runner play a benchmark of ours against ``Adaptive`` servers."""

from __future__ import annotations

import json

import anyio
import numpy as np
from vla_eval.api import evaluate, serve_background
from vla_eval.benchmarks.base import StepBenchmark, StepResult
from vla_eval.connection import Connection
from vla_eval.model_servers.predict import PredictModelServer
from vla_eval.specs import RAW

from recommit import horizon
from recommit.adapters.vla_eval import Adaptive

HORIZON, LENGTH = 8, 20


class Counting(PredictModelServer):
    """A chunk says when it was asked for, and the place: 3.0, 3.1, ... at tick 3."""

    def __init__(self, **options):
        super().__init__(**options)
        self.asked = []

    def predict_batch(self, obs_batch, ctx_batch):
        self.asked += [ctx.step for ctx in ctx_batch]
        chunks = [np.stack([obs["tick"] + np.arange(HORIZON) / 10], axis=1) for obs in obs_batch]
        return [{"actions": chunk.astype(np.float32)} for chunk in chunks]

    def get_action_spec(self):
        return {"x": RAW}

    get_observation_spec = get_action_spec


class Ticks(StepBenchmark):
    """Shows the tick; an episode ends behind the last."""

    executed = []
    render_backends = frozenset({"gpu", "cpu"})

    def get_tasks(self):
        return [{"name": "ticks"}]

    def reset(self, task):  # noqa: ARG002
        self.tick = 0
        self.executed.append([])

    def step(self, action):
        self.executed[-1].append(round(float(action["actions"][0]), 1))
        self.tick += 1
        return StepResult(None, 0.0, self.tick == LENGTH, {})

    def make_obs(self, raw_obs, task):  # noqa: ARG002
        return {"tick": self.tick}

    def get_step_result(self, step_result):  # noqa: ARG002
        return {"success": True}

    def get_action_spec(self):
        return {"x": RAW}

    get_observation_spec = get_action_spec


def played(server):
    """Actions of two episodes by vla-eval's runner."""
    Ticks.executed.clear()
    benchmark = {"benchmark": "__main__:Ticks", "episodes_per_task": 2}
    (result,) = evaluate(server, {"benchmarks": [benchmark]}, no_save=True, docker=False)
    assert result["mean_success"] == 1.0
    return [*Ticks.executed]


async def side_by_side(url):
    """Actions of two clients whose observations come together."""
    found = {}

    async def one(name):
        async with Connection(url) as connection:
            await connection.start_episode({"task": {"name": name}})
            answers = [await connection.act({"tick": tick}) for tick in range(LENGTH)]
            found[name] = [round(float(each["actions"][0]), 1) for each in answers]

    async with anyio.create_task_group() as group:
        for name in ("a", "b"):
            group.start_soon(one, name)
    return [found["a"], found["b"]]


def main():
    own = played(Counting(chunk_size=3))
    server = Adaptive(Counting(), horizon.Fixed(3))
    fixed = played(server)
    (queue,) = server.queues.values()
    limited = played(Adaptive(Counting(chunk_size=5), horizon.Repetition(tolerance=0.25)))
    short = played(Adaptive(Counting(chunk_size=2), horizon.Repetition(tolerance=0.25)))
    with serve_background(Adaptive(Counting(max_batch_size=2), horizon.Fixed(3))) as handle:
        batched = anyio.run(side_by_side, handle.url)
    print(
        json.dumps(
            {
                "fixed as chunk_size": fixed == own,
                "batched": batched == own,
                "asked": server.server.asked,
                "clocks": [(each.episode, each.t, each.k, each.h) for each in queue.decisions][-2:],
                "limited": limited[1][:6],
                "short": short[1][:4],
            }
        )
    )


main()
