"""One POST by httpx2, bounded in time and bytes, to one host, on a connection of its own, with a key that stays hidden.

Nothing is followed, unpacked or reused: a redirect is a reply like any other, a compressed body is an error, and bytes
after the reply are never read. Proxies, certificates and passwords of the environment are not used. Errors carry no
text of the server and no frame that has seen the key.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import re
import ssl
import threading
from dataclasses import dataclass
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
    from typing import NoReturn

#: Largest reply in bytes, and timeout of the whole exchange in seconds.
MOST_BYTES, SECONDS = 4 << 20, 600.0
#: Timeout of a connection in seconds.
CONNECT_SECONDS = 10.0
#: Longest wait in seconds that a server's ``Retry-After`` can ask for.
LONGEST_WAIT = 120.0

#: A name, or an IPv6 address. A host occurs in commands that a user may copy into a shell, where one that begins with a
#: dash would be a flag.
_HOST = re.compile(r"\w[\w.-]*|[0-9a-f:.]+", re.ASCII)
#: Marks threads with a request of ours in flight. The library would log headers, in which a server may echo the key;
#: requests of other code are logged as usual.
_OURS = threading.local()
for _name in ("httpx2", "httpcore2.connection", "httpcore2.http11"):
    logging.getLogger(_name).addFilter(lambda _: not getattr(_OURS, "asking", False))


#: Characters allowed in a header's value. Any other could end the header and begin another one.
_USABLE = re.compile(r"[\x21-\x7e]*")
#: Shorter keys are placeholders of local servers ("EMPTY"), and may well be ordinary words.
SHORTEST = 8
HIDDEN = "[key]"


class Key:
    """The value of an environment variable, empty if there is none. It is revealed for the header of a request only:
    neither its ``repr``, nor a pickle, nor an error shows it."""

    __slots__ = ("__text", "variable")

    def __init__(self, text: str, variable: str) -> None:
        self.variable = variable
        if not _USABLE.fullmatch(text):
            raise ValueError(f"{variable}: expected a key of printable characters without spaces, got another text")
        self.__text = text

    @classmethod
    def from_environment(cls, variable: str) -> Key:
        """Read the key from a variable; empty if it is not set."""
        return cls(os.environ.get(variable, "").strip() if variable else "", variable)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def reveal(self) -> str:
        """The text, for the header."""
        return self.__text

    def redact(self, text: str) -> str:
        """``text`` without the key, whatever its case: a server may echo it."""
        if len(self.__text) < SHORTEST:
            return text
        return re.sub(re.escape(self.__text), HIDDEN, text, flags=re.IGNORECASE | re.ASCII)

    def __repr__(self) -> str:
        return f"<key from {self.variable or 'nowhere'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


@dataclass(frozen=True)
class Address:
    """Scheme, host with its port, and path of a server. Passwords and queries are not allowed."""

    scheme: str
    host: str
    place: str
    path: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse a base address; errors do not repeat it, since it might contain a secret."""
        wrong = ValueError(
            "base_url: expected http(s)://host[:port][/path] without user name, password, query or fragment, "
            "got another text"
        )
        try:
            parts = urlsplit(text)
            port, host = parts.port, parts.hostname or ""
        except ValueError:
            raise wrong from None
        plain = text.isascii() and text.isprintable() and not any(c in text for c in " \\@?#")
        if parts.scheme not in ("http", "https") or not plain or port == 0 or not _HOST.fullmatch(host):
            raise wrong
        usual = port in (None, 443 if parts.scheme == "https" else 80)
        place = (f"[{host}]" if ":" in host else host) + ("" if usual else f":{port}")
        return cls(parts.scheme, host, place, parts.path.rstrip("/"))

    @property
    def local(self) -> bool:
        """True if it is on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}{self.path}"


@dataclass(frozen=True)
class Reply:
    """A complete reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Broken(Exception):
    """There is no complete reply; the argument names the kind of failure."""


def retry_after(value: str | None) -> float:
    """Seconds to wait by a ``Retry-After`` header, in 0..LONGEST_WAIT; 0 where it is absent, a date or no time."""
    text = value or ""
    return min(float(text[:9]), LONGEST_WAIT) if text.isascii() and text.isdigit() else 0.0


def post(address: Address, key: Key, body: bytes) -> Reply:
    """Send ``body`` as JSON, with the key as a bearer token, and wait for the whole reply."""
    _OURS.asking = True
    try:
        reply = asyncio.run(asyncio.wait_for(_exchange(address, key, body), SECONDS))
    except (asyncio.TimeoutError, TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout):
        reply = "timeout"
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.InvalidURL, httpx2.UnsupportedProtocol):
        reply = "unreachable"
    except (httpx2.HTTPError, OSError, ValueError):
        reply = "disconnected"
    finally:
        _OURS.asking = False
    if isinstance(reply, Reply):
        return reply
    # Raised outside the handlers above, so that the traceback has no frame that held the key.
    raise Broken(reply)


async def _exchange(address: Address, key: Key, body: bytes) -> Reply | str:
    """The reply, or the kind of failure of one that is refused."""
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "User-Agent": "recommit",
        **({"Authorization": f"Bearer {key.reveal()}"} if key else {}),
    }
    # Half, since TCP and TLS have one timeout each: their sockets are closed only if they time out by themselves.
    limits = httpx2.Timeout(SECONDS, connect=min(SECONDS / 2, CONNECT_SECONDS))
    how: dict[str, Any] = {"trust_env": False, "follow_redirects": False, "timeout": limits, "verify": _certificates()}
    url, content = f"{address}/chat/completions", bytearray()
    async with (
        httpx2.AsyncClient(**how) as client,
        client.stream("POST", url, content=body, headers=headers) as response,
    ):
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            return "encoded"
        async for piece in response.aiter_raw():
            content += piece
            if len(content) > MOST_BYTES:
                return "too_large"
        return Reply(response.status_code, response.headers, bytes(content))


#: Certificates of the system, read once.
_certificates = cache(ssl.create_default_context)
