"""A server of this machine: its own pages and programs are answered, pages of other places are not."""

from __future__ import annotations

import asyncio

import pytest

from recommit.adapters.serving import OwnPages


def asked(kind, host, listening="127.0.0.1", **headers):
    """What comes of a request: the types of what was sent, and what was let through."""
    sent, through = [], []

    async def application(scope, _receive, send):
        through.append(scope["type"])
        await send({"type": "answer"})

    async def send(message):
        sent.append(message.get("status", message["type"]))

    every = {"host": host, **headers}
    scope = {"type": kind, "headers": [(name.encode(), value.encode()) for name, value in every.items()]}
    asyncio.run(OwnPages(application, listening)(scope, None, send))
    return sent[0], bool(through)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("127.0.0.1:8000", {}),
        ("[::1]:8000", {}),
        ("127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}),
        ("LOCALHOST:8000", {"origin": "http://localhost:8000"}),
    ],
)
def test_programs_and_its_own_pages_are_answered(kind, host, headers):
    assert asked(kind, host, **headers) == ("answer", True)


@pytest.mark.parametrize(("kind", "answer"), [("http", 403), ("websocket", "websocket.close")])
@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("127.0.0.1:8000", {"origin": "http://evil.example"}),
        ("127.0.0.1:8000", {"origin": "null"}),
        ("127.0.0.1:8000", {"origin": "http://127.0.0.1:9"}),
        ("evil.example:8000", {"origin": "http://evil.example:8000"}),  # a name of somebody else's that leads here
        ("evil.example:8000", {}),
        ("", {}),
    ],
)
def test_foreign_pages_are_not(kind, answer, host, headers):
    assert asked(kind, host, **headers) == (answer, False)


def test_a_server_for_other_machines_has_any_name():
    assert asked("websocket", "node-3:8000", "0.0.0.0") == ("answer", True)
    assert asked("websocket", "node-3:8000", "0.0.0.0", origin="http://node-3:8000") == ("answer", True)
    assert asked("websocket", "node-3:8000", "0.0.0.0", origin="http://evil.example") == ("websocket.close", False)
