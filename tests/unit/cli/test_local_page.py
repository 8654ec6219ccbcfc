"""The page of ``recommit play --browser``: it plays, and answers nobody but itself."""

from __future__ import annotations

import base64
import http.client
import io
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.cli.verbs.test_play import LEVELS
from tests.waiting import HANG, until

from recommit.cli.boards import LevelOptions
from recommit.cli.game import BoardGame
from recommit.cli.local_page import LARGEST, MOST, LocalPage

pytest.importorskip("PIL")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[LocalPage]:
    (tmp_path / "pack.txt").write_text(LEVELS.replace("two", "<b>two</b>"))
    game = BoardGame(LevelOptions(file=tmp_path / "pack.txt").level)
    with LocalPage(game, cell=16) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    page: LocalPage, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", page.server_port, timeout=HANG)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, names)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def press(page: LocalPage, key: object, **headers: str) -> tuple[int, dict[str, str], bytes]:
    kind = {"Content_Type": "application/json", **headers}
    return ask(page, "POST", f"{page.path}key", json.dumps({"key": key}).encode(), **kind)


def test_a_level_is_played_to_its_end(page: LocalPage) -> None:
    from PIL import Image

    status, headers, content = ask(page, "GET", page.path)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    nonces = set(re.findall(rb'nonce="([^"]+)"', content))
    assert len(nonces) == 1
    assert f"script-src 'nonce-{nonces.pop().decode()}'" in headers["Content-Security-Policy"]
    assert not re.search(rb"(src|href)=\"http", content), "nothing is loaded from elsewhere"
    for key in ("right", "right"):
        status, headers, content = press(page, key)
    shown = json.loads(content)
    assert (shown["title"], shown["summary"]) == ("<b>two</b>", "solved with 2 actions; the fewest are 2")
    with Image.open(io.BytesIO(base64.b64decode(shown["picture"].partition(",")[2]))) as image:
        assert image.size == (6 * 16, 3 * 16)
    assert "Access-Control-Allow-Origin" not in headers


def test_titles_never_become_markup(page: LocalPage) -> None:
    assert b"innerHTML" not in page.page("x")
    assert b"textContent" in page.page("x")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/key", {}),
        ("{path}other", {}),
        ("{path}", {"Host": "evil.example:{port}"}),
        ("{path}", {"Host": "127.0.0.1"}),
        ("{path}", {"Origin": "http://evil.example"}),
        ("{path}", {"Origin": "null"}),
    ],
)
def test_what_is_not_asked_for_by_this_page_is_not_there(page: LocalPage, path: str, headers: dict[str, str]) -> None:
    own = {name: value.format(port=page.server_port) for name, value in headers.items()}
    status, _, content = ask(page, "GET", path.format(path=page.path), **own)
    assert (status, content) == (404, b"")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_foreign_page_cannot_move(page: LocalPage, headers: dict[str, str]) -> None:
    assert press(page, "right", **headers)[0] == 404
    assert page.game.summary() == "0 actions"
    own = f"http://127.0.0.1:{page.server_port}"
    assert press(page, "right", Origin=own)[0] == 200
    assert page.game.summary() == "1 action"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"key": 3}', b'{"key": "quit"}', b" " * (LARGEST + 1)])
def test_a_body_that_is_no_key_is_refused(page: LocalPage, body: bytes) -> None:
    assert ask(page, "POST", f"{page.path}key", body, Content_Type="application/json")[0] == 404
    assert not page.game.over


def test_it_listens_to_this_machine_alone(page: LocalPage) -> None:
    assert page.server_address[0] == "127.0.0.1"
    assert len(page.path) > 20
    assert page.address.startswith(f"http://127.0.0.1:{page.server_port}/")


@pytest.mark.parametrize("length", ["", "-1", "9" * 5000, "1e2", "\u0663"])
def test_a_length_that_is_none_is_refused(page: LocalPage, length: str, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_connection(("127.0.0.1", page.server_port)) as link:
        lines = [
            f"POST {page.path}key HTTP/1.0",
            f"Host: 127.0.0.1:{page.server_port}",
            "Content-Type: application/json",
            f"Content-Length: {length}",
        ]
        link.sendall("\r\n".join([*lines, "", ""]).encode("utf-8"))
        assert b" 404 " in link.makefile("rb").readline()
    assert capfd.readouterr().err == ""


def test_silent_connections_are_few_and_hold_nobody_up_for_ever(page: LocalPage) -> None:
    """Whoever is on this machine can open connections; without a limit each of them would be a thread for ever."""
    silent = [socket.create_connection(("127.0.0.1", page.server_port)) for _ in range(MOST)]
    until(lambda: page.free._value == 0)
    with socket.create_connection(("127.0.0.1", page.server_port)) as one_more:
        assert one_more.recv(1) == b""
    for link in silent:
        link.close()
    until(lambda: page.free._value == MOST)
    assert press(page, "right")[0] == 200


def test_a_browser_that_leaves_is_no_news(page: LocalPage, capfd: pytest.CaptureFixture[str]) -> None:
    try:
        raise BrokenPipeError
    except BrokenPipeError:
        page.handle_error(None, None)
    assert capfd.readouterr().err == ""
    try:
        raise ValueError
    except ValueError:
        page.handle_error(None, None)
    assert "ValueError" in capfd.readouterr().err


def test_next_after_the_last_level_is_said(page: LocalPage) -> None:
    for _ in range(3):
        status, _, content = press(page, "next")
        assert status == 200
    assert json.loads(content)["note"] == "this is the last level"
