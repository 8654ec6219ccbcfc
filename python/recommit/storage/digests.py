"""What was written into the files of a folder, so that whoever uses one later notices any other byte.

    FOLDER/DIGESTS    its own sha256, then the sha256 of files of the folder by name

Folders from before there were digests have none, and are read as they are. A file that is to change is left out of the
list first and comes back into it last: no crash leaves a list that does not fit.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from recommit.storage import errors, files
from recommit.storage import opening as plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from recommit.storage.files import Files

NAME = "DIGESTS"
_ON_PURPOSE = f"if it was changed on purpose, remove {NAME}"


def read(folder: Path) -> dict[str, str]:
    """sha256 by name; nothing of a folder that has no digests."""
    path = folder / NAME
    if not os.path.lexists(path):
        return {}
    try:
        digest, _, text = plain.content(path).removesuffix(b"\n").partition(b" ")
    except OSError as error:
        raise errors.Damaged(f"{path}: cannot be read: {error.strerror}") from None
    if digest.decode("ascii", "replace") != files.sha256(text):
        raise errors.Damaged(f"{path}: its own sha256 does not fit; without it the folder is read unchecked")
    listed: dict[str, str] = json.loads(text)
    return listed


def write(work: Files, folder: Path, listed: Mapping[str, str]) -> None:
    """Replace the list."""
    text = json.dumps(listed, sort_keys=True)
    files.replace(work, folder / NAME, f"{files.sha256(text.encode())} {text}\n".encode())


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
