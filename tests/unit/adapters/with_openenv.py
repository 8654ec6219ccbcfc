"""Run with OpenEnv itself: a server, its own clients at once, its validator."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from urllib.request import urlopen

import uvicorn
from openenv.core.generic_client import GenericEnvClient
from tests.waiting import until

from recommit.adapters import openenv
from recommit.runs.ports import free_port
from recommit.zero_shot.game_spec import GameSpec

SESSIONS, GAMES = 64, 32


def play(clients):
    """All sessions in turn, a commitment each, until every one is over: the rewards of their last steps."""
    seen = [client.reset(split="test", index=i % GAMES) for i, client in enumerate(clients)]
    while not all(each.done for each in seen):
        for i, client in enumerate(clients):
            if not seen[i].done:
                seen[i] = client.step({"actions": seen[i].observation["optimal"]})
    return [each.reward for each in seen]


def validate(*words):
    """What its validator says."""
    tool = [str(Path(sys.executable).with_name("openenv")), "validate", *words]
    return subprocess.run(tool, check=False, capture_output=True, text=True)


def main():
    spec, port = GameSpec("sliding", (3,), length=(8, 12), count=GAMES, cell=28), free_port()
    server = uvicorn.Server(
        uvicorn.Config(openenv.app(spec, oracle=True), host="127.0.0.1", port=port, log_level="warning")
    )
    threading.Thread(target=server.run, daemon=True).start()
    until(lambda: server.started)
    base = f"http://127.0.0.1:{port}"
    clients = [GenericEnvClient(base_url=base).sync() for _ in range(SESSIONS)]
    for client in clients:
        client.connect()  # all are open before the first of them plays
    rewards = play(clients)
    injected = clients[0].reset(injected_state=[[1, 2, 3], [4, 5, 6], [7, 8, 0]]).reward
    for client in clients:
        client.close()
    with urlopen(f"{base}/web") as web, urlopen(f"{base}/recommit/splits") as splits:
        shown = {"web": web.status, "splits": [split["name"] for split in json.load(splits)]}
    validated = validate("--url", base)
    shown |= {"validate": validated.returncode == 0, "said": validated.stdout[-1500:]}
    print(json.dumps({"sessions": len(rewards), "solved": int(sum(rewards)), "injected": injected, **shown}))


main()
