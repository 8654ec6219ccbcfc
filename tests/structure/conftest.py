from __future__ import annotations

import pytest
from tests.unit.zero_shot.servers import Server


@pytest.fixture(scope="session")
def model_server():
    """Where a model answers, always the same."""
    server = Server()
    yield server.url
    server.close()
