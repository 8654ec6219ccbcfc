"""Failures of work on a folder, one class per remedy."""

from __future__ import annotations

import errno
from importlib.util import find_spec
from typing import TYPE_CHECKING

from recommit.storage.safe_open import NotAFile

if TYPE_CHECKING:
    from pathlib import Path


class DataError(RuntimeError):
    """Work on a folder failed; finished parts are intact. ``exit_status`` is that of the command."""

    exit_status = 1


class DiskFull(DataError):
    """No space left, or a file size limit was hit. Free space and run the same command again: it resumes."""


class OutOfMemory(DataError, MemoryError):
    """Out of memory. A smaller ``shard`` in the recipe, fewer workers or fewer threads need less."""


class FolderBusy(DataError):
    """Another process builds in this folder."""


class FolderVanished(DataError):
    """The folder was removed or unmounted under a running build."""


class Damaged(DataError, ValueError):
    """A file does not have the content that was written; the message names it."""


class WorkerDied(DataError):
    """A worker process ended without an answer; building again resumes."""


class Unavailable(DataError, ImportError):
    """An optional package is missing; the message says how to install it."""

    exit_status = 2


class WrongFolder(DataError, ValueError):
    """The path cannot be used as the folder: it is a file, not accessible, or holds foreign files or another run."""

    exit_status = 2


class NeedsFlag(DataError, ValueError):
    """A place or program that files must not name is missing; ``flag`` is the command-line flag that passes it."""

    exit_status = 2

    def __init__(self, message: str, flag: str) -> None:
        super().__init__(message)
        self.flag = flag


class WrongDataSpec(DataError, ValueError):
    """A data spec that is contradictory or cannot be satisfied."""

    exit_status = 2


class NotEnough(WrongDataSpec):
    """There are fewer distinct instances than the spec asks for."""


#: Explanations of system errors for a path given as an argument.
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
    """The typed error for an ``OSError`` about ``path``."""
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
    """The typed error for a ``MemoryError``."""
    what = f" ({error})" if str(error) else ""
    return OutOfMemory(f"out of memory{what}; finished shards are intact; a smaller `shard` in the recipe needs less")


def install(extra: str) -> str:
    """The command that installs an extra, in a clone of the repository."""
    return f"pip install '.[{extra}]'"


def need(package: str, extra: str) -> Unavailable:
    """The error for a missing package, naming the extra that installs it."""
    error = Unavailable(f"{package} is not installed; in a clone of recommit: {install(extra)}")
    error.name = package
    return error


def refuse_missing(extra: str, *modules: str) -> None:
    """Raise if any of the modules is missing, naming all missing ones and the extra that installs them."""
    if missing := [name for name in modules if is_missing(name)]:
        error = Unavailable(f"this command needs {', '.join(missing)}; in a clone of recommit: {install(extra)}")
        error.name = missing[0]
        raise error


def is_missing(module: str) -> bool:
    """True if the module cannot be found; does not import it."""
    try:
        return find_spec(module) is None
    except ImportError:
        return True
    except ValueError:  # loaded, but without a spec
        return False
