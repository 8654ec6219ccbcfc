"""Wraps any model server of AI2's vla-eval, for all its benchmarks, with a rule that decides when to query again.

    server = Adaptive(Pi0ModelServer(), horizon.load("sweep/card.json"))
    anyio.run(serve_async, server, "0.0.0.0", 8000)

vla-eval executes what ``predict`` returns and then queries again, so only the committed prefix is returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from vla_eval.model_servers.predict import PredictModelServer

from recommit.horizon import Plans, Queue

if TYPE_CHECKING:
    from recommit.horizon import Rule


class Adaptive(PredictModelServer):
    """A server with one queue per session; ``queues[session].decisions`` logs its decisions with both clocks.

    Args:
        server: the wrapped server; its ``chunk_size`` is the longest prefix that is executed.
        rule: chooses the depth; reads chunks.
    """

    def __init__(self, server: PredictModelServer, rule: Rule) -> None:
        if server.continuous_inference:
            raise ValueError("server: expected continuous_inference=False, got a server without chunks to execute")
        batches = {"max_batch_size": server.max_batch_size, "max_wait_time": server.max_wait_time}
        super().__init__(chunk_size=2**31, **batches)  # execute all that is returned
        self.server, self.rule = server, rule
        self.queues: dict[str, Queue] = {}
        for name in ("get_action_spec", "get_observation_spec", "get_observation_params"):
            setattr(self, name, getattr(server, name))

    def predict(self, obs: Any, ctx: Any) -> Any:
        return self._begin(self.server.predict(obs, ctx), ctx)

    def predict_batch(self, obs_batch: Any, ctx_batch: Any) -> Any:
        return list(map(self._begin, self.server.predict_batch(obs_batch, ctx_batch), ctx_batch))

    def _begin(self, result: dict[str, Any], ctx: Any) -> dict[str, Any]:
        """The result with its chunk cut to the rule's depth."""
        actions, queue = np.asarray(result["actions"], np.float32), self.queues[ctx.session_id]
        chunk = np.atleast_2d(actions)[: self.server.chunk_size]
        depth = queue.fill(Plans(chunk[None]))[0]  # the next query follows after this many actions
        return {**result, "actions": np.concatenate([queue.pop() for _ in range(depth)])}

    async def on_serve_start(self, tg: Any) -> None:
        await self.server.on_serve_start(tg)
        await super().on_serve_start(tg)

    async def on_episode_start(self, config: Any, ctx: Any) -> None:
        if ctx.session_id in self.queues:
            self.queues[ctx.session_id].reset()
        else:
            self.queues[ctx.session_id] = Queue(self.rule)
        await self.server.on_episode_start(config, ctx)
        await super().on_episode_start(config, ctx)

    async def on_episode_end(self, result: Any, ctx: Any) -> None:
        await self.server.on_episode_end(result, ctx)
        await super().on_episode_end(result, ctx)
