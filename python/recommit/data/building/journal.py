"""Which shards are finished, while a build is under way: one checked line per shard, only ever appended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from recommit.data.shards import Record
from recommit.storage import jsonl, verified

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.storage.files import Files

NAME = ".journal"


class ShardJournal(jsonl.JsonLines):
    """Notes finished shards, each line behind its own sha256; a record is on the disk when ``add`` returns."""

    def __init__(self, disk: Files, folder: Path) -> None:
        super().__init__(folder / NAME, disk)

    def line(self, record: Record) -> bytes:
        """The sha256 of a record, and the record."""
        return verified.checkable(json.dumps(record.to_dict(), sort_keys=True))


def read(folder: Path) -> dict[str, Record]:
    """The records of all lines that are as they were written, by name; the last one of a name counts."""
    records = {}
    for line in jsonl.whole_lines(folder / NAME):
        if (text := verified.checked(line)) is not None:
            record = Record.from_dict(json.loads(text))
            records[record.name] = record
    return records
