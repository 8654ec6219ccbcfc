"""Servers on this machine for the tests: one that answers as it is told, byte by byte if need be, and counts."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import socket
import socketserver
import struct
import threading

import numpy as np
from PIL import Image
from tests.waiting import HANG

from recommit.storage import jsonl
from recommit.zero_shot.parser import ACTIONS

GOOD = '{"h": 1, "actions": ["up"]}'


class Request:
    """What arrived."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.raw, self.line = head + body, lines[0]
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.body = json.loads(body) if body else {}

    def picture(self):
        """The picture in the body, as an array."""
        parts = self.body["messages"][-1]["content"]
        part = next(part for part in parts if part["type"].startswith("image"))
        text = part["image_url"]["url"].split(",")[1] if "image_url" in part else part["source"]["data"]
        return pixels(base64.b64decode(text))


def pixels(png):
    """The picture of a PNG file."""
    return np.asarray(Image.open(io.BytesIO(png)))


def reply(body, status="200 OK", headers=(), kind="application/json"):
    """The bytes of a whole reply."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(content)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


def error(status, message="no", headers=(), **more):
    """A reply that says what is wrong."""
    return reply({"error": {"message": message, **more}}, status, headers)


def chat(text=GOOD, *, model="tiny", finish="stop", usage=(100, 20), **message):
    """The body of an answer in the chat dialect."""
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)} if usage else None
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return {"id": "chat-1", "model": model, "choices": [choice], "usage": counted}


def answer(text=GOOD, **more):
    """A reply with an answer in the chat dialect."""
    return reply(chat(text, **more))


class Server(socketserver.ThreadingTCPServer):
    """Sends the given replies in turn, the last one again and again; or what ``script(request, number)`` says.

    A reply is bytes, or a function that does what it likes with the socket.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, *replies, script=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies, self.script = replies or (answer(),), script or self.in_turn
        self.seen, self.connections = [], 0
        self.ended = threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def in_turn(self, _, number):
        return self.replies[min(number, len(self.replies)) - 1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        """A client that went away is no news."""

    def close(self):
        self.ended.set()
        self.shutdown()
        self.server_close()


class _Handler(socketserver.BaseRequestHandler):
    def handle(self):
        server = self.server
        with server.lock:
            server.connections += 1
        self.request.settimeout(HANG)
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.request.recv(65536)
            if not piece:
                return
            head += piece
        head, _, body = head.partition(b"\r\n\r\n")
        size = next((int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length")), 0)
        while len(body) < size:
            body += self.request.recv(65536)
        request = Request(head, body)
        with server.lock:
            server.seen.append(request)
            number = len(server.seen)
        out = server.script(request, number)
        with contextlib.suppress(OSError):
            if callable(out):
                out(self.request, server.ended)
            else:
                self.request.sendall(out)
                self.request.shutdown(socket.SHUT_WR)


def drip(data, pause=0.05):
    """Send a byte at a time, forever if need be."""

    def send(connection, ended):
        for i in range(len(data)):
            connection.sendall(data[i : i + 1])
            if ended.wait(pause):
                return
        ended.wait()

    return send


def flood(head, piece):
    """Send ``head``, then ``piece`` again and again."""

    def send(connection, ended):
        connection.sendall(head)
        while not ended.is_set():
            connection.sendall(piece)

    return send


def silence(_, ended):
    """Never answer."""
    ended.wait()


class Held:
    """A script that answers all requests but number ``at`` and those after it, if any: whoever asks waits for ever."""

    at = None

    def __call__(self, _, number):
        return silence if self.at is not None and number >= self.at else answer()


def hang_up(data=b""):
    """Send ``data``, then reset the connection."""

    def send(connection, _):
        connection.sendall(data)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    return send


def expert(task, depth=8, words=ACTIONS):
    """A script that sees the picture, solves the puzzle and commits to the best actions, by these words."""

    def script(request, _):
        picture = np.ascontiguousarray(request.picture())[None]
        state = task.decode(picture, cell=picture.shape[1] // task.shape[0])
        plan = task.solve(state).actions
        count = max(h for h in (1, 2, 4, 8) if h <= min(depth, len(plan)))
        return answer(json.dumps({"h": count, "actions": [words[a] for a in plan[:count]]}))

    return script


def journal_of(out):
    """Every (instance, decision) of a journal; each at most once."""
    places = [(r["instance"], r["decision"]) for r in jsonl.read(out / "decisions.jsonl")]
    assert len(set(places)) == len(places)
    return places
