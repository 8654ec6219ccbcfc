"""All file opening: writes never follow links, and special files never block."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

#: Absent on Windows, where untrusted folders cannot contain links or pipes.
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_ALWAYS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFLNK: "a link"}

#: The folder of devices.
DEVICES = Path("/dev")


class NotAFile(OSError):
    """The path is not a regular file."""


def create(path: str | os.PathLike[str]) -> int:
    """Create a new file; returns its descriptor. Raises if the path exists."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _ALWAYS, 0o666)


def append(path: str | os.PathLike[str]) -> int:
    """Open a file for appending, creating it if missing; returns its descriptor."""
    return _regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _PLAIN)


def edit(path: str | os.PathLike[str]) -> int:
    """Open a file for reading and writing, creating it if missing; returns its descriptor."""
    return _regular(path, os.O_RDWR | os.O_CREAT | _PLAIN)


def reading(path: str | os.PathLike[str], buffering: int = -1) -> IO[bytes]:
    """Open a file for reading, following links; raises for pipes, folders and devices."""
    descriptor = _regular(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    return os.fdopen(descriptor, "rb", buffering)


def whole(path: str | os.PathLike[str], most: int = -1) -> IO[bytes]:
    """Open a file of at most ``most`` bytes for reading; the limit guards against sparse files."""
    file = reading(path)
    about = os.fstat(file.fileno())
    if most < 0:  # default: 1 GiB, or 100 times its disk usage
        most = max(1 << 30, 100 * 512 * getattr(about, "st_blocks", about.st_size))
    if most < about.st_size:
        file.close()
        raise NotAFile(errno.EINVAL, f"expected at most {most:,} bytes, got {about.st_size:,}", os.fspath(path))
    return file


def content(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """The content of a file of at most ``most`` bytes."""
    with whole(path, most) as file:
        return file.read()


def text(path: str | os.PathLike[str]) -> str:
    """The content of a UTF-8 file."""
    return content(path).decode("utf-8")


def refuse_devices(path: str | os.PathLike[str]) -> None:
    """Refuse paths that a new file must not replace: a device, a link to something other than a file or folder, or any
    link in /dev, such as /dev/stdout. With sufficient permissions, replacing it would break the machine."""
    if Path(path).is_symlink() and Path(path).parent.resolve() == DEVICES:
        raise NotAFile(errno.EINVAL, "expected a file, got a link among the devices", os.fspath(path))
    try:
        here, there = os.lstat(path).st_mode, Path(path).stat().st_mode
    except OSError:  # missing, or creating the file will fail
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
    """The error, or ``NotAFile`` if the path is a link or a pipe without a reader, which cannot even be opened."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return error
    wrong = not stat.S_ISREG(mode) and error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR)
    return _not_a_file(path, mode) if wrong else error


def _not_a_file(path: str | os.PathLike[str], mode: int) -> NotAFile:
    kind = _KINDS.get(stat.S_IFMT(mode), "a device")
    return NotAFile(errno.EINVAL, f"expected a file, got {kind}", os.fspath(path))
