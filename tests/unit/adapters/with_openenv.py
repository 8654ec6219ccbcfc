"""Run with OpenEnv itself: the example's server, and its own clients at once."""

from __future__ import annotations

import json
import sys
import threading

import uvicorn
from openenv.core.generic_client import GenericEnvClient
from tests.ports import free_port
from tests.unit.adapters.peers import EXAMPLES
from tests.waiting import until

from recommit.zero_shot.game import GameSpec

sys.path.insert(0, str(EXAMPLES))
from openenv_server import app

SESSIONS, GAMES = 64, 32


def play(clients):
    """All sessions in turn, a commitment each, until every one is over: the rewards of their last steps."""
    seen = [client.reset(split="test", index=i % GAMES) for i, client in enumerate(clients)]
    while not all(each.done for each in seen):
        for i, client in enumerate(clients):
            if not seen[i].done:
                seen[i] = client.step({"actions": seen[i].observation["optimal"]})
    return [each.reward for each in seen]


def main():
    spec, port = GameSpec("sliding", (3,), length=(8, 12), count=GAMES, cell=28), free_port()
    server = uvicorn.Server(uvicorn.Config(app(spec, oracle=True), host="127.0.0.1", port=port, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    until(lambda: server.started)
    clients = [GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() for _ in range(SESSIONS)]
    for client in clients:
        client.connect()  # all are open before the first of them plays
    rewards = play(clients)
    for client in clients:
        client.close()
    print(json.dumps({"sessions": len(rewards), "solved": int(sum(rewards))}))


main()
