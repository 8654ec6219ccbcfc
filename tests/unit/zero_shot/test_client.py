"""One question to a server: what is sent, when it is asked again, and what it may cost."""

from __future__ import annotations

import socket

import httpx2
import pytest
from tests.refusals import refused
from tests.unit.zero_shot.conftest import CANARY, SHORT
from tests.unit.zero_shot.servers import answer, chat, error, hang_up, reply, silence
from tests.waiting import HANG

from recommit.zero_shot import transport
from recommit.zero_shot.game import Observation
from recommit.zero_shot.ledger import GaveUp, StopRequested
from recommit.zero_shot.secret import Key
from recommit.zero_shot.transport import LONGEST_WAIT, retry_after

QUESTION, PLACE = Observation("rules", "which?", 1), {"instance": "task/0", "decision": 0}


def gives_up(client, words, question=QUESTION, error=GaveUp):
    refused([(lambda: client.ask(question, PLACE), words)], error)


@pytest.mark.parametrize(("endpoint", "limit"), [("openai", "max_completion_tokens"), ("vllm", "max_tokens")])
def test_an_answer(endpoint, limit, serve, client_of):
    server = serve()
    said, took = client_of(server.url, endpoint=endpoint, extra='{"reasoning_effort": "low"}').ask(QUESTION, PLACE)
    assert said.text == chat()["choices"][0]["message"]["content"]
    assert (took["number"], took["charged"], took["attempts"]) == (1, (100, 20), 1)
    request = server.seen[0]
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.headers["authorization"] == f"Bearer {CANARY}"
    assert request.headers["host"] == server.url[7:-3]
    client_of(server.url, key="").ask(QUESTION, PLACE)
    assert "authorization" not in server.seen[1].headers
    asked = {"temperature": 0.7, "top_p": 0.9, limit: 512, "reasoning_effort": "low"}  # the paper's, of every model
    assert {name: value for name, value in request.body.items() if name not in ("model", "messages")} == asked


def test_what_follows_a_reply_is_never_read(serve, client_of):
    server = serve(script=lambda _, number: answer(f"first {number}") + answer("second"))
    client = client_of(server.url)
    assert [client.ask(QUESTION, PLACE)[0].text for _ in range(2)] == ["first 1", "first 2"]
    assert server.connections == 2


@pytest.mark.parametrize("pause", ["7", "0"])
def test_retry_after_is_honoured(pause, serve, client_of):
    server = serve(error("429 Slow", headers=[f"Retry-After: {pause}"]), answer())
    client = client_of(server.url)
    assert client.ask(QUESTION, PLACE)[1]["attempts"] == 2
    (slept,) = client.ledger.stop.slept
    assert slept == float(pause) if float(pause) else 0.25 <= slept <= 0.5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5),
        ("-1", 0),
        ("inf", 0),
        ("soon", 0),
        (None, 0),
        ("9" * 400, LONGEST_WAIT),
        ("\u0665", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_WAIT),
        ("Mon, 99 Foo 2026", 0),
        ("Thu, 01 Jan 99999 00:00:00 GMT", 0),
    ],
)
def test_retry_after_in_any_form(value, seconds):
    assert retry_after(value) == seconds


def test_pauses_grow_with_jitter_and_are_bounded(serve, client_of):
    server = serve(error("500 Oops"))
    pauses = []
    for _ in range(3):
        client = client_of(server.url, retries=9)
        gives_up(client, "10 times")
        assert len(client.ledger.stop.slept) == 9
        for i, pause in enumerate(client.ledger.stop.slept):
            most = min(0.5 * 2**i, 60.0)
            assert most / 2 <= pause <= most
        pauses.append(tuple(client.ledger.stop.slept))
    assert len(set(pauses)) == 3


def test_a_server_that_counts_nothing_or_lies_is_charged_for_the_most(serve, client_of):
    for usage in (None, (-5, 10**15), ("7", True)):
        counted = usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        server = serve(reply(chat() | {"usage": counted}))
        assert client_of(server.url).ask(QUESTION, PLACE)[1]["charged"] == (4096, 512)


def test_failures_that_may_have_cost_are_charged(serve, client_of):
    server = serve(hang_up(), error("500 Oops"), answer())
    client = client_of(server.url, retries=2)
    client.ask(QUESTION, PLACE)
    assert [r.get("charged") for r in client.ledger.log.records] == [None, [4096, 512], None, [0, 0], None]
    assert client.ledger.tokens_in == 4096 + 100


def test_a_stop_is_heard_before_the_next_request(serve, client_of):
    server = serve()
    client = client_of(server.url)
    client.ledger.stop.set()
    gives_up(client, "no request is made any more", error=StopRequested)
    assert server.connections == 0


def test_nobody_there(client_of, monkeypatch):
    """At a port that this test has, so that nobody else begins to listen there; and at a name that nobody knows."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        gives_up(client_of(f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"), "unreachable")

    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    gives_up(client_of("http://nowhere.invalid/v1"), "unreachable")


def test_https_to_a_server_without_tls_shows_no_key(serve, client_of):
    server = serve()
    gives_up(client_of(server.url.replace("http://", "https://"), timeout=SHORT), "")
    assert not server.seen


def test_proxies_of_the_environment_see_nothing(serve, client_of, monkeypatch):
    proxy, server = serve(), serve()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    client_of(server.url).ask(QUESTION, PLACE)
    assert (proxy.connections, len(server.seen)) == (0, 1)


def test_time_is_bounded_also_where_a_server_does_not_read(client_of, serve):
    """A question too large for the buffers, and a server that takes none of it: waiting for it would never end."""
    server = serve()
    server.finish_request = lambda connection, _: silence(connection, server.ended)
    gives_up(client_of(server.url, timeout=SHORT, retries=0), "timeout", Observation("", "x" * 30_000_000, 1))


def test_errors_carry_no_trace_of_the_exchange(serve, monkeypatch):
    address = transport.Address.parse(serve(hang_up()).url)
    monkeypatch.setattr(transport, "SECONDS", HANG)
    with pytest.raises(transport.Broken) as caught:
        transport.post(address, Key(CANARY, "CANARY"), b"{}")
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert caught.value.sent


def test_headers_are_not_logged_where_everything_is(serve, client_of, caplog):
    """The library would log them, the key that a server put there too."""
    caplog.set_level("DEBUG")
    server = serve(answer().replace(b"Content-Type", f"X-Echo: {CANARY}\r\nContent-Type".encode()))
    client_of(server.url, retries=0).ask(QUESTION, PLACE)
    assert CANARY not in caplog.text
    with httpx2.Client(trust_env=False) as other_code:
        other_code.post(server.url)
    assert CANARY in caplog.text
