"""One question to a server: what is sent, what its reply says, when it is asked again, and what it may cost."""

from __future__ import annotations

import base64
import json
import socket
from pathlib import Path

import httpx2
import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.zero_shot.conftest import CANARY, SHORT
from tests.unit.zero_shot.servers import answer, chat, error, hang_up, silence

from recommit.zero_shot import client
from recommit.zero_shot.client import GaveUp, StopRequested
from recommit.zero_shot.game import Observation
from recommit.zero_shot.options import ENDPOINTS, MODELS, ZeroShotOptions
from recommit.zero_shot.transport import LONGEST_WAIT, Address, retry_after

SHOWN = Observation("rules", "which?", 1, np.zeros((4, 4, 3), np.uint8))
QUESTION, PLACE = Observation("rules", "which?", 1), {"instance": "task/0", "decision": 0}


def gives_up(client, words, question=QUESTION, error=GaveUp):
    refused([(lambda: client.ask(question, PLACE), words)], error)


@pytest.mark.parametrize(("endpoint", "limit"), [("openai", "max_completion_tokens"), ("vllm", "max_tokens")])
def test_an_answer(endpoint, limit, serve, client_of):
    server = serve()
    said, took = client_of(server.url, endpoint=endpoint, extra='{"reasoning_effort": "low"}').ask(QUESTION, PLACE)
    assert said.text == chat()["choices"][0]["message"]["content"]
    assert (said.tokens_in, said.tokens_out, took["attempts"]) == (100, 20, 1)
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
        ("Fri, 31 Dec 9999 23:59:59 GMT", 0),
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


def test_failures_count_as_requests(serve, client_of):
    server = serve(hang_up(), error("500 Oops"), answer())
    client = client_of(server.url, retries=2)
    client.ask(QUESTION, PLACE)
    assert [(r["event"], r.get("kind")) for r in client.ledger.log.records] == [
        *(("sent", None), ("failed", "disconnected"), ("sent", None), ("failed", "http_500"), ("sent", None)),
    ]
    assert (client.ledger.requests, client.ledger.tokens_in) == (3, 100)


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


def test_headers_are_not_logged_where_everything_is(serve, client_of, caplog):
    """The library would log them, the key that a server put there too."""
    caplog.set_level("DEBUG")
    server = serve(answer().replace(b"Content-Type", f"X-Echo: {CANARY}\r\nContent-Type".encode()))
    client_of(server.url, retries=0).ask(QUESTION, PLACE)
    assert CANARY not in caplog.text
    with httpx2.Client(trust_env=False) as other_code:
        other_code.post(server.url)
    assert CANARY in caplog.text


def find(model, endpoint=None):
    return ZeroShotOptions(model, Path("unused"), endpoint=endpoint).server


def test_the_models_of_the_paper_are_ready():
    assert len(MODELS) == 10
    for model in MODELS:
        Address.parse(find(model).base)
    assert find("gpt-5.5-2026-04-23").answer_tokens > ENDPOINTS["openai"].answer_tokens
    # At another place than its own, nothing is known about a model.
    assert find("gpt-5.5-2026-04-23", "custom") == ENDPOINTS["custom"]


def test_bodies():
    written = client.write("tiny", SHOWN, {"max_tokens": 5, "temperature": 0.7})
    assert written == client.write("tiny", SHOWN, {"temperature": 0.7, "max_tokens": 5})
    picture = {"url": f"data:image/png;base64,{base64.b64encode(SHOWN.png).decode()}"}
    parts = [{"type": "image_url", "image_url": picture}, {"type": "text", "text": "which?"}]
    assert json.loads(written) == {
        "model": "tiny",
        "temperature": 0.7,
        "max_tokens": 5,
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": parts}],
    }


def test_answers():
    def read(**more):
        return client.read(json.dumps(chat(**more)).encode())

    said = read(text="hello")
    assert (said.text, said.finish, said.tokens_in, said.tokens_out, said.model) == ("hello", "stop", 100, 20, "tiny")
    assert read(text=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).text == "ab"
    assert read(text=None, refusal="no").refused
    assert read(finish="content_filter").refused
    assert read(finish="length").cut_off
    assert read(usage=None).tokens_in is None
    for lie in (-1, 10**12, "7", True):
        counted = client.read(json.dumps(chat() | {"usage": {"prompt_tokens": lie, "completion_tokens": lie}}).encode())
        assert (counted.tokens_in, counted.tokens_out) == (None, None)
    assert read(usage=(60_000.0, 2.5)).tokens_in == 60_000
    hidden = chat() | {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015}}
    assert client.read(json.dumps(hidden).encode()).tokens_out == 1005


def test_what_is_no_answer_is_said_to_be_none():
    bodies = [
        b"",
        b"[]",
        b"\xff\xfe",
        '{"choices": []}'.encode("utf-16"),
        b'{"choices": [3]}',
        b'{"choices": [{"message": "x"}]}',
        b'{"choices": [{"message": {"content": [{"text": 3}]}}]}',
        b'{"error": "x", "choices": []}',
        b'{"a":' * 100_000,
        b'{"id": ' + b"9" * 100_000 + b"}",
        b'{"choices": []}{"choices": []}',
    ]
    refused([(lambda body=body: client.read(body), "the reply ") for body in bodies], ValueError)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"error": {"message": "m", "param": "p", "code": "c"}}', ("m", "c")),
        (b'[{"error": {"message": "m", "code": 400}}]', ("m", "400")),
        (b'{"error": "m"}', ("m", "")),
        (b'{"detail": [{"msg": "m"}]}', ('{"detail": [{"msg": "m"}]}', "")),
        (b'{"object": "error", "message": "m", "type": "t", "code": null}', ("m", "t")),
        (b"\xffplain", ("\ufffdplain", "")),
    ],
)
def test_complaints(body, found):
    assert client.complaint(body) == found


def test_addresses_that_are_none():
    texts = [
        "file:///etc/passwd",
        "host",
        "http://",
        "http://u:sk-x@host/v1",
        "http://host/v1?key=sk-x",
        "http://host:99999",
        "http://host:0",
        "http://host/a\r\nX: y",
        "http://h\u00f6st/",
        "http://[::1",
        "http://host\\@other/",
        "http://host;id",
        "http://$(id)/v1",
        "https://--key-from/v1",
        "http://[::1%25lo]/v1",
        "",
    ]
    refused([(lambda text=text: Address.parse(text), "base_url: expected") for text in texts])


@pytest.mark.parametrize(
    ("text", "shown", "local"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1", False),
        ("http://[::1]:8000", "http://[::1]:8000", True),
        ("http://localhost", "http://localhost", True),
        ("http://localhost.evil.example/v1", "http://localhost.evil.example/v1", False),
        ("http://10.0.0.7:80/v1", "http://10.0.0.7/v1", False),
    ],
)
def test_addresses(text, shown, local):
    address = Address.parse(text)
    assert (str(address), address.local) == (shown, local)
