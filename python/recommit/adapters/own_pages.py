"""A server of this machine that pages of other places cannot use: what a browser sends names who sends it.

A page from anywhere can make a browser connect to 127.0.0.1, and a name from anywhere can lead there. Programs send no
``Origin``, and are answered as before.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Application = Callable[[Message, Receive, Send], Awaitable[None]]

_REFUSED = b"this server answers its own pages and programs alone\n"


class OwnPages:
    """An ASGI application before which requests of foreign pages end; ``host`` is where it listens."""

    def __init__(self, application: Application, host: str) -> None:
        self.application = application
        #: Only this machine connects, so that only its own names are right.
        self.here = _is_loopback(host)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] not in ("http", "websocket") or self._may(scope):
            await self.application(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": _REFUSED})

    def _may(self, scope: Message) -> bool:
        headers = {name.lower(): value.decode("latin-1").lower() for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self.here and not _is_loopback(_name(host)):
            return False
        return origin is None or origin in (f"http://{host}", f"https://{host}")


def _name(host: str) -> str:
    """Without the port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
