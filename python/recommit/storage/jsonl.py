"""Files of JSON objects, one per line, that are only ever appended to: each line is there to its end, or not at all."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

from recommit.storage import errors, files, safe_open, verified

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

    from recommit.storage.files import Files

#: Of a file that is read: a hole in one of a stranger would fill the memory.
MOST_BYTES = 1 << 30


class JsonLines:
    """Appends records from any thread. The holder of the folder's lock is its one writer.

    A record survives the death of the process once ``add`` has returned, and that of the machine too if it is
    ``durable``; else once ``size`` has returned, or the block has ended. Opening cuts off what a crash left of a line.
    """

    def __init__(self, path: Path, disk: Files | None = None, *, durable: bool = True, finite: bool = False) -> None:
        self.path, self.disk, self.durable = path, disk or files.Files(), durable
        #: Is a number that is not finite an error?
        self.finite = finite
        self._lock = threading.Lock()
        self._descriptor = -1
        self._open = False

    def __enter__(self) -> Self:
        try:
            _mend(self.disk, self.path)
            self._descriptor = self.disk.append(self.path)
            self.disk.flush_folder(self.path.parent)
        except OSError as error:
            raise errors.from_os(error, self.path) from error
        self._open = True
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            whole, self._open = self._open, False  # a thread that comes too late finds out
            try:
                if whole and not self.durable:
                    self.disk.flush(self._descriptor)
            finally:
                self.disk.close(self._descriptor)

    def line(self, record: Any) -> bytes:
        """One record as a line: ASCII alone, so that no character of a foreign text ends it or fits no encoding."""
        return json.dumps(record, allow_nan=not self.finite).encode("ascii") + b"\n"

    def add(self, record: Any) -> None:
        """Append one record."""
        line = self.line(record)
        with self._lock:
            if not self._open:
                raise errors.DataError(f"{self.path}: is no longer written")
            try:
                files.write_all(self.disk, self._descriptor, line)
                if self.durable:
                    self.disk.flush(self._descriptor)
            except OSError as error:
                self._open = False  # the next line must not be glued to a part of this one
                raise errors.from_os(error, self.path) from error

    def size(self) -> int:
        """Bytes so far, all of them on the disk when this returns."""
        with self._lock:
            self.disk.flush(self._descriptor)
            return os.fstat(self._descriptor).st_size

    def cut(self, size: int) -> None:
        """Go back to an earlier ``size``."""
        with self._lock:
            if (present := os.fstat(self._descriptor).st_size) < size:
                raise ValueError(f"{self.path}: expected at least the {size} bytes of the checkpoint, got {present}")
            os.ftruncate(self._descriptor, size)


class NoLines(JsonLines):
    """The log of a rank that is not the main process: it forgets every record, and touches no disk."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def add(self, record: Any) -> None:
        """Forget a record."""

    def size(self) -> int:
        """No bytes."""
        return 0

    def cut(self, size: int) -> None:
        """Stay as it is."""


def _mend(disk: Files, path: Path) -> None:
    """Cut off what a crash left of a line."""
    try:
        content = safe_open.content(path, MOST_BYTES)
    except FileNotFoundError:
        return
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        files.replace(disk, path, content[:whole])


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file without their ends, none of a file that is not there; one that is not whole is left out."""
    try:
        content = safe_open.content(path, MOST_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise errors.from_os(error, path) from error
    return content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]


def read(path: Path) -> list[dict[str, Any]]:
    """All whole lines; one that holds no record is an error, since nothing here writes such a line."""
    records = [verified.parsed(path, line) for line in whole_lines(path)]
    verified.expect(path, records, [{}])
    return records
