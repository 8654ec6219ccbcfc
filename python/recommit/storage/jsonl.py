"""Append-only files of JSON objects, one per line; a line is complete or absent."""

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

#: Largest file that is read: a sparse file from an untrusted source would exhaust memory.
MOST_BYTES = 1 << 30


class JsonLines:
    """Appends records; thread-safe. The holder of the folder's lock is the only writer.

    A record survives a crash of the process once ``add`` has returned, and of the machine too if ``durable``; otherwise
    once ``size`` has returned or the context has exited. Opening truncates a partial last line.
    """

    def __init__(self, path: Path, disk: Files | None = None, *, durable: bool = True, finite: bool = False) -> None:
        self.path, self.disk, self.durable = path, disk or files.Files(), durable
        #: True: non-finite numbers are an error.
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
            whole, self._open = self._open, False  # late calls of ``add`` then raise
            try:
                if whole and not self.durable:
                    self.disk.flush(self._descriptor)
            finally:
                self.disk.close(self._descriptor)

    def line(self, record: Any) -> bytes:
        """A record as one ASCII line, so that no foreign character can end it or fail to encode."""
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
                self._open = False  # no line may follow a partial one
                raise errors.from_os(error, self.path) from error

    def size(self) -> int:
        """Flush to disk; returns the size in bytes."""
        with self._lock:
            self.disk.flush(self._descriptor)
            return os.fstat(self._descriptor).st_size

    def cut(self, size: int) -> None:
        """Truncate to an earlier ``size``."""
        with self._lock:
            if (present := os.fstat(self._descriptor).st_size) < size:
                raise ValueError(f"{self.path}: expected at least the {size} bytes of the checkpoint, got {present}")
            os.ftruncate(self._descriptor, size)


class NoLines(JsonLines):
    """The log of a rank that is not the main process: a no-op."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def add(self, record: Any) -> None:
        """Discard a record."""

    def size(self) -> int:
        """Always 0."""
        return 0

    def cut(self, size: int) -> None:
        """Nothing to truncate."""


def _mend(disk: Files, path: Path) -> None:
    """Truncate a partial last line, left by a crash."""
    try:
        content = safe_open.content(path, MOST_BYTES)
    except FileNotFoundError:
        return
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        files.replace(disk, path, content[:whole])


def whole_lines(path: Path) -> list[bytes]:
    """The complete lines of a file, without line ends; empty if the file is missing."""
    try:
        content = safe_open.content(path, MOST_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise errors.from_os(error, path) from error
    return content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]


def read(path: Path) -> list[dict[str, Any]]:
    """The records of all complete lines; a line that is not a JSON object is an error."""
    records = [verified.parsed(path, line) for line in whole_lines(path)]
    verified.expect(path, records, [{}])
    return records
