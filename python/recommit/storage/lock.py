"""The lock of a folder: one writer at a time, even after the last one was killed.

``with Lock(folder):`` does not wait for a living writer: a second one gets ``FolderBusy``, which names the first. It
only waits, for a limited time, for the workers of a dead writer. The kernel's lock decides, as it ends with its last
holder; where a file system has no such locks, the pid in the file does.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recommit.storage import errors, safe_open

if TYPE_CHECKING:
    from typing_extensions import Self

NAME = ".lock"


class Lock:
    """Locks a folder during ``work`` (a build, a training run, an evaluation).

    The kernel's lock on ``.lock`` decides; it ends when its holder and the holder's workers (which inherit the
    descriptor) are dead. The file also records the holder's pid, boot id, host and work, for the error message, and as
    a fallback on file systems without working locks. A file whose holder is dead is taken over.
    """

    def __init__(self, folder: Path, patience: float = 60.0, *, work: str = "build") -> None:
        self.path, self.work = folder / NAME, work
        #: Seconds to wait for a dead holder's workers to exit.
        self.patience = patience
        self.descriptor = -1

    def __enter__(self) -> Self:
        give_up = time.monotonic() + self.patience
        while not self._try():
            holder = _read(self.path)
            if (holder is None or not _alive(holder)) and time.monotonic() < give_up:
                time.sleep(0.02)
                continue
            raise errors.FolderBusy(f"{self.path.parent}: {_describe(holder)}")
        return self

    def __exit__(self, *_: object) -> None:
        # Removed before it is released: a process that opened it in between sees that its file has no name. A file that
        # cannot be removed does not block others: the kernel's lock, or its pid, shows that the holder is gone.
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            pass
        finally:
            os.close(self.descriptor)
            self.descriptor = -1

    def _try(self) -> bool:
        try:
            descriptor = safe_open.edit(self.path)
        except OSError as error:
            raise errors.from_os(error, self.path.parent) from error
        try:
            held = self._take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if not held:
            os.close(descriptor)
        return held

    def _take(self, descriptor: int) -> bool:
        judged = _kernel_lock(descriptor)
        if judged is False or not _same_file(descriptor, self.path):
            return False
        holder = _read(self.path)
        if judged is None and holder is not None and _alive(holder):
            return False
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {_boot()} {_host()} {self.work}\n".encode(), 0)
        except OSError as error:
            self.path.unlink(missing_ok=True)
            raise errors.from_os(error, self.path.parent) from error
        self.descriptor = descriptor
        return True


def _kernel_lock(descriptor: int) -> bool | None:
    """True if acquired, False if held; None if the file system has no such locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


class _Holder(NamedTuple):
    pid: int
    boot: str
    host: str
    work: str


def _read(path: Path) -> _Holder | None:
    """The holder recorded in the file; None if missing or incomplete."""
    try:
        text = safe_open.content(path).decode("ascii")
        pid, boot, host, *work = text.split(maxsplit=3)
        named = work[0].strip() if work else ""
        return _Holder(int(pid), boot, host, named if named.isprintable() and named else "run")
    except (OSError, ValueError):
        return None


def _alive(holder: _Holder) -> bool:
    if holder.host != _host():
        return True  # cannot be checked from here
    if holder.boot != _boot():
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _describe(holder: _Holder | None) -> str:
    if holder is None:
        return "something else is starting here"
    return f"another {holder.work} is running here (pid {holder.pid} on {holder.host})"


def _boot() -> str:
    """The boot id; a dash if unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip() or "-"
    except OSError:
        return "-"


def _host() -> str:
    import socket

    return socket.gethostname().replace(" ", "-") or "-"
