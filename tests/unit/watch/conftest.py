from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tests.unit.watch.scripted import ScriptedMatch

from recommit.watch.server import MatchServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def serve() -> Iterator[Callable[[ScriptedMatch, str], MatchServer]]:
    """Serves a page until the test is over."""
    running: list[tuple[MatchServer, threading.Thread]] = []

    def start(match: ScriptedMatch, page: str) -> MatchServer:
        server = MatchServer(match, page)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()
