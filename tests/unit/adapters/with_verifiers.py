"""Run with verifiers itself: ``vf-eval`` with its null harness, against the server of the first argument."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.unit.adapters.peers import EXAMPLES

FLAGS = ["-m", "tiny", "--no-push", "--client.api-key-var", "NO_KEY", "--select.limit", "3"]
GAMES = ["--env.taskset.count", "4", "--env.taskset.length", "8", "12"]
PLAYER = ["--env.player.harness.id", "null", "--env.player.runtime.type", "subprocess"]


def main(url):
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        path = f"{EXAMPLES}{os.pathsep}{os.environ['PYTHONPATH']}"
        tool = [str(Path(sys.executable).with_name("vf-eval")), "recommit_v1", "--client.base-url", url]
        subprocess.run(
            [*tool, *FLAGS, *GAMES, *PLAYER],
            check=True,
            stdout=sys.stderr,
            cwd=here,
            env={**os.environ, "PYTHONPATH": path, "NO_KEY": "none"},
        )
        (log,) = here.rglob("traces.jsonl")
        episodes = [json.loads(line) for line in log.read_text().splitlines()]
    rewards = [trace["rewards"]["solved"]["score"] for episode in episodes for trace in episode["traces"]]
    print(json.dumps({"rewards": rewards, "errors": sum(len(episode["errors"]) for episode in episodes)}))


main(sys.argv[1])
