"""Journals: one JSON object per line, only ever appended, whole or not there."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from recommit.storage import errors as data_errors
from recommit.storage import files
from recommit.storage import opening as plain
from recommit.zero_shot.errors import DamagedJournal

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from recommit.storage.files import Files


class Lines:
    """Appends records from any thread. The holder of the folder's lock is its one writer.

    A record survives the death of the process and of the machine once ``add`` has returned.
    """

    def __init__(self, files_: Files, path: Path) -> None:
        self.files, self.path = files_, path
        self._lock = threading.Lock()
        self._descriptor = -1
        self._broken = False

    def __enter__(self) -> Self:
        _mend(self.files, self.path)
        try:
            self._descriptor = self.files.append(self.path)
            self.files.flush_folder(self.path.parent)
        except OSError as error:
            raise data_errors.from_os(error, self.path) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._broken = True  # a worker that comes too late finds out
            self.files.close(self._descriptor)

    def add(self, record: dict[str, Any]) -> None:
        """Append one record."""
        # ASCII alone, so that no character of a foreign text ends a line or fits no encoding.
        line = json.dumps(record, allow_nan=False).encode("ascii") + b"\n"
        with self._lock:
            if self._broken:
                raise data_errors.DataError(f"{self.path}: is no longer written")
            try:
                files.write_all(self.files, self._descriptor, line)
                self.files.flush(self._descriptor)
            except OSError as error:
                self._broken = True  # the next line must not be glued to a part of this one
                raise data_errors.from_os(error, self.path) from error


def _mend(files_: Files, path: Path) -> None:
    """Cut off what a crash left of a line."""
    try:
        content = plain.content(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise data_errors.from_os(error, path) from error
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        files.replace(files_, path, content[:whole])


def read(path: Path) -> list[dict[str, Any]]:
    """All whole lines; one that is not a record is an error, since nothing here writes such a line."""
    try:
        content = plain.content(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise data_errors.from_os(error, path) from error
    records = []
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise DamagedJournal(f"{path}: expected a JSON object in line {number}, got something else")
        records.append(record)
    return records
