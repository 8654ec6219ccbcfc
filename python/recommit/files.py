"""Files that are either the old ones or the new ones, never a part of both."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` under a temporary name beside ``path``, flush it to the disk, then rename it.

    A reader, or a crash at any moment, sees the whole old file or the whole new one. One writer per path at a time.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Make the new name durable, where a folder can be opened at all (not on Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
