"""What a command says when it fails, and its exit status: a sentence, and never the name of a class of ours."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from recommit.storage import errors

FAILED, WRONG_CALL = 1, 2

#: A message of ours about an argument: "cell: expected 4..112, got 3". Others have the name of their class before them.
_OURS = re.compile(r"[^:\n]+: expected .|[a-z_]+: .")
#: The call was right, and the machine could not go on.
_OF_MACHINES = {
    errno.ENOSPC: "no room is left; make room and run the same command again",
    errno.EFBIG: "the file would be larger than this system allows",
    errno.EIO: "the disk cannot be read or written",
}


def explained(error: Exception) -> tuple[str, int]:
    """A sentence about what went wrong, and the exit status."""
    if isinstance(error, errors.DataError):
        return str(error), error.exit_status
    if isinstance(error, MemoryError):
        return f"out of memory: {error}", FAILED
    if isinstance(error, OSError) and error.filename is not None:
        return of_path(error)
    if isinstance(error, OSError) and error.strerror:
        return f"the system says: {error.strerror}", FAILED
    if isinstance(error, ModuleNotFoundError) and error.name and (hint := _extra(error.name)):
        return hint, FAILED
    if isinstance(error, ValueError) and type(error).__module__.startswith("recommit"):
        return str(error), FAILED  # of a malformed level: the call was right
    if isinstance(error, ValueError) and _OURS.match(str(error)):
        return str(error), WRONG_CALL
    return f"{type(error).__name__}: {error}", FAILED


def of_path(error: OSError) -> tuple[str, int]:
    """What the system said about a path: the call was wrong, unless the disk is full or broken."""
    path = Path(os.fsdecode(error.filename))
    if error.errno == errno.ENOENT or (error.errno == errno.ENOTDIR and not path.parent.is_dir()):
        return _absent(path), WRONG_CALL
    if error.errno in _OF_MACHINES:
        return f"{path}: {_OF_MACHINES[error.errno]}", FAILED
    reason = errors.OF_PATHS.get(error.errno or 0) or error.strerror or str(error)
    return f"{path}: {reason}", WRONG_CALL


def _absent(path: Path) -> str:
    """What is missing: the path, or the folder that it would be in."""
    folder = path.parent
    return f"{path}: there is no folder {folder}" if not folder.is_dir() else f"{path}: there is no such file or folder"


def _extra(module: str) -> str:
    """The command that installs an optional module; nothing for others."""
    from recommit.cli.verbs.doctor import EXTRAS

    for extra, modules in EXTRAS.items():
        if module.split(".")[0] in modules:
            return f"this command needs {module}; in a clone of recommit: {errors.install(extra)}"
    return ""
