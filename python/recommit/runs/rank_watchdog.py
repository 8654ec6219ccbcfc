"""Ends this rank with a sentence when another one has ended, instead of waiting for it for ever.

Ranks that wait for a killed one in a collective operation learn of it from gloo at once, from NCCL after half an hour,
and from a launcher on another machine perhaps never. So every rank keeps a connection to the first one. A connection
that ends without a goodbye means that its rank has ended, which the first rank passes on. Nothing is lost by ending at
once: checkpoints are whole or do not count.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from recommit.storage.terminal_text import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.runs.distributed import Team

_GOODBYE = b"."
_TOKEN = 16
#: Seconds until all ranks are connected; they have just met, so that it takes none but on a very busy machine.
_MEETING = 300.0
#: Seconds that a rank waits for an error of its own, which says more, after another one ended; and after a failed
#: collective operation for the rank that is the reason.
_HEARING = 5.0
#: A machine that vanished says no goodbye either: idle seconds, seconds between probes, probes.
_KEEPALIVE = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4))


class Peers:
    """The connections of one rank, watched by a thread."""

    def __init__(self, team: Team) -> None:
        self.team = team
        #: rank -> its connection; only the first rank has more than one.
        self._links = self._listen() if team.is_main_process else self._connect()
        self._selector = selectors.DefaultSelector()
        for rank, link in self._links.items():
            self._selector.register(link, selectors.EVENT_READ, rank)
        self._closed, self._failed, self._gone = threading.Event(), threading.Event(), threading.Event()
        self._error: BaseException | None = None
        threading.Thread(target=self._watch, name="recommit-peers", daemon=True).start()

    def _listen(self) -> dict[int, socket.socket]:
        token = secrets.token_bytes(_TOKEN)
        with socket.socket() as door:
            door.bind(("", 0))
            door.listen(self.team.world)
            door.settimeout(_MEETING)
            self.team.gather(token + str(door.getsockname()[1]).encode())
            links: dict[int, socket.socket] = {}
            while len(links) < self.team.world - 1:
                link, _ = door.accept()
                link.settimeout(_MEETING)
                greeting = _receive(link, _TOKEN + 4)
                if secrets.compare_digest(greeting[:_TOKEN], token):
                    links[int.from_bytes(greeting[_TOKEN:], "little")] = _kept_alive(link)
                else:
                    link.close()  # a foreign connection to this port
        return links

    def _connect(self) -> dict[int, socket.socket]:
        invitation = self.team.gather(b"")[0]
        token, port = invitation[:_TOKEN], int(invitation[_TOKEN:])
        link = socket.create_connection((os.environ["MASTER_ADDR"], port), timeout=_MEETING)
        link.sendall(token + self.team.rank.to_bytes(4, "little"))
        return {0: _kept_alive(link)}

    def _watch(self) -> None:
        open_links = dict(self._links)
        while open_links:
            for key, _ in self._selector.select():
                rank, link = int(key.data), open_links[key.data]
                content = _receive(link, 1)
                if content == _GOODBYE:
                    self._selector.unregister(link)
                    del open_links[rank]
                else:
                    self._end(int.from_bytes(_receive(link, 4), "little") if content else rank)
                    return

    def _end(self, rank: int) -> None:
        """Pass it on, say it, and stop, wherever the other threads are."""
        self._gone.set()
        if self._closed.is_set():
            return
        if self._failed.wait(_HEARING) and not _of_collective(self._error):
            return  # every rank has the same to say, a wrong argument for instance
        self._tell(b"!" + rank.to_bytes(4, "little"))
        say(
            f"rank {self.team.rank}: rank {rank} ended before its work was done, so this one stops, too; "
            "the same command goes on from the last checkpoint"
        )
        os._exit(1)

    def _tell(self, content: bytes) -> None:
        for link in self._links.values():
            with suppress(OSError):
                link.sendall(content)

    def done(self) -> None:
        """Say goodbye and stop watching."""
        self._closed.set()
        self._tell(_GOODBYE)

    def fail(self, error: BaseException) -> None:
        """Let the others hear that this rank ends. Where a collective operation failed, the end of another rank is the
        likely reason, and the thread that hears of it ends this process."""
        self._error = error
        self._failed.set()
        if _of_collective(error) and self._gone.wait(_HEARING):
            threading.Event().wait()
        self._closed.set()
        for link in self._links.values():
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)


def _of_collective(error: BaseException | None) -> bool:
    """A collective operation that failed is a RuntimeError of torch. Ours, of damaged files or a run that diverged, are
    such errors too, and every rank has them."""
    return isinstance(error, RuntimeError) and not type(error).__module__.startswith("recommit.")


@contextmanager
def watched(team: Team) -> Iterator[None]:
    """Meanwhile this rank ends when another one does."""
    if team.world == 1:
        yield
        return
    peers = Peers(team)
    try:
        yield
    except BaseException as error:
        peers.fail(error)
        raise
    peers.done()


def _kept_alive(link: socket.socket) -> socket.socket:
    link.settimeout(None)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, seconds in _KEEPALIVE:
        if hasattr(socket, name):  # not on every system
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
    return link


def _receive(link: socket.socket, size: int) -> bytes:
    """``size`` bytes; fewer if the connection ends before."""
    content = b""
    with suppress(OSError):
        while len(content) < size and (part := link.recv(size - len(content))):
            content += part
    return content


#: Set for ranks whose stdin is the other end of a pipe that the command which launched them holds.
TETHER = "RECOMMIT_TETHER"


def hold_tether() -> None:
    """End with the command that launched this rank, if one did: it holds the other end of our stdin.

    A byte from there means Ctrl-C, to whichever rank reads it: ranks agree after every step. Its end means the end, at
    once. Signals to a group or to the launcher would not do: launchers kill ranks half a minute after a signal, too
    early for a long step, and torchrun's ranks are in no group of ours.
    """
    if os.environ.get(TETHER):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        threading.Thread(target=_listen, daemon=True).start()


def _listen() -> None:
    while os.read(0, 1):
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)
