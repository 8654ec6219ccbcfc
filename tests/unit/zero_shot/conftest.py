from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.unit.zero_shot import servers
from tests.waiting import HANG

from recommit.zero_shot import client, transport
from recommit.zero_shot.client import Client, Ledger, Server
from recommit.zero_shot.options import ENDPOINTS, ZeroShotOptions
from recommit.zero_shot.transport import Address, Key

CANARY = "sk-canary-9f8e7d6c5b4a3210"
#: A time limit for servers that never end an answer: it begins once the question is sent, on however slow a machine.
SHORT = 0.3


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for endpoint in ENDPOINTS.values():
        monkeypatch.delenv(endpoint.key_variable, raising=False)


@pytest.fixture
def serve():
    """Starts servers, and stops them when the test is over."""
    started = []

    def start(*replies, script=None):
        started.append(servers.Server(*replies, script=script))
        return started[-1]

    yield start
    for server in started:
        server.close()


class Stop(threading.Event):
    """Pauses cost nothing and are noted."""

    def __init__(self):
        super().__init__()
        self.slept = []

    def wait(self, seconds):
        self.slept.append(seconds)


class Kept:
    """A journal in memory."""

    def __init__(self):
        self.records = []

    def add(self, record):
        self.records.append(record)


@pytest.fixture
def no_retries(monkeypatch):
    monkeypatch.setattr(client, "RETRIES", 0)


@pytest.fixture
def client_of(monkeypatch):
    """Makes a client of a server, with a fake clock, a canary for a key and a log in memory."""

    def make(url, *, endpoint="custom", timeout=HANG, retries=1, key=CANARY, **more):
        options = ZeroShotOptions("tiny", Path("unused"), endpoint=endpoint, answer_tokens=512, **more)
        monkeypatch.setattr(client, "RETRIES", retries)
        monkeypatch.setattr(transport, "SECONDS", timeout)
        server = Server(options.server, Address.parse(url), Key(key, "CANARY"))
        return Client(options, server, Ledger(None, Kept(), Stop()))

    return make
