"""The manifest of a finished data set, written once all files that it lists are on disk."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import assignment, parquet, rows, shards
from recommit.data.shards import Record
from recommit.data.spec import SPLITS, DataSpec
from recommit.storage import errors, files, verified
from recommit.storage.safe_open import content
from recommit.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.rows import LabelledRows

NAME = "manifest.json"
_MOST_BYTES = 1 << 28
#: Number of pending keys from which duplicates are dropped.
_COMPACT = 1 << 23
#: Counts of the overlap of the test split with training paths, up to symmetry.
OVERLAPS = (
    "test_starts",
    "test_starts_on_training_paths",
    "test_states",
    "test_states_on_training_paths",
    "distinct_training_states",
)

FIELDS: verified.Fields = {
    "recipe": dict,
    "shards": [shards.FIELDS],
    "overlap": verified.Where(
        {...: int}, lambda seen: not seen or set(OVERLAPS) <= set(seen), f"counts {', '.join(OVERLAPS)}"
    ),
    "versions": {...: str},
    "content_sha256": str,
}


@dataclass(frozen=True)
class Manifest:
    """Spec, ordered shards, overlap of the splits, and the versions that determine the bytes of the files."""

    spec: DataSpec
    shards: tuple[Record, ...]
    overlap: dict[str, int]
    versions: dict[str, str]

    def of(self, split: str) -> list[Record]:
        """The shards of a split, in order."""
        return [record for record in self.shards if shards.parse_name(record.name)[0] == split]

    def total(self, what: str, split: str | None = None) -> int:
        """Sum of a field of the records, over one split or all."""
        records = self.shards if split is None else self.of(split)
        return sum(getattr(record, what) for record in records)

    @property
    def content(self) -> str:
        """sha256 of the rows, independent of versions: identifies the data set."""
        return files.sha256("\n".join(record.content for record in self.shards).encode())

    def to_json(self) -> str:
        """Canonical text: equal for equal data sets."""
        splits = {s: {what: self.total(what, s) for what in shards.NUMBERS} for s in SPLITS if self.of(s)}
        plain = {
            "recipe": self.spec.to_dict(),
            "recipe_sha256": self.spec.hash,
            "content_sha256": self.content,
            "versions": self.versions,
            "splits": splits,
            "overlap": self.overlap,
            "shards": [record.to_dict() for record in self.shards],
        }
        return json.dumps({**plain, "sha256": verified.digest(plain)}, indent=1, sort_keys=True) + "\n"


def overlap_text(seen: dict[str, int]) -> str:
    """The overlap counts as a sentence."""
    return (
        f"{seen['test_starts_on_training_paths']:,} of {seen['test_starts']:,} test starts and "
        f"{seen['test_states_on_training_paths']:,} of {seen['test_states']:,} states of test paths lie on "
        "training paths, up to symmetry"
    )


def versions() -> dict[str, str]:
    """The versions that determine the bytes of a shard, besides the spec."""
    return {"recommit": VERSION, "pyarrow": parquet.pa.__version__}


def order(spec: DataSpec) -> list[tuple[str, int]]:
    """(split, shard) of every shard, in the order of the manifest."""
    return [(split, shard) for split in SPLITS for shard in range(spec.shards(split))]


def read(folder: Path) -> Manifest:
    """Read the manifest of a finished data set and check every field."""
    path = folder / NAME
    try:
        data = content(path, _MOST_BYTES)
    except FileNotFoundError:
        missing = NAME if folder.is_dir() else "such folder"
        raise errors.WrongFolder(f"{folder}: expected a finished data set, found no {missing}") from None
    except NotADirectoryError:
        raise errors.WrongFolder(f"{folder}: expected the folder of a data set, got a file") from None
    except OSError as error:
        raise errors.from_os(error, path) from error
    plain = verified.record(path, data, FIELDS)
    try:
        spec = DataSpec.from_dict(plain["recipe"])
    except errors.WrongDataSpec as error:
        raise errors.Damaged(f"{path}: {error}") from None
    if (count := sum(map(spec.shards, SPLITS))) != len(plain["shards"]):  # before enumerating their names
        raise errors.Damaged(f"{path}: shards: expected the {count} that the recipe makes, got {len(plain['shards'])}")
    for item, place in zip(plain["shards"], order(spec), strict=True):
        wanted = {"name": shards.name(spec, *place), "instances": spec.shard_instances(*place)}
        verified.expect(path, item, {field: verified.exactly(value) for field, value in wanted.items()}, "shards")
    records = tuple(Record(**item) for item in plain["shards"])
    result = Manifest(spec, records, plain["overlap"], plain["versions"])
    if result.content != plain["content_sha256"]:
        raise errors.Damaged(f"{path}: content_sha256: expected {result.content}, got {plain['content_sha256']!r:.80}")
    return result


def overlap(folder: Path, spec: DataSpec, records: Sequence[Record], threads: int = 1) -> dict[str, int]:
    """The overlap of the splits; empty for a data set without a test split."""
    by_split = Manifest(spec, tuple(records), {}, {})
    if not by_split.of("test"):
        return {}
    keys = training_keys(folder, spec, by_split.of("train"), threads)
    return measure_overlap(spec, shards.read(folder, spec, by_split.of("test")[0]), keys)


def training_keys(folder: Path, spec: DataSpec, records: list[Record], threads: int) -> NDArray[np.uint64]:
    """Ascending symmetry keys of all states on the training paths: 8 bytes of memory per distinct one."""
    distinct, pending = np.zeros(0, np.uint64), [np.zeros(0, np.uint64)]
    with ThreadPoolExecutor(threads) as pool:
        several = pool.map if threads > 1 else map  # no pool for one thread
        for keys in several(lambda record: shards.keys(folder, spec, record), records):
            pending.append(keys)
            if sum(map(len, pending)) > _COMPACT:
                distinct, pending = np.unique(np.concatenate([distinct, *pending])), []
    return np.unique(np.concatenate([distinct, *pending]))


def measure_overlap(spec: DataSpec, test: LabelledRows, keys: NDArray[np.uint64]) -> dict[str, int]:
    """Count test starts, and states on test paths, in total and on training paths."""
    expert = test[test.kind == rows.EXPERT]
    hit = np.isin(assignment.keys(spec.task, expert.states), keys)
    start = expert.t == 0
    counts = (int(start.sum()), int((hit & start).sum()), len(expert), int(hit.sum()), len(keys))
    return dict(zip(OVERLAPS, counts, strict=True))
