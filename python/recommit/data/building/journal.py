"""Which shards are finished, while a build is under way: one checked line per shard, only ever appended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recommit.data.shards import Record
from recommit.storage import errors, files
from recommit.storage.opening import content

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from recommit.storage.files import Files

NAME = ".journal"


class Journal:
    """Appends records; each is on the disk when ``add`` returns. The holder of the folder's lock is its one writer."""

    def __init__(self, files_: Files, folder: Path) -> None:
        self.files, self.path = files_, folder / NAME
        self.descriptor = -1

    def __enter__(self) -> Self:
        try:
            self.descriptor = self.files.append(self.path)
            self.files.flush_folder(self.path.parent)
            # A line that a crash cut short must not swallow the next one.
            files.write_all(self.files, self.descriptor, b"\n")
        except OSError as error:
            raise errors.from_os(error, self.path.parent) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.files.close(self.descriptor)

    def add(self, record: Record) -> None:
        """Note a finished shard."""
        try:
            files.write_all(self.files, self.descriptor, _line(record))
            self.files.flush(self.descriptor)
        except OSError as error:
            raise errors.from_os(error, self.path.parent) from error


def _line(record: Record) -> bytes:
    text = json.dumps(record.to_dict(), sort_keys=True)
    return f"{files.sha256(text.encode())} {text}\n".encode()


def read(folder: Path) -> dict[str, Record]:
    """The records of all whole lines, by name; the last one of a name counts."""
    try:
        lines = content(folder / NAME).split(b"\n")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise errors.from_os(error, folder) from error
    found = {}
    for line in lines:
        digest, _, text = line.partition(b" ")
        if digest.decode("ascii", "replace") == files.sha256(text):
            record = Record.from_dict(json.loads(text))
            found[record.name] = record
    return found
