"""One POST by urllib3, bounded in time and bytes, to one host, on a connection of its own.

Nothing is followed, unpacked or reused: a redirect is a reply like any other, a compressed body is an error, and what
comes after the reply is never read. Proxies of the environment are not used. Errors carry no text of the server and
no frame that has seen the key.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import logging
import ssl
import time
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
    import socket
    from collections.abc import Mapping

    from recommit.zero_shot.secret import Key

#: All bytes of a reply together.
MOST_BYTES = 4 << 20
#: Seconds until one address of a host has taken the connection.
CONNECT_SECONDS = 10.0
PIECE = 1 << 16
#: A server that wants more patience than this gets no more.
LONGEST_WAIT = 120.0

# It would log headers that it cannot parse, and a server may have put the key there.
logging.getLogger("urllib3.connection").addFilter(lambda _: False)


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
        if parts.scheme not in ("http", "https") or not parts.hostname or not plain or port == 0:
            raise wrong
        default = 443 if parts.scheme == "https" else 80
        return cls(parts.scheme, parts.hostname, port or default, parts.path.rstrip("/"))

    @property
    def local(self) -> bool:
        """Does it stay on this machine?"""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == (443 if self.scheme == "https" else 80) else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


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


class _TooMuch(Exception):
    pass


class _Encoded(Exception):
    pass


def retry_after(value: str | None) -> float:
    """Seconds to wait by a ``Retry-After`` header, in 0..LONGEST_WAIT; 0 where it is absent or no time."""
    try:
        return min(float(Retry().parse_retry_after(value or "0")), LONGEST_WAIT)
    except (ValueError, OverflowError, exceptions.HTTPError):
        return 0.0


def post(address: Address, key: Key, body: bytes, *, seconds: float, most: int = MOST_BYTES) -> Reply:
    """Send ``body`` as JSON, with the key as a bearer token, and wait for the reply."""
    exchange = _Exchange(time.monotonic() + seconds, most)
    try:
        return exchange.run(address, key, body)
    except _TooMuch:
        kind = "too_large"
    except _Encoded:
        kind = "encoded"
    except (UnicodeError, exceptions.LocationParseError, exceptions.NewConnectionError):  # no address, or nobody there
        kind = "unreachable"
    except (TimeoutError, exceptions.TimeoutError):
        kind = "timeout"
    except (ssl.SSLError, exceptions.SSLError):
        kind = "tls"
    except (OSError, http.client.IncompleteRead, exceptions.ProtocolError):
        kind = "disconnected" if exchange.sent else "unreachable"
    except (http.client.HTTPException, exceptions.HTTPError, ValueError):
        kind = "no_http"
    finally:
        exchange.end()
    # Raised here, where no exception is being handled: the frames that held the key are gone.
    raise Broken(kind, exchange.sent)


class _Exchange(io.RawIOBase):
    """One connection, and what urllib3 writes to and reads from in place of its socket: this one knows when and how
    much is enough, whatever the server sends, in headers too."""

    def __init__(self, deadline: float, most: int) -> None:
        super().__init__()
        self.deadline, self.remaining_bytes, self.sent = deadline, most, False
        self._socket: socket.socket | None = None

    def run(self, address: Address, key: Key, body: bytes) -> Reply:
        kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
        connection: Any = kind(address.host, address.port, timeout=min(self._seconds(), CONNECT_SECONDS))
        connection.connect()
        self._socket, connection.sock = connection.sock, self
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "Content-Type": "application/json",
            "User-Agent": "recommit",
        }
        if key:
            headers["Authorization"] = f"Bearer {key.reveal()}"
        path = f"{address.path}/chat/completions"
        connection.request("POST", path, body, headers, preload_content=False, decode_content=False)
        response = connection.getresponse()
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise _Encoded
        pieces = []
        while piece := response.read(PIECE):
            pieces.append(piece)
        return Reply(response.status, response.headers, b"".join(pieces))

    def end(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def close(self) -> None:
        """Nothing yet: urllib3 lets go of a socket before the reply is read."""

    def settimeout(self, _: float | None) -> None:
        """Nothing: the deadline decides."""

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            connection = self._ready()
            self.sent = True
            view = view[connection.send(view) :]

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(self, PIECE)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._ready().recv_into(buffer)
        self.remaining_bytes -= count
        if self.remaining_bytes < 0:
            raise _TooMuch
        return count

    def _ready(self) -> socket.socket:
        """The socket, which waits until the deadline and no longer."""
        assert self._socket is not None
        self._socket.settimeout(self._seconds())
        return self._socket

    def _seconds(self) -> float:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds
