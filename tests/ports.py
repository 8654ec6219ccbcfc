"""Ports for what tests start."""

from __future__ import annotations

import os
import socket
import sys

#: Below the ports that systems give to connections of their own accord.
_PORTS = range(20_000, 32_000)
#: How many ports a process reserves: the last ones, longer than any launcher needs until it listens.
_MOST = 64
#: Descriptors, closed at the end of the process.
_reserved: list[int] = []


def free_port() -> int:
    """A port without a listener, reserved for this process until it is used."""
    return next(port for port in _PORTS if _reserve(port))


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
    if not _is_free(port):  # only now: a probe would be in the way of the process that reserved it
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
