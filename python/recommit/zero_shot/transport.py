"""One POST by httpx2, bounded in time and bytes, to one host, on a connection of its own, with a key that stays hidden.

Nothing is followed, unpacked or reused: a redirect is a reply like any other, a compressed body is an error, and what
comes after the reply is never read. Proxies, certificates and passwords of the environment are not used. Errors carry
no text of the server and no frame that has seen the key.
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

#: All bytes of a reply together, and seconds until it is there.
MOST_BYTES, SECONDS = 4 << 20, 600.0
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


#: What may stand in a header's value. Anything else could end the header and begin another.
_USABLE = re.compile(r"[\x21-\x7e]*")
#: Shorter keys are placeholders of local servers ("EMPTY"), and may well be ordinary words.
SHORTEST = 8
HIDDEN = "[key]"


class Key:
    """The value of an environment variable, empty if there is none: it leaves its object for the header of a request.
    Neither its ``repr``, nor a pickle, nor an error shows it."""

    __slots__ = ("__text", "variable")

    def __init__(self, text: str, variable: str) -> None:
        self.variable = variable
        if not _USABLE.fullmatch(text):
            raise ValueError(f"{variable}: expected a key of printable characters without spaces, got another text")
        self.__text = text

    @classmethod
    def from_environment(cls, variable: str) -> Key:
        """The key in a variable."""
        return cls(os.environ.get(variable, "").strip() if variable else "", variable)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def reveal(self) -> str:
        """The text, for the header."""
        return self.__text

    def redact(self, text: str) -> str:
        """``text`` without the key, in small letters or capitals: a server may send back what it was sent."""
        if len(self.__text) < SHORTEST:
            return text
        return re.sub(re.escape(self.__text), HIDDEN, text, flags=re.IGNORECASE | re.ASCII)

    def __repr__(self) -> str:
        return f"<key from {self.variable or 'nowhere'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


@dataclass(frozen=True)
class Address:
    """Scheme, host with its port, and path of a server. There is no place for a password or a query in it."""

    scheme: str
    host: str
    place: str
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
        """Does it stay on this machine?"""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}{self.path}"


@dataclass(frozen=True)
class Reply:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Broken(Exception):
    """No whole reply; of which kind, in a word."""


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
    # Raised here, where no exception is being handled: the frames that held the key are gone, and what came back is.
    raise Broken(reply)


async def _exchange(address: Address, key: Key, body: bytes) -> Reply | str:
    """A reply, or the kind of the one that cannot be taken."""
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "User-Agent": "recommit",
        **({"Authorization": f"Bearer {key.reveal()}"} if key else {}),
    }
    # Half, since a connection and its TLS take one each: only where they end by themselves are their sockets closed.
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


#: Those of the system, read once.
_certificates = cache(ssl.create_default_context)
