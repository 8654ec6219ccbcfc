"""One POST by httpx2, bounded in time and bytes, to one host, on a connection of its own.

Nothing is followed, unpacked or reused: a redirect is a reply like any other, a compressed body is an error, and what
comes after the reply is never read. Proxies, certificates and passwords of the environment are not used. Errors carry
no text of the server and no frame that has seen the key.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import ssl
import threading
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recommit.storage.errors import need

try:
    import httpx2
except ImportError:
    raise need("httpx2", "zero-shot") from None

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recommit.zero_shot.secret import Key

#: All bytes of a reply together.
MOST_BYTES = 4 << 20
#: Seconds until one address of a host has taken the connection.
CONNECT_SECONDS = 10.0
#: A server that wants more patience than this gets no more.
LONGEST_WAIT = 120.0

#: Of letters, or the numbers of IPv6: a host is named in commands that a person may copy into a shell, where one that
#: begins with a dash would be a flag.
_HOST = re.compile(r"\w[\w.-]*|[0-9a-f:.]+", re.ASCII)
#: Does this thread have a request of ours under way? The library would log headers, and a server may put the key there;
#: requests of other code are logged as ever.
_OURS = threading.local()
for _name in ("httpx2", "httpcore2.connection", "httpcore2.http11"):
    logging.getLogger(_name).addFilter(lambda _: not getattr(_OURS, "asking", False))


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
    text = value or ""
    if text.isascii() and text.isdigit():
        return LONGEST_WAIT if len(text) > 9 else min(float(text), LONGEST_WAIT)
    try:
        return min(max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0), LONGEST_WAIT)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0


def post(address: Address, key: Key, body: bytes, *, seconds: float, most: int = MOST_BYTES) -> Reply:
    """Send ``body`` as JSON, with the key as a bearer token, and wait so long for the whole reply."""
    sent, reply, kind = threading.Event(), None, ""
    _OURS.asking = True
    try:
        reply, kind = asyncio.run(asyncio.wait_for(_exchange(address, key, body, seconds, most, sent), seconds))
    except (asyncio.TimeoutError, TimeoutError, httpx2.TimeoutException):
        kind = "timeout"
    except httpx2.ConnectError:
        kind = "unreachable"
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
        kind = "disconnected" if sent.is_set() else "unreachable"
    finally:
        _OURS.asking = False
    if reply is not None:
        return reply
    # Raised here, where no exception is being handled: the frames that held the key are gone, and what came back is.
    raise Broken(kind, sent.is_set())


async def _exchange(
    address: Address, key: Key, body: bytes, seconds: float, most: int, sent: threading.Event
) -> tuple[Reply | None, str]:
    """A reply, or the kind of the one that cannot be taken."""

    async def trace(event: str, _: dict[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            sent.set()

    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "User-Agent": "recommit",
    }
    if key:
        headers["Authorization"] = f"Bearer {key.reveal()}"
    # Half, since a connection and its TLS take one each: only where they end by themselves are their sockets closed.
    limits = httpx2.Timeout(seconds, connect=min(seconds / 2, CONNECT_SECONDS))
    how: dict[str, Any] = {"trust_env": False, "follow_redirects": False, "timeout": limits, "verify": _certificates()}
    asked: dict[str, Any] = {"content": body, "headers": headers, "extensions": {"trace": trace}}
    url, content = f"{address}/chat/completions", bytearray()
    async with httpx2.AsyncClient(**how) as client, client.stream("POST", url, **asked) as response:
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            return None, "encoded"
        async for piece in response.aiter_raw():
            content += piece
            if len(content) > most:
                return None, "too_large"
        return Reply(response.status_code, response.headers, bytes(content)), ""


@cache
def _certificates() -> ssl.SSLContext:
    """Those of the system, read once."""
    return ssl.create_default_context()
