"""``recommit play --browser``: one page, from this machine to this machine, by the standard library's server.

The address holds a word that nobody can guess, so that neither another user nor a page from elsewhere can open it. A
request must name this host, which a foreign name that leads here does not; a move must come from the page itself. No
answer allows another origin to read it, and the page loads nothing.
"""

from __future__ import annotations

import base64
import json
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from recommit.cli.flags import WrongCall
from recommit.cli.game import WORDS
from recommit.puzzles.frames import encode_png
from recommit.storage.terminal_text import plain, say

if TYPE_CHECKING:
    from recommit.cli.game import BoardGame

HOST = "127.0.0.1"
#: A move is a few bytes of JSON.
LARGEST = 200
#: Connections at once, and seconds that one may be silent: whoever else is on this machine can open some, too.
MOST, SILENT = 32, 300

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>recommit play</title>
<style nonce="NONCE">
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 46rem; padding: 0 1rem; text-align: center;
  background: BACK; color: INK }
img { max-width: 100%; image-rendering: pixelated; border-radius: 4px }
h1 { font-size: 1.1rem; font-weight: 600 }
button { font: inherit; padding: .5rem .9rem; margin: .2rem; border-radius: 6px; border: 1px solid; background: none;
  color: inherit; cursor: pointer }
#note { min-height: 1.5em }
</style>
<h1 id="title"></h1>
<img id="board" alt="the board">
<p id="summary" aria-live="polite"></p><p id="note" aria-live="polite"></p>
<p><button data-key="left">left</button><button data-key="up">up</button><button data-key="down">down</button
><button data-key="right">right</button></p>
<p><button data-key="undo">undo (u)</button><button data-key="restart">restart (r)</button
><button data-key="hint">hint (?)</button><button data-key="next">next (n)</button></p>
<script nonce="NONCE">
const words = {ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", ...KEYS}
let last = Promise.resolve()
const press = key => { last = last.then(() => send(key)) }
async function send(key) {
  try {
    const answer = await fetch("key", {method: "POST", headers: {"Content-Type": "application/json"},
      body: JSON.stringify({key})})
    const game = await answer.json()
    for (const name of ["title", "summary", "note"]) document.getElementById(name).textContent = game[name]
    document.getElementById("board").src = game.picture
  } catch { document.getElementById("note").textContent = "recommit play has ended" }
}
addEventListener("keydown", event => {
  const key = words[event.key]
  if (!key || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  press(key)
})
for (const button of document.querySelectorAll("button"))
  button.addEventListener("click", () => press(button.dataset.key))
press("show")
</script>
"""
_COLOURS = {"light": ("#ffffff", "#1f2430"), "dark": ("#14171c", "#e7e9ee")}


class LocalPage(ThreadingHTTPServer):
    """The server of one game; ``path`` is where it answers."""

    daemon_threads = True

    def __init__(self, game: BoardGame, port: int = 0, cell: int = 56, theme: str = "light") -> None:
        super().__init__((HOST, port), _Handler)
        self.game, self.cell, self.theme = game, cell, theme
        self.path = f"/{secrets.token_urlsafe(16)}/"
        self.one_at_a_time = threading.Lock()
        self.free = threading.Semaphore(MOST)

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for each connection, as long as there are few."""
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone in the middle of an answer."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{HOST}:{self.server_port}{self.path}"

    def page(self, nonce: str) -> bytes:
        """The page, whose script and style alone may run."""
        keys = {key: word for key, word in WORDS.items() if len(key) == 1 and word != "quit"}
        back, ink = _COLOURS[self.theme]
        filled = _PAGE.replace("NONCE", nonce).replace("KEYS", json.dumps(keys))
        return filled.replace("BACK", back).replace("INK", ink).encode()

    def pressed(self, key: str) -> bytes:
        """What the page shows after a key."""
        with self.one_at_a_time:
            self.game.press(key)
            shown = {"title": plain(self.game.chosen.title), "summary": self.game.summary(), "note": self.game.note}
            return json.dumps({**shown, "picture": self._picture()}).encode()

    def _picture(self) -> str:
        image = self.game.chosen.task.render(self.game.state[None], self.cell, theme=self.theme)[0]
        return f"data:image/png;base64,{base64.b64encode(encode_png(image)).decode()}"


class _Handler(BaseHTTPRequestHandler):
    server: LocalPage
    timeout = SILENT

    def do_GET(self) -> None:
        """The page."""
        if not self._from_here() or self.path != self.server.path:
            self._refuse()
            return
        nonce = secrets.token_urlsafe(16)
        self._answer(self.server.page(nonce), "text/html; charset=utf-8", nonce)

    def do_POST(self) -> None:
        """A key, as the page sends it."""
        own = self.path == f"{self.server.path}key" and self._from_here()
        key = self._key() if own and self.headers.get("Content-Type") == "application/json" else None
        if key is None:
            self._refuse()
            return
        self._answer(self.server.pressed(key), "application/json", "")

    def _from_here(self) -> bool:
        """Does the request name this host, and come from no other page?"""
        hosts = [f"{name}:{self.server.server_port}" for name in (HOST, "localhost")]
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in hosts and origin in (None, *(f"http://{host}" for host in hosts))

    def _key(self) -> str | None:
        length = self.headers.get("Content-Length", "")
        # More digits than the limit has are not made a number, which Python refuses to do with thousands.
        if not length.isdecimal() or len(length) > len(str(LARGEST)) or int(length) > LARGEST:
            return None
        try:
            body: Any = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return None
        key = body.get("key") if isinstance(body, dict) else None
        return key if isinstance(key, str) and key != "quit" else None

    def _refuse(self) -> None:
        self.close_connection = True
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, content: bytes, kind: str, nonce: str) -> None:
        own = f"script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; " if nonce else ""
        policy = f"default-src 'none'; {own}img-src data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        self.send_response(200)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing of requests."""


def serve(game: BoardGame, port: int, cell: int, theme: str) -> None:
    """Serve the page until Ctrl-C."""
    try:
        page = LocalPage(game, port, cell, theme)
    except OSError as error:
        raise WrongCall(f"port: expected one that is free and that you may use, got {port}: {error.strerror}") from None
    with page as server:
        say(f"open {server.address}\nCtrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say()
