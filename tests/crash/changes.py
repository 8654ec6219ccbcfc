"""Every change that this process makes to a folder, one by one: heard, and one of them fails or is the last."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Events of the interpreter that change a disk; ``open`` does if it is for writing.
CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Changes:
    """Counts the changes in a folder; before number ``at``, ``act`` is called with the path."""

    def __init__(self) -> None:
        self.folder, self.at, self.count, self.act = "", 0, 0, full
        sys.addaudithook(self._hear)  # for ever

    def watch(self, folder: Path, at: int = 0, act: Callable[[str], None] | None = None) -> None:
        self.folder, self.at, self.count, self.act = str(folder), at, 0, act or full

    def stop(self) -> int:
        """Hear no more; how many changes there were."""
        self.folder = ""
        return self.count

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.folder or not (event in CHANGES or (event == "open" and _flags(arguments) & WRITES)):
            return
        path = arguments[0]
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.folder):
            self.count += 1
            if self.count == self.at:
                self.act(os.fspath(path))


def full(path: str) -> None:
    """No room is left."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def refused(path: str) -> None:
    """It is not allowed."""
    raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


def killed(_path: str) -> None:
    """Nothing of this process goes on, not even what ends it."""
    os.kill(os.getpid(), signal.SIGKILL)


def soon_killed(seconds: float) -> Callable[[str], None]:
    """After so much more processor time, in the middle of whatever it does then."""
    return lambda _path: signal.setitimer(signal.ITIMER_PROF, seconds) and None


def _flags(arguments: tuple[object, ...]) -> int:
    flags = arguments[2]
    return flags if isinstance(flags, int) else 0
