"""Who is answered by the server of a match, and who is not: each claim of docs/security.md."""

from __future__ import annotations

import http.client
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.watch.scripted import LEVEL, ScriptedMatch
from tests.waiting import HANG

from recommit.watch import server as server_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.watch.server import MatchServer

PAGE = "<html>the page</html>"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server(serve: Callable[..., MatchServer]) -> MatchServer:
    return serve(ScriptedMatch(), PAGE)


def ask(
    server: MatchServer, path: str, body: bytes | None = None, method: str = "", **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=HANG)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method or ("GET" if body is None else "POST"), path, body, named)
    answer = connection.getresponse()
    result = answer.status, answer.read(), answer.headers
    connection.close()
    return result


def post(server: MatchServer, name: str, values: Any, **headers: str) -> tuple[int, Any]:
    body = values if isinstance(values, bytes) else json.dumps(values).encode()
    status, said, _ = ask(server, f"/{server.token}/{name}", body, **{**JSON, **headers})
    return status, json.loads(said) if said.startswith(b"{") else said


def state(server: MatchServer) -> dict[str, Any]:
    each = server.match.level(0).described()
    return {name: each[name] for name in ("rows", "cols", "state")}


def test_it_listens_at_this_machine_alone(server: MatchServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    assert len(server.token) >= 32


def test_tokens_are_drawn_anew(serve: Callable[..., MatchServer]) -> None:
    assert serve(ScriptedMatch(), PAGE).token != serve(ScriptedMatch(), PAGE).token


def test_the_page_may_not_be_kept_framed_or_guessed_at(server: MatchServer) -> None:
    status, said, headers = ask(server, f"/{server.token}/")
    assert (status, said) == (200, PAGE.encode())
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/", "/{token}", "/{token}x/", "/{other}/", "/{token}/../", "/{token}/level", "//", "*"]
)
def test_a_get_without_the_token_or_of_anything_else_is_refused(server: MatchServer, path: str) -> None:
    other = "A" * len(server.token)
    status, said, _ = ask(server, path.format(token=server.token, other=other))
    assert status == 403
    assert PAGE.encode() not in said


@pytest.mark.parametrize("path", ["/level", "/{other}/level", "/{token}/", "/{token}/page", "/{token}/level/"])
def test_a_post_without_the_token_or_to_anything_else_is_refused(server: MatchServer, path: str) -> None:
    words = path.format(token=server.token, other="A" * len(server.token))
    assert ask(server, words, b'{"number": 0}', **JSON)[0] == 403


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1", "127.0.0.1:1", "localhost.example.org:{port}", ""])
def test_another_name_that_leads_here_is_refused(server: MatchServer, host: str) -> None:
    named = host.format(port=server.server_port)
    assert ask(server, f"/{server.token}/", Host=named)[0] == 403
    assert post(server, "level", {"number": 0}, Host=named)[0] == 403


def test_localhost_is_this_machine(server: MatchServer) -> None:
    assert ask(server, f"/{server.token}/", Host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://example.org", "null", "https://127.0.0.1:{port}", "http://localhost:{port}"]
)
def test_a_page_from_elsewhere_is_refused(server: MatchServer, origin: str) -> None:
    assert post(server, "level", {"number": 0}, Origin=origin.format(port=server.server_port))[0] == 403
    assert post(server, "level", {"number": 0}, Origin=f"http://127.0.0.1:{server.server_port}")[0] == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_form_of_another_page_could_send_is_refused(server: MatchServer, kind: str) -> None:
    assert post(server, "level", {"number": 0}, **{"Content-Type": kind})[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_nothing_but_get_and_post_is_answered(server: MatchServer, method: str) -> None:
    assert ask(server, f"/{server.token}/", method=method)[0] == 501


def test_a_request_has_a_limit_and_must_say_its_size(server: MatchServer) -> None:
    whole = json.dumps({"number": 0}).encode().ljust(server_module.MOST)
    assert post(server, "level", whole)[0] == 200
    for length in (str(server_module.MOST + 1), "9" * 5000, "00000000099999999999", "-1", "1e3", "\u0661", ""):
        with socket.create_connection(("127.0.0.1", server.server_port), HANG) as connection:
            head = f"POST /{server.token}/level HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
            words = f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            connection.sendall(words.encode())
            assert connection.recv(100).split(b" ")[1] == b"413", length


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("level", b"[1]", "request: expected a JSON object"),
        ("level", b"{", "request: expected a JSON object"),
        ("level", b"\xff", "request: expected a JSON object"),
        ("level", b"[" * 60_000, "request: expected a JSON object"),
        ("level", {}, "number: expected int, got NoneType"),
        ("level", {"number": True}, "number: expected int, got bool"),
        ("level", {"number": -1}, "number: expected 0..9007199254740991, got -1"),
        ("level", {"number": 2}, "there are two levels"),
        ("level", {"text": 7}, "text: expected str, got int"),
        ("level", {"text": "nothing"}, "level"),
        ("level", {"text": "1 2 3\n4 5 6\n7 8 0\n"}, "level: expected one of sokoban, got one of sliding"),
        ("episode", {"left": 100, "depth": 0}, "left: expected 1..99, got 100"),
        ("episode", {"left": 0, "depth": 0}, "left: expected 1..99, got 0"),
        ("episode", {"left": 1, "depth": 9}, "depth: expected 0..8, got 9"),
        ("distance", {"rows": 65}, "rows: expected 1..64, got 65"),
        ("distance", {"rows": 5, "cols": 6, "state": "00"}, "state: expected 5 x 6 cells, got 1"),
        ("distance", {"rows": 1, "cols": 1, "state": "zz"}, "non-hexadecimal"),
        ("distance", {"rows": 1, "cols": 1, "state": "ff"}, "states"),
    ],
)
def test_whatever_does_not_fit_is_an_error_that_says_why(
    server: MatchServer, name: str, values: Any, said: str
) -> None:
    status, answer = post(server, name, values)
    assert status == 400
    assert said in answer["error"]
    assert post(server, name, {**state(server), "number": 0, "left": 1, "depth": 0})[0] == 200, "it goes on"


def test_it_plays_from_any_state(server: MatchServer) -> None:
    status, level = post(server, "level", {"number": 1})
    assert (status, level["number"], level["rows"], level["cols"]) == (200, 1, 5, 6)
    pasted = post(server, "level", {"text": LEVEL})[1]
    assert pasted["state"] == level["state"]
    assert "number" not in pasted
    played = post(server, "episode", {**state(server), "left": 1, "depth": 0})[1]
    assert (played["h"], played["x"], played["d"], played["solved"]) == ("1", "1", [2, 1], False)
    assert post(server, "distance", state(server))[1] == {"distance": 2}


def test_a_request_that_comes_by_and_by_is_not_waited_for(server: MatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and the whole would take hours."""
    monkeypatch.setattr(server_module, "PATIENCE", 0.0)
    monkeypatch.setattr(server_module.MatchHandler, "timeout", None)  # of a byte: as if it had come
    with socket.create_connection(("127.0.0.1", server.server_port), HANG) as connection:
        connection.sendall(f"GET /{server.token}/ HTTP/1.1\r\nX: ".encode())
        connection.recv(1)


def test_nothing_is_written_down(server: MatchServer, capfd: pytest.CaptureFixture[str]) -> None:
    ask(server, f"/{server.token}/")
    ask(server, "/elsewhere")
    post(server, "level", {"number": 0})
    assert capfd.readouterr() == ("", "")
