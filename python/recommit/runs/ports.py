"""Ports for ranks to meet at, that no other process takes in the meantime."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

#: Below the ports that systems give to connections of their own accord, so that none of those takes one in the
#: meantime.
_PORTS = range(20_000, 32_000)
#: How many ports a process reserves: the last ones, longer than any launcher needs until it listens.
_MOST = 64
#: Descriptors, which the end of the process closes without a word.
_reserved: list[int] = []


def free_port(taken: Collection[int] = ()) -> int:
    """One at which nobody listens, and which no other process of ours is given while this one is about to use it."""
    for port in _PORTS:
        if port not in taken and _reserve(port):
            return port
    raise OSError(f"expected a free port of {_PORTS.start}..{_PORTS.stop - 1}, got none")


def _reserve(port: int) -> bool:
    """Keep a free port by a name that Linux gives to one process at a time, and takes back at its end."""
    if not sys.platform.startswith("linux"):
        return _is_free(port)
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0recommit-port-{port}")
    except OSError:
        name.close()
        return False
    # Only now: a look at the port of somebody else would be in its way.
    if not _is_free(port):
        name.close()
        return False
    _reserved.append(name.detach())
    if len(_reserved) > _MOST:
        os.close(_reserved.pop(0))
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
