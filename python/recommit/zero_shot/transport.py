"""One POST by urllib3, bounded in time and bytes, to one host, on a connection of its own.

Nothing is followed, unpacked or reused: a redirect is a reply like any other, a compressed body is an error, and what
comes after the reply is never read. Proxies of the environment are not used. Errors carry no text of the server and
no frame that has seen the key.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import logging
import re
import socket
import ssl
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recommit.storage.errors import need

try:
    from urllib3 import Retry, exceptions
    from urllib3.connection import HTTPConnection, HTTPSConnection
except ImportError:
    raise need("urllib3", "zero-shot") from None

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recommit.zero_shot.secret import Key

#: All bytes of a reply together.
MOST_BYTES = 4 << 20
#: Seconds until one address of a host has taken the connection.
CONNECT_SECONDS = 10.0
PIECE = 1 << 16
#: A server that wants more patience than this gets no more.
LONGEST_WAIT = 120.0

#: Of letters, or the numbers of IPv6: a host is named in commands that a person may copy into a shell, where one that
#: begins with a dash would be a flag.
_HOST = re.compile(r"\w[\w.-]*|[0-9a-f:.]+", re.ASCII)
#: Has this thread a request of ours under way? urllib3 would log headers that it cannot parse, and a server may put
#: the key there; what others ask through urllib3 is logged as ever.
_OURS = threading.local()
logging.getLogger("urllib3.connection").addFilter(lambda _: not getattr(_OURS, "asking", False))


@dataclass(frozen=True)
class Address:
    """Scheme, host, port and path of a server. There is no place for a password or a query in it."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """From a base address; what it says is not repeated in errors, since it might be a secret."""
        wrong = ValueError(
            "base_url: expected http(s)://host[:port][/path] without user name, password, query or fragment, "
            "got another text"
        )
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise wrong from None
        plain = text.isascii() and text.isprintable() and not any(c in text for c in " \\@?#")
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not plain or port == 0 or not _HOST.fullmatch(host):
            raise wrong
        default = 443 if parts.scheme == "https" else 80
        return cls(parts.scheme, host, port or default, parts.path.rstrip("/"))

    @property
    def local(self) -> bool:
        """Does it stay on this machine?"""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def place(self) -> str:
        """The host, and its port where that is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.scheme == "https" else 80) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}{self.path}"


@dataclass(frozen=True)
class Reply:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Broken(Exception):
    """No whole reply. ``sent`` tells whether the server may have got the request, and be paid for it."""

    def __init__(self, kind: str, sent: bool) -> None:
        super().__init__(kind)
        self.kind, self.sent = kind, sent


def retry_after(value: str | None) -> float:
    """Seconds to wait by a ``Retry-After`` header, in 0..LONGEST_WAIT; 0 where it is absent or no time."""
    try:
        return min(float(Retry().parse_retry_after(value or "0")), LONGEST_WAIT)
    except (ValueError, OverflowError, exceptions.HTTPError):
        return 0.0


def post(address: Address, key: Key, body: bytes, *, seconds: float, most: int = MOST_BYTES) -> Reply:
    """Send ``body`` as JSON, with the key as a bearer token, and wait so long for the whole reply."""
    maker = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection: Any = maker(address.host, address.port, timeout=min(seconds, CONNECT_SECONDS))
    late, sent, watch = threading.Event(), False, None
    reply: Reply | None = None
    _OURS.asking = True
    try:
        connection.connect()
        connection.sock.settimeout(seconds)
        sent = True
        _send(connection, f"{address.path}/chat/completions", key, body)
        watch = threading.Timer(seconds, _hang_up, (connection.sock, late))
        watch.daemon = True
        watch.start()
        reply, kind = _read(connection.getresponse(), most)
    except (UnicodeError, exceptions.LocationParseError, exceptions.NewConnectionError):  # no address, or nobody there
        kind = "unreachable"
    except (TimeoutError, exceptions.TimeoutError):
        kind = "timeout"
    except (ssl.SSLError, exceptions.SSLError):
        kind = "tls"
    except (OSError, http.client.IncompleteRead, exceptions.ProtocolError):
        kind = "disconnected" if sent else "unreachable"
    except (http.client.HTTPException, exceptions.HTTPError, ValueError):
        kind = "no_http"
    finally:
        _OURS.asking = False
        if watch is not None:
            watch.cancel()
        connection.close()
    if reply is not None and not late.is_set():
        return reply
    # Raised here, where no exception is being handled: the frames that held the key are gone, and what came back is.
    reply = None
    raise Broken("timeout" if late.is_set() else kind, sent)


def _send(connection: Any, path: str, key: Key, body: bytes) -> None:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "User-Agent": "recommit",
    }
    if key:
        headers["Authorization"] = f"Bearer {key.reveal()}"
    connection.request("POST", path, body, headers, preload_content=False, decode_content=False)


def _hang_up(sock: socket.socket, late: threading.Event) -> None:
    """End whatever waits for the server: a socket's own time limit begins anew with every byte."""
    late.set()
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _read(response: Any, most: int) -> tuple[Reply | None, str]:
    """A reply, or of which kind the one is that cannot be taken."""
    content = bytearray()
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        return None, "encoded"
    while len(content) <= most and (piece := response.read(PIECE)):
        content += piece
    if len(content) > most:
        return None, "too_large"
    return Reply(response.status, response.headers, bytes(content)), ""
