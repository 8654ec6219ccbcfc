"""The one place that opens files: never through a link where it writes, never waiting for what is no file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

#: Windows has neither links that a folder from a stranger could bring nor pipes in folders.
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_ALWAYS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFLNK: "a link"}

#: Where systems keep their devices.
DEVICES = Path("/dev")


class NotAFile(OSError):
    """Something else than a regular file lies where one is read or written."""


def create(path: str | os.PathLike[str]) -> int:
    """A descriptor of a new, empty file; whatever is there already is an error."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _ALWAYS, 0o666)


def append(path: str | os.PathLike[str]) -> int:
    """A descriptor that writes at the end of a file, made if it is not there."""
    return _regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _PLAIN)


def edit(path: str | os.PathLike[str]) -> int:
    """A descriptor that reads and writes a file, made if it is not there."""
    return _regular(path, os.O_RDWR | os.O_CREAT | _PLAIN)


def reading(path: str | os.PathLike[str], buffering: int = -1) -> IO[bytes]:
    """A file to be read, links followed; a pipe, a folder or a device is an error at once."""
    descriptor = _regular(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    return os.fdopen(descriptor, "rb", buffering)


def whole(path: str | os.PathLike[str], most: int = -1) -> IO[bytes]:
    """A file of at most ``most`` bytes, to be read to its end: holes take no room on a disk, but memory and hours."""
    file = reading(path)
    about = os.fstat(file.fileno())
    if most < 0:  # beyond a GiB a hundred times the room that it takes
        most = max(1 << 30, 100 * 512 * getattr(about, "st_blocks", about.st_size))
    if most < about.st_size:
        file.close()
        raise NotAFile(errno.EINVAL, f"expected at most {most:,} bytes, got {about.st_size:,}", os.fspath(path))
    return file


def content(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """All bytes of a file of at most ``most``."""
    with whole(path, most) as file:
        return file.read()


def text(path: str | os.PathLike[str]) -> str:
    """All of a file of UTF-8."""
    return content(path).decode("utf-8")


def refuse_devices(path: str | os.PathLike[str]) -> None:
    """Refuse what a new file must not take the place of: a device, a link that leads to none of our files, or one among
    the devices, such as /dev/stdout, wherever it leads now. A process that may write there would break the machine for
    everybody."""
    if Path(path).is_symlink() and Path(path).parent.resolve() == DEVICES:
        raise NotAFile(errno.EINVAL, "expected a file, got a link among the devices", os.fspath(path))
    try:
        here, there = os.lstat(path).st_mode, Path(path).stat().st_mode
    except OSError:  # nothing is there, or making the file will fail
        return
    leads_elsewhere = stat.S_ISLNK(here) and not stat.S_ISREG(there) and not stat.S_ISDIR(there)
    if stat.S_ISCHR(here) or stat.S_ISBLK(here) or leads_elsewhere:
        raise _not_a_file(path, there)


def _regular(path: str | os.PathLike[str], flags: int) -> int:
    try:
        descriptor = os.open(path, flags | _ALWAYS, 0o666)
    except OSError as error:
        raise _named(error, path) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise _not_a_file(path, mode)
    return descriptor


def _named(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """What the system said, or what lies there: a link or a pipe without a reader cannot even be opened."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return error
    wrong = not stat.S_ISREG(mode) and error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR)
    return _not_a_file(path, mode) if wrong else error


def _not_a_file(path: str | os.PathLike[str], mode: int) -> NotAFile:
    kind = _KINDS.get(stat.S_IFMT(mode), "a device")
    return NotAFile(errno.EINVAL, f"expected a file, got {kind}", os.fspath(path))
