"""The example files for OpenEnv and verifiers, with these packages themselves; test_guides.py runs that for Inspect."""

from __future__ import annotations

import ast
import json

import pytest
from tests.unit.adapters import peers
from tests.unit.zero_shot.servers import Server, expert, reply

import recommit


@pytest.mark.nightly
def test_openenv_plays_64_sessions_at_once():
    assert peers.run("openenv") == {"sessions": 64, "solved": 64}


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


@pytest.mark.parametrize("path", sorted(peers.EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_what_an_example_imports_of_the_package_is_there(path):
    """Also where the other package is not installed."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recommit"):
            module = __import__(node.module, fromlist=["name"])
            assert all(hasattr(module, name.name) for name in node.names), node.module
