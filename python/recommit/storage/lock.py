"""The lock of a folder: one writer at a time, also where the last one was killed.

``with Lock(folder):`` waits for no living writer: a second one gets ``FolderBusy``, which names it. Only the
workers of a writer who died are waited for, for some seconds. Two things decide. The kernel's lock is gone with its
last holder. The process number in the file counts where a file system has no such locks.
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
    """Holds a folder while ``work`` -- a build, a training run, an evaluation -- is done in it.

    The kernel's lock on ``.lock`` decides, so that it is gone the moment its holder and the holder's workers (who
    inherit the descriptor) are dead. The file also says who holds it: pid, boot, host and work, for the message, and as
    a second opinion where a file system has no working locks. A file whose holder is dead is taken over.
    """

    def __init__(self, folder: Path, patience: float = 60.0, *, work: str = "build") -> None:
        self.path, self.work = folder / NAME, work
        #: Seconds to wait for the workers of a dead holder to end.
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
        # Removed before it is let go: a process that opened it in between sees that its file has no name. A file that
        # cannot be removed blocks no other process: the kernel's lock, or the pid in it, says that its holder is gone.
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
    """True if it was free; None where the file system has no such locks."""
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
    """The holder in the file; None if it was not written, or not to the end."""
    try:
        text = safe_open.content(path).decode("ascii")
        pid, boot, host, *work = text.split(maxsplit=3)
        named = work[0].strip() if work else ""
        return _Holder(int(pid), boot, host, named if named.isprintable() and named else "run")
    except (OSError, ValueError):
        return None


def _alive(holder: _Holder) -> bool:
    if holder.host != _host():
        return True  # nothing can be known about it from here
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
    """Changes with every start of the machine; a dash where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip() or "-"
    except OSError:
        return "-"


def _host() -> str:
    import socket

    return socket.gethostname().replace(" ", "-") or "-"
