"""One question to a server: what is sent, when it is asked again, what is learned, and what it may cost."""

from __future__ import annotations

import socket
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from tests.unit.zero_shot.conftest import CANARY, SHORT
from tests.unit.zero_shot.servers import answer, chat, error, hang_up, reply, silence
from tests.waiting import HANG

from recommit.zero_shot import transport
from recommit.zero_shot.client import DecisionPlace
from recommit.zero_shot.endpoints import ENDPOINTS
from recommit.zero_shot.ledger import CapReached, Caps, GaveUp, StopRequested
from recommit.zero_shot.messages import LONGEST_WAIT, Question, retry_after
from recommit.zero_shot.secret import Key

LOOK, PLACE = Question("rules", "look", b"PNG"), DecisionPlace("task/0", 0, 0)


def test_an_answer(serve, client_of):
    server = serve()
    client = client_of(server.url)
    said = client.ask(LOOK, PLACE)
    assert (said.completion.text, said.number, said.charged, said.attempts) == (
        chat()["choices"][0]["message"]["content"],
        1,
        (100, 20),
        1,
    )
    (request,) = server.seen
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.headers["authorization"] == f"Bearer {CANARY}"
    assert request.headers["host"] == server.url[7:-3]
    assert request.body["temperature"] == 0.7
    assert request.body["top_p"] == 0.9


def test_anthropic_gets_its_own_headers(serve, client_of):
    body = {"model": "tiny", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}
    server = serve(reply(body))
    assert client_of(server.url, endpoint="anthropic").ask(LOOK, PLACE).completion.text == "x"
    (request,) = server.seen
    assert request.line == "POST /v1/messages HTTP/1.1"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (CANARY, "2023-06-01")
    assert "authorization" not in request.headers


def test_without_a_key_there_is_no_header(serve, client_of):
    server = serve()
    client_of(server.url, key="").ask(LOOK, PLACE)
    assert "authorization" not in server.seen[0].headers


def test_what_follows_a_reply_is_never_read(serve, client_of):
    server = serve(script=lambda _, number: answer(f"first {number}") + answer("second"))
    client = client_of(server.url)
    assert [client.ask(LOOK, PLACE).completion.text for _ in range(2)] == ["first 1", "first 2"]
    assert server.connections == 2


@pytest.mark.parametrize("pause", ["7", "7.5", "0"])
def test_retry_after_is_honoured(pause, serve, client_of):
    server = serve(error("429 Slow", headers=[f"Retry-After: {pause}"]), answer())
    client = client_of(server.url)
    assert client.ask(LOOK, PLACE).attempts == 2
    (slept,) = client.clock.slept
    assert slept == float(pause) if float(pause) else 0.25 <= slept <= 0.5


def test_a_wait_in_words_is_honoured(serve, client_of):
    server = serve(error("429 Slow", "Please retry in 7.78s."), answer())
    client = client_of(server.url)
    client.ask(LOOK, PLACE)
    assert client.clock.slept == [7.78]


def test_an_overload_holds_everybody_back(serve, client_of):
    server = serve(error("503 Busy", headers=["Retry-After: 30"]), answer())
    client = client_of(server.url, retries=0)
    with pytest.raises(GaveUp):
        client.ask(LOOK, PLACE)
    client.ask(LOOK, DecisionPlace("task/1", 1, 0))
    assert client.clock.slept == []  # the worker that was told gave up before its pause
    client = client_of(server.url)
    server.seen.clear()
    client.ask(LOOK, PLACE)
    assert client.clock.slept == [30.0]


NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5),
        ("0", 0),
        ("2.5", 2.5),
        ("-1", 0),
        ("1e3", 0),
        ("inf", 0),
        ("nan", 0),
        ("soon", 0),
        ("", 0),
        (None, 0),
        ("9" * 400, LONGEST_WAIT),
        ("121", LONGEST_WAIT),
        ("0x10", 0),
        ("\u0665", 0),
        ("1_0", 0),
        ("5, 7", 0),
        ("Thu, 01 Jan 2026 00:00:09 GMT", 9),
        ("Thu, 01 Jan 2026 00:00:09 -0000", 9),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_WAIT),
        ("Mon, 99 Foo 2026", 0),
        ("Thu, 01 Jan 99999 00:00:00 GMT", 0),
    ],
)
def test_retry_after_in_any_form(value, seconds):
    assert retry_after(value, NOW) == seconds


def test_pauses_grow_with_jitter_and_are_bounded(serve, client_of):
    server = serve(error("500 Oops"))
    pauses = []
    for index in range(3):
        client = client_of(server.url, retries=9)
        with pytest.raises(GaveUp, match="10 times"):
            client.ask(LOOK, DecisionPlace("task", index, 0))
        assert len(client.clock.slept) == 9
        for i, pause in enumerate(client.clock.slept):
            most = min(0.5 * 2**i, 60.0)
            assert most / 2 <= pause <= most
        pauses.append(tuple(client.clock.slept))
    assert len(set(pauses)) == 3


def test_a_refused_parameter_is_learned_for_the_run(serve, client_of):
    def script(request, _):
        for name in ("top_p", "temperature", "max_tokens"):
            if name in request.body:
                return error("400 Bad", f"Unsupported parameter: '{name}'", param=name)
        return answer()

    server = serve(script=script)
    client = client_of(server.url, retries=0)
    first = client.ask(LOOK, PLACE)
    assert (first.attempts, first.parameters) == (4, {"max_completion_tokens": 512})
    assert client.ask(LOOK, DecisionPlace("task/1", 1, 0)).attempts == 1
    lessons = ["without top_p", "without temperature", "max_completion_tokens for max_tokens"]
    assert list(map(str, client.parameters.refused)) == lessons
    noted = [record for record in client.ledger.log.records if record["event"] == "refused"]
    assert [(one["parameter"], one["said"]) for one in noted] == [
        (name, f"Unsupported parameter: '{name}'") for name in ("top_p", "temperature", "max_tokens")
    ]
    assert client.clock.slept == []


def test_a_server_that_refuses_everything_is_asked_few_times(serve, client_of):
    server = serve(error("400 Bad", "max_tokens max_completion_tokens temperature top_p"))
    with pytest.raises(GaveUp):
        client_of(server.url).ask(LOOK, PLACE)
    assert len(server.seen) == 4


def test_any_model_may_answer_if_that_is_said(serve, client_of):
    server = serve(answer(model="other"))
    assert client_of(server.url, any_model=True).ask(LOOK, PLACE).completion.model == "other"


def test_further_fields_are_sent(serve, client_of):
    server = serve()
    client_of(server.url, extra='{"reasoning_effort": "low"}').ask(LOOK, PLACE)
    assert server.seen[0].body["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    ("caps", "answers"),
    [
        (Caps(requests=3), 3),
        (Caps(tokens=4096 + 512 + 120), 35),  # 120 each, and the next may take 100 + 512
        (Caps(money=1.0, price_in=1000.0, price_out=10000.0), 0),
        (Caps(money=10.0, price_in=1000.0, price_out=10000.0), 16),  # 0.3 each, and the next may take 0.1 + 5.12
        (Caps(requests=0), 0),
    ],
)
def test_caps(caps, answers, serve, client_of):
    server = serve()
    client = client_of(server.url, caps=caps)

    def ask():
        for index in range(100):
            client.ask(LOOK, DecisionPlace(f"task/{index}", index, 0))

    with pytest.raises(CapReached, match="max_") as caught:
        ask()
    assert not caps.tokens or str(caught.value) == "max_tokens: 4,728 allowed, the next request could make it 4,812"
    assert len(server.seen) == answers == client.ledger.spent.requests
    assert caps.money is None or client.ledger.money <= caps.money


def test_a_server_that_counts_nothing_or_lies_is_charged_for_the_most(serve, client_of):
    for usage in (None, (-5, 10**15), ("7", True)):
        counted = usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        server = serve(reply(chat() | {"usage": counted}))
        assert client_of(server.url).ask(LOOK, PLACE).charged == (4096, 512)


def test_failures_that_may_have_cost_are_charged(serve, client_of):
    server = serve(hang_up(), error("500 Oops"), answer())
    client = client_of(server.url, retries=2)
    client.ask(LOOK, PLACE)
    assert [r.get("charged") for r in client.ledger.log.records] == [None, [4096, 512], None, [0, 0], None]
    assert client.ledger.spent.tokens_in == 4096 + 100


def test_a_cache_answers_the_same_decision_only(serve, client_of, tmp_path):
    server = serve(script=lambda _, number: answer(f"answer {number}"))
    places = [PLACE, DecisionPlace("task/0", 0, 1), DecisionPlace("task/1", 1, 0)]
    for _ in range(2):
        client = client_of(server.url, cache=tmp_path)
        assert [client.ask(LOOK, p).completion.text for p in places] == ["answer 1", "answer 2", "answer 3"]
    assert client.ask(LOOK, PLACE).number is None
    assert client.ledger.spent.requests == 0
    assert len(server.seen) == 3
    for i, path in enumerate(sorted(tmp_path.rglob("*.json"))):
        assert CANARY not in path.read_text()
        path.write_text(["", "[]", '{"text": 3}'][i])
    assert client.ask(LOOK, PLACE).completion.text == "answer 4"


def test_a_stop_is_heard_before_the_next_request(serve, client_of):
    server = serve()
    client = client_of(server.url)
    client.clock.stop.set()
    with pytest.raises(StopRequested):
        client.ask(LOOK, PLACE)
    assert server.connections == 0


def test_nobody_there(client_of):
    """At a port that this test has, so that nobody else begins to listen there."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(GaveUp, match="unreachable"):
            client_of(f"http://127.0.0.1:{deaf.getsockname()[1]}/v1").ask(LOOK, PLACE)


def test_a_name_that_nobody_knows(client_of, monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(GaveUp, match="unreachable"):
        client_of("http://nowhere.invalid/v1").ask(LOOK, PLACE)


@pytest.mark.usefixtures("looks")
def test_https_to_a_server_without_tls_shows_no_key(serve, client_of):
    server = serve()
    with pytest.raises(GaveUp, match=r"tls|timeout|disconnected"):
        client_of(server.url.replace("http://", "https://"), timeout=SHORT).ask(LOOK, PLACE)
    assert not server.seen


def test_proxies_of_the_environment_see_nothing(serve, client_of, monkeypatch):
    proxy, server = serve(), serve()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    client_of(server.url).ask(LOOK, PLACE)
    assert (proxy.connections, len(server.seen)) == (0, 1)


@pytest.mark.usefixtures("looks")
def test_time_is_bounded_also_where_a_server_does_not_read(client_of, serve):
    """A picture too large for the buffers, and a server that takes none of it: waiting for it would never end."""
    server = serve()
    server.finish_request = lambda connection, _: silence(connection, server.ended)
    with pytest.raises(GaveUp, match="timeout"):
        client_of(server.url, timeout=SHORT, retries=0).ask(Question("", "", b"x" * 30_000_000), PLACE)


def test_errors_carry_no_trace_of_the_exchange(serve):
    server = serve(hang_up())
    address = transport.Address.parse(server.url)
    with pytest.raises(transport.Broken) as caught:
        transport.post(address, ENDPOINTS["custom"], Key(CANARY, "CANARY"), b"{}", seconds=HANG)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert caught.value.sent


def test_headers_that_cannot_be_parsed_are_not_logged(serve, client_of, caplog):
    """urllib3 would log them with a traceback, the key that a server put there too."""
    server = serve(answer().replace(b"Content-Type", f"{CANARY}\r\nContent-Type".encode()))
    with pytest.raises(GaveUp):
        client_of(server.url, retries=0).ask(LOOK, PLACE)
    assert CANARY not in caplog.text


def test_what_a_server_does_not_count_is_charged_by_bytes(client_of, serve):
    server = serve(answer("x" * 9_000, usage=None))
    client = client_of(server.url)
    charged = client.ask(replace(LOOK, text="y" * 50_000), PLACE).charged
    assert charged == (int(server.seen[0].headers["content-length"]), 9_000)
    assert charged[0] > 50_000
