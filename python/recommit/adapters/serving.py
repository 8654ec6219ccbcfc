"""What ``recommit serve`` has beside the server itself, without OpenEnv: its options, and a guard that pages of other
places cannot pass."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recommit.puzzles.registry import Task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from recommit.zero_shot.game_spec import GameSpec

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Application = Callable[[Message, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class ServeOptions:
    """Which games are served, and where.

    Args:
        task: Which puzzle.
        size: Rows, or rows and columns (default: 8; of sliding 3).
        boxes: Boxes of a Sokoban level; 0 for the usual number.
        length: Optimal length of every start, or the shortest and longest (default: those of the puzzle).
        budget: Observations per game; 0 for the loose budget of the paper.
        count: Instances of each split.
        seed: Which instances.
        view: image adds a picture to the text of an observation.
        cell: Pixels per cell of the picture.
        lenient: Take commitments of any length up to eight.
        oracle: Add the best commitment to every observation, for validation.
        show_distance: Add the exact distance to every observation.
        web: Show a board to play at /web.
        sessions: Sessions at once at most.
        host: The address to listen at.
        port: The port to listen at.
    """

    task: Task = "sliding"
    size: tuple[int, ...] = ()
    boxes: int = 0
    length: tuple[int, ...] = ()
    budget: int = 0
    count: int = 256
    seed: int = 0
    view: Literal["image", "text"] = "image"
    cell: int = 56
    lenient: bool = False
    oracle: bool = False
    show_distance: bool = False
    web: bool = True
    sessions: int = 64
    host: str = "127.0.0.1"
    port: int = 8000

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port: expected 0..65535, got {self.port}")
        if self.sessions < 1:
            raise ValueError(f"sessions: expected at least 1, got {self.sessions}")

    def spec(self) -> GameSpec:
        """Which games are served."""
        from recommit.zero_shot.game_spec import GameSpec

        names = ("task", "size", "boxes", "length", "budget", "count", "seed", "view", "cell", "lenient")
        return GameSpec(**{name: getattr(self, name) for name in names})


_REFUSED = b"this server answers its own pages and programs alone\n"


class OwnPages:
    """An ASGI application before which requests of foreign pages end; ``host`` is where it listens.

    A page from anywhere can make a browser connect to 127.0.0.1, and a name from anywhere can lead there. Programs send
    no ``Origin``, and are answered as before.
    """

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
