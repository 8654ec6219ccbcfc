"""Shards: a function of (spec, split, number), written once, described by a record.

During a build, an append-only journal holds the records of finished shards, one line with checksum each.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import assignment, labels, parquet, rows, sampling
from recommit.storage import errors, files, jsonl, verified

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.rows import LabelledRows
    from recommit.data.spec import DataSpec
    from recommit.storage.files import Files

FOLDER = "data"
JOURNAL = ".journal"


@dataclass(frozen=True)
class Record:
    """One shard in the manifest. ``sha256`` and ``bytes`` are the file's, ``content`` the rows'."""

    name: str
    sha256: str
    bytes: int
    content: str
    rows: int
    instances: int
    samples: int
    dead: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


#: Counts of a record.
NUMBERS = ("rows", "instances", "samples", "dead", "bytes")
_NAME = re.compile(r"data/(train|validation|test)-([0-9]{5,9})-of-([0-9]{5,9})\.parquet", re.ASCII)
FIELDS: verified.Fields = {
    "name": verified.Where(str, _NAME.fullmatch, "a shard like data/train-00000-of-00001.parquet"),
    "sha256": str,
    "content": str,
    **dict.fromkeys(NUMBERS, verified.within(0)),
    ...: (),
}


def name(spec: DataSpec, split: str, shard: int) -> str:
    """Path of a shard inside the folder, by the Hub's naming convention, from which readers infer splits."""
    return f"{FOLDER}/{split}-{shard:05d}-of-{spec.shards(split):05d}.parquet"


def parse_name(text: str) -> tuple[str, int, int]:
    """(split, shard, number of shards) of a shard's name."""
    match = _NAME.fullmatch(text)
    assert match is not None
    return match[1], int(match[2]), int(match[3])


def samples(content: LabelledRows) -> int:
    """Number of admissible (state, depth) pairs of the rows."""
    return int(sum((content.distance >= depth).sum() for depth in rows.DEPTHS))


def make(spec: DataSpec, split: str, shard: int) -> LabelledRows:
    """The rows of a shard."""
    starts = sampling.starts(spec, split, shard)
    return labels.shard_rows(spec, split, shard, starts)


def write(files_: Files, folder: Path, spec: DataSpec, split: str, shard: int, content: LabelledRows) -> Record:
    """Write a shard's file atomically; returns its record."""
    data = parquet.encode(parquet.to_table(spec, split, content))
    path = name(spec, split, shard)
    files.replace(files_, folder / path, data)
    return Record(
        name=path,
        sha256=files.sha256(data),
        bytes=len(data),
        content=content.sha256(),
        rows=len(content),
        instances=spec.shard_instances(split, shard),
        samples=samples(content),
        dead=int(content.dead.sum()),
    )


def read(folder: Path, spec: DataSpec, record: Record) -> LabelledRows:
    """All rows of a shard."""
    file = open_file(folder, record)
    return parquet.read_groups(spec, file, list(range(file.num_row_groups)))


def open_file(folder: Path, record: Record) -> Any:
    """Open the Parquet file of a shard; refused if it does not match its record."""
    path = folder / record.name
    if not intact(folder, record):
        raise errors.Damaged(f"{path}: not what the manifest says; building again repairs it")
    try:
        parquet.refuse_trap(file := parquet.reader(path), record.bytes)
    except MemoryError:  # Arrow's is an ArrowException as well
        raise
    except (OSError, parquet.pa.ArrowException) as error:
        raise errors.Damaged(f"{path}: cannot be read: {error}") from error
    if file.metadata.num_rows != record.rows:
        raise errors.Damaged(f"{path}: expected {record.rows} rows, got {file.metadata.num_rows}")
    return file


def intact(folder: Path, record: Record) -> bool:
    """True if the file's size and hash match the record."""
    path = folder / record.name
    try:
        return path.stat().st_size == record.bytes and files.file_sha256(path) == record.sha256
    except FileNotFoundError:
        return False
    except OSError as error:
        raise errors.from_os(error, path) from error


def keys(folder: Path, spec: DataSpec, record: Record) -> NDArray[np.uint64]:
    """The distinct symmetry keys of a shard's expert states, ascending."""
    content = read(folder, spec, record)
    return np.unique(assignment.keys(spec.task, content.states[content.kind == rows.EXPERT]))


class ShardJournal(jsonl.JsonLines):
    """Journal of finished shards, each line with its sha256; a record is on disk when ``add`` returns."""

    def __init__(self, disk: Files, folder: Path) -> None:
        super().__init__(folder / JOURNAL, disk)

    def line(self, record: Record) -> bytes:
        """One line: the sha256 of a record, and the record."""
        return verified.checkable(json.dumps(record.to_dict(), sort_keys=True))


def read_journal(folder: Path) -> dict[str, Record]:
    """The records of all intact lines, by name; the last one of a name wins."""
    records = {}
    for line in jsonl.whole_lines(folder / JOURNAL):
        if (text := verified.checked(line)) is not None:
            verified.expect(folder / JOURNAL, values := verified.parsed(folder / JOURNAL, text), FIELDS)
            records[values["name"]] = Record(**values)
    return records
