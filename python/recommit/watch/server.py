"""A server for one page on this machine: it gives out the page, and plays where the page asks for it.

It listens at 127.0.0.1 alone, on a port that the system chooses. It answers who knows the token in the address, asks
this machine by name, and is no page of another place. No file is read or written, and no request names one.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.watch import match as match_of
from recommit.watch.match import MOST_BUDGET, MOST_SIDE, Level

if TYPE_CHECKING:
    from recommit.watch.match import Match

HOST = "127.0.0.1"
#: Bytes of a request at most, and seconds that one may take to come in.
MOST, PATIENCE = 1 << 16, 10.0
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class MatchServer(ThreadingHTTPServer):
    """Serves a page and its match until it is closed."""

    daemon_threads = True
    request_queue_size = 128  # connections that are opened and say nothing do not keep others away

    def __init__(self, match: Match, page: str) -> None:
        super().__init__((HOST, 0), MatchHandler)
        self.match, self.page = match, page.encode()
        self.token, self.playing = secrets.token_urlsafe(24), threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves in the middle of an answer is no fault."""

    @property
    def address(self) -> str:
        """Of the page."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"


class MatchHandler(BaseHTTPRequestHandler):
    """One request."""

    server: MatchServer
    timeout = PATIENCE
    server_version, sys_version = "recommit", ""

    def setup(self) -> None:
        """From now on a request has so long to come in, however many bytes of it come now and then."""
        super().setup()
        self._late = threading.Timer(PATIENCE, self._hear_no_more)
        self._late.daemon = True
        self._late.start()

    def finish(self) -> None:
        """It was answered."""
        self._late.cancel()
        super().finish()

    def _hear_no_more(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def do_GET(self) -> None:
        """The page."""
        if self._asked("") and self._allowed():
            self._send(200, self.server.page, "text/html; charset=utf-8")
        else:
            self._refuse(403)

    def do_POST(self) -> None:
        """What the page asks for."""
        name = next((name for name in ANSWERS if self._asked(name)), None)
        if name is None or not self._allowed() or self.headers.get_content_type() != "application/json":
            return self._refuse(403)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) <= len(str(MOST)) and int(length) <= MOST):
            return self._refuse(413)
        status, said = _answer(self.server, name, self.rfile.read(int(length)))
        return self._send(status, json.dumps(said).encode(), "application/json")

    def _asked(self, name: str) -> bool:
        """Is it this that is asked for, by one who has the token?"""
        return hmac.compare_digest(self.path.encode("utf-8", "replace"), f"/{self.server.token}/{name}".encode())

    def _allowed(self) -> bool:
        """A name from anywhere may lead here, and a page from anywhere make a browser ask."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        own = host in (f"{HOST}:{self.server.server_port}", f"localhost:{self.server.server_port}")
        return own and origin in (None, f"http://{host}")

    def _refuse(self, status: int) -> None:
        self._send(status, b"this server answers its own page alone\n", "text/plain")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written down: addresses have the token in them."""


def _answer(server: MatchServer, name: str, body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and values; one request at a time, since a policy's graph grows."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        return 400, {"error": "request: expected a JSON object, got something else"}
    try:
        with server.playing:
            return 200, ANSWERS[name](server.match, asked)
    except (ValueError, LookupError) as error:
        return 400, {"error": str(error)}
    except Exception as error:  # noqa: BLE001  (whoever watches is told, and goes on)
        return 500, {"error": f"{type(error).__name__}: {error}"}


def _level(match: Match, asked: dict[str, Any]) -> dict[str, Any]:
    """A level by its number, or of a text."""
    if "text" in asked:
        return match_of.pasted(_value(asked, "text", str), match.about.task).described()
    number = _number(asked, "number", 0, (1 << 53) - 1)
    return {**match.level(number).described(), "number": number}


def _episode(match: Match, asked: dict[str, Any]) -> dict[str, Any]:
    """An episode from a state."""
    left, depth = _number(asked, "left", 1, MOST_BUDGET), _number(asked, "depth", 0, match.about.fixed[-1])
    return match.episode(_state(match, asked), left, depth).packed()


def _distance(match: Match, asked: dict[str, Any]) -> dict[str, Any]:
    """How far a state is from the goal."""
    return {"distance": match_of.distance(_state(match, asked))}


ANSWERS = {"level": _level, "episode": _episode, "distance": _distance}


def _state(match: Match, asked: dict[str, Any]) -> Level:
    rows, cols = (_number(asked, name, 1, MOST_SIDE) for name in ("rows", "cols"))
    cells = bytes.fromhex(_value(asked, "state", str))
    if len(cells) != rows * cols:
        raise ValueError(f"state: expected {rows} x {cols} cells, got {len(cells)}")
    return match_of.of_state(match.about.task, np.frombuffer(cells, np.uint8).reshape(rows, cols), "")


def _value(asked: dict[str, Any], name: str, kind: type) -> Any:
    value = asked.get(name)
    if type(value) is not kind:
        raise ValueError(f"{name}: expected {kind.__name__}, got {type(value).__name__}")
    return value


def _number(asked: dict[str, Any], name: str, least: int, most: int) -> int:
    value: int = _value(asked, name, int)
    if not least <= value <= most:
        raise ValueError(f"{name}: expected {least}..{most}, got {value}")
    return value
