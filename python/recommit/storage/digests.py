"""What was written into the files of a folder, so that whoever uses one later notices any other byte.

    FOLDER/DIGESTS    its own sha256, then the sha256 of files of the folder by name

Folders from before there were digests have none, and are read as they are. A file that is to change is left out of the
list first and comes back into it last: no crash leaves a list that does not fit.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from recommit.storage import errors, files, opening

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from recommit.storage.files import Files

NAME = "DIGESTS"
_ON_PURPOSE = f"if it was changed on purpose, remove {NAME}"


def checkable(text: str) -> bytes:
    """A line with its own sha256 in front, so that ``checked`` notices any other byte."""
    return f"{files.sha256(text.encode())} {text}\n".encode()


def checked(line: bytes) -> bytes | None:
    """The text of a line that ``checkable`` made; None if it is not as it was."""
    digest, _, text = line.partition(b" ")
    return text if digest.decode("ascii", "replace") == files.sha256(text) else None


def read(folder: Path) -> dict[str, str]:
    """sha256 by name; nothing of a folder that has no digests."""
    path = folder / NAME
    if not os.path.lexists(path):
        return {}
    try:
        text = checked(opening.content(path).removesuffix(b"\n"))
    except OSError as error:
        raise errors.Damaged(f"{path}: cannot be read: {error.strerror}") from None
    if text is None:
        raise errors.Damaged(f"{path}: its own sha256 does not fit; without it the folder is read unchecked")
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, dict) or not all(isinstance(digest, str) for digest in listed.values()):
        raise errors.Damaged(f"{path}: expected sha256 by name, got something else")
    return listed


def write(work: Files, folder: Path, listed: Mapping[str, str]) -> None:
    """Replace the list."""
    files.replace(work, folder / NAME, checkable(json.dumps(listed, sort_keys=True)))


def seal(work: Files, folder: Path, names: Iterable[str]) -> None:
    """List these files as they are."""
    write(work, folder, {name: files.file_sha256(folder / name) for name in names})


def verify(folder: Path, names: Iterable[str] | None = None) -> int:
    """Check the files on the list, or those of ``names`` that are; how many."""
    every = read(folder)
    listed = every if names is None else {name: every[name] for name in names if name in every}
    for name, wanted in listed.items():
        try:
            same = files.file_sha256(folder / name) == wanted
        except OSError as error:
            raise errors.Damaged(f"{folder / name}: cannot be read: {error.strerror}") from None
        if not same:
            raise another(folder / name)
    return len(listed)


def another(path: Path) -> errors.Damaged:
    """The error for a file that holds something else."""
    return errors.Damaged(f"{path}: expected what was written there, got other bytes; {_ON_PURPOSE}")
