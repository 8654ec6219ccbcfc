"""The page of ``recommit play --browser``: it plays, and answers nobody but itself."""

from __future__ import annotations

import base64
import http.client
import io
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.cli.verbs.boards.test_play import LEVELS

from recommit.cli.verbs.boards.chosen_level import LevelRequest
from recommit.cli.verbs.boards.game.board_game import BoardGame
from recommit.cli.verbs.boards.game.local_page import LARGEST, LocalPage

pytest.importorskip("PIL")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[LocalPage]:
    (tmp_path / "pack.txt").write_text(LEVELS.replace("two", "<b>two</b>"))
    game = BoardGame(LevelRequest(tmp_path / "pack.txt", None, (), 2, None, 0).level)
    with LocalPage(game, cell=16) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    page: LocalPage, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", page.server_port, timeout=30)
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
