"""One POST over HTTP/1.1, bounded in time and bytes, to one host, on a connection of its own.

Nothing is followed, unpacked or reused: a redirect is a reply like any other, a compressed body is an error, and what
comes after the reply is never read. Proxies of the environment are not used. Errors carry no text of the server and
no frame that has seen the key.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import ssl
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recommit.zero_shot.http.secret import Key

if TYPE_CHECKING:
    from collections.abc import Sequence

#: All bytes of a reply together.
MOST_BYTES = 4 << 20
#: Seconds until one address of a host has taken the connection.
CONNECT_SECONDS = 10.0


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

    @property
    def authority(self) -> str:
        """Host and port, as the header Host has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.scheme == "https" else 80) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


@dataclass(frozen=True)
class Reply:
    """What came back, whole."""

    status: int
    headers: dict[str, str]
    body: bytes


class Broken(Exception):
    """No whole reply. ``asked`` tells whether the server may have got the request, and be paid for it."""

    def __init__(self, kind: str, sent: bool) -> None:
        super().__init__(kind)
        self.kind, self.sent = kind, sent


def post(
    address: Address,
    path: str,
    headers: Sequence[tuple[str, str | tuple[str, Key]]],
    body: bytes,
    *,
    seconds: float,
    most: int = MOST_BYTES,
) -> Reply:
    """Send ``body`` as JSON and wait for the reply. A header's value is a text, or a prefix and a key."""
    exchange = _Exchange(address, time.monotonic() + seconds, most)
    try:
        return exchange.run(path, headers, body)
    except _TooMuch:
        kind = "too_large"
    except _Encoded:
        kind = "encoded"
    except TimeoutError:
        kind = "timeout"
    except ssl.SSLError:
        kind = "tls"
    except (OSError, UnicodeError, http.client.IncompleteRead):  # UnicodeError: a host's name that is none
        kind = "disconnected" if exchange.sent else "unreachable"
    except (http.client.HTTPException, ValueError):
        kind = "no_http"
    finally:
        exchange.close()
    # Raised here, where no exception is being handled: the frames that held the key are gone.
    raise Broken(kind, exchange.sent)


@cache
def _tls() -> ssl.SSLContext:
    """Certificates and the name of the host are checked."""
    return ssl.create_default_context()


class _TooMuch(Exception):
    pass


class _Encoded(Exception):
    pass


class _Exchange:
    """One connection."""

    def __init__(self, address: Address, deadline: float, most: int) -> None:
        self.address, self.deadline, self.most = address, deadline, most
        self.sent = False
        self._socket: socket.socket | None = None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def run(self, path: str, headers: Sequence[tuple[str, str | tuple[str, Key]]], body: bytes) -> Reply:
        self._socket = connection = self._connect()
        self._send(connection, _request(self.address, path, headers, body))
        # It asks of a socket what _Incoming has.
        incoming: Any = _Incoming(connection, self.deadline, self.most)
        response = http.client.HTTPResponse(incoming, method="POST")
        response.begin()
        headers_back = {name.lower(): value for name, value in reversed(response.getheaders())}
        if headers_back.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise _Encoded
        pieces = []
        while piece := response.read(1 << 16):
            pieces.append(piece)
        if response.length:
            raise ConnectionError  # fewer bytes than were promised
        return Reply(response.status, headers_back, b"".join(pieces))

    def _left(self) -> float:
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        return remaining

    def _connect(self) -> socket.socket:
        last: OSError = OSError("no address")
        for family, kind, protocol, _, where in socket.getaddrinfo(
            self.address.host, self.address.port, type=socket.SOCK_STREAM
        ):
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(min(self._left(), CONNECT_SECONDS))
                connection.connect(where)
                return self._secured(connection)
            except BaseException as error:
                connection.close()
                if not isinstance(error, OSError) or isinstance(error, ssl.SSLError):
                    raise
                last = error
        raise last

    def _secured(self, connection: socket.socket) -> socket.socket:
        if self.address.scheme == "http":
            return connection
        connection.settimeout(self._left())
        return _tls().wrap_socket(connection, server_hostname=self.address.host)

    def _send(self, connection: socket.socket, data: bytes) -> None:
        view = memoryview(data)
        while view:
            connection.settimeout(self._left())
            self.sent = True
            view = view[connection.send(view) :]


def _request(address: Address, path: str, headers: Sequence[tuple[str, str | tuple[str, Key]]], body: bytes) -> bytes:
    fixed = [
        ("Host", address.authority),
        ("Accept", "application/json"),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("User-Agent", "recommit"),
    ]
    lines = [f"POST {address.path}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in fixed)]
    for name, value in headers:
        lines.append(f"{name}: {value if isinstance(value, str) else value[0] + value[1].reveal()}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + body


class _Incoming:
    """The part of a socket that ``HTTPResponse`` uses: a file, which here knows when and how much is enough."""

    def __init__(self, connection: socket.socket, deadline: float, most: int) -> None:
        self._parts = (connection, deadline, most)

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002
        return io.BufferedReader(_Bounded(*self._parts), 1 << 16)


class _Bounded(io.RawIOBase):
    def __init__(self, connection: socket.socket, deadline: float, most: int) -> None:
        super().__init__()
        self._connection, self._deadline, self._left = connection, deadline, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        count = self._connection.recv_into(buffer)
        self._left -= count
        if self._left < 0:
            raise _TooMuch
        return count
