"""Failures of work on a folder, one class per remedy."""

from __future__ import annotations

import errno
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recommit.storage.safe_open import NotAFile

if TYPE_CHECKING:
    from pathlib import Path


class DataError(RuntimeError):
    """Work on a data folder failed; whatever had been finished is intact. ``exit_status`` is the command line's."""

    exit_status = 1


class DiskFull(DataError):
    """No room left, or the size limit of files was hit. Make room and run the same command again: it resumes."""


class OutOfMemory(DataError, MemoryError):
    """No memory left. A smaller ``shard`` in the recipe, fewer workers or fewer threads need less."""


class FolderBusy(DataError):
    """Another process builds in this folder."""


class FolderVanished(DataError):
    """The folder was removed or unmounted under a running build."""


class Damaged(DataError, ValueError):
    """A file does not hold what was written into it; the message names it."""


class WorkerDied(DataError):
    """A worker process ended without an answer; building again resumes."""


class Unavailable(DataError, ImportError):
    """An optional package is missing; the message says how to install it."""

    exit_status = 2


class WrongFolder(DataError, ValueError):
    """The path cannot be the folder: a file, no permission, foreign files in it, or another run's."""

    exit_status = 2


class NeedsFlag(DataError, ValueError):
    """A place or a program that no file names; ``flag`` is what the command line lacks."""

    exit_status = 2

    def __init__(self, message: str, flag: str) -> None:
        super().__init__(message)
        self.flag = flag


class WrongDataSpec(DataError, ValueError):
    """A data spec that contradicts itself or asks for what does not exist."""

    exit_status = 2


class NotEnough(WrongDataSpec):
    """There are fewer distinct instances than the spec asks for."""


#: What the system says of a path that a call named, in the words of an argument.
OF_PATHS = {
    errno.EACCES: "you have no permission to read or write there",
    errno.EPERM: "you have no permission to read or write there",
    errno.EROFS: "this file system can only be read",
    errno.EISDIR: "expected a file, got a folder",
    errno.ENOTDIR: "expected a folder, got a file",
    errno.EEXIST: "expected a folder or nothing there, got a file",
    errno.ENOTEMPTY: "expected an empty folder, got one with files",
    errno.ELOOP: "its links lead in a circle, or to where nothing is written through a link",
    errno.ENAMETOOLONG: "the name is too long for this file system",
}
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def from_os(error: OSError, path: Path | str) -> DataError:
    """The typed error for what the operating system said about ``path``."""
    why = error.strerror or str(error)
    if isinstance(error, NotAFile):
        return WrongFolder(f"{error.filename}: {why}")
    if error.errno in _FULL:
        return DiskFull(f"{path}: {why}; what was finished is intact: make room and run the same command again")
    if error.errno in OF_PATHS:
        return WrongFolder(f"{path}: {OF_PATHS[error.errno]}")
    if error.errno == errno.ENOENT:
        return FolderVanished(f"{path}: is gone")
    return DataError(f"{path}: {why}")


def from_memory(error: MemoryError) -> OutOfMemory:
    """The typed error for memory that ran out somewhere."""
    what = f" ({error})" if str(error) else ""
    return OutOfMemory(f"out of memory{what}; finished shards are intact; a smaller `shard` in the recipe needs less")


def install(extra: str) -> str:
    """The command, in a clone of the repository, that brings an extra."""
    return f"pip install '.[{extra}]'"


def need(package: str, extra: str) -> Unavailable:
    """The error that says which extra brings a missing package."""
    error = Unavailable(f"{package} is not installed; in a clone of recommit: {install(extra)}")
    error.name = package
    return error


def refuse_missing(extra: str, *modules: str) -> None:
    """Say of all these modules at once which are missing, and the extra, or extras, that have them."""
    if missing := [name for name in modules if is_missing(name)]:
        error = Unavailable(f"this command needs {', '.join(missing)}; in a clone of recommit: {install(extra)}")
        error.name = missing[0]
        raise error


def is_missing(module: str) -> bool:
    """True if the module cannot be imported; nothing is imported to find out."""
    try:
        return find_spec(module) is None
    except ImportError:
        return True
    except ValueError:  # it is there, without a file
        return False
