"""A finished data set, read back."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from recommit.data import manifest, rows, samples, shards
from recommit.data.spec import SPLITS
from recommit.storage import errors, safe_open

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.data.manifest import Manifest
    from recommit.data.rows import LabelledRows
    from recommit.data.samples import Samples
    from recommit.data.shards import Record
    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle

#: The file of a folder with a data set of each of several sizes: which folders there are, and what is in them.
INDEX = "sizes.json"


class Dataset:
    """One split of a data folder, or all of them. Holds no rows and no open files; safe to share and to send."""

    def __init__(self, folder: Path, manifest_: Manifest, split: str | None) -> None:
        self.folder = folder
        self.manifest = manifest_
        self.split = split

    @property
    def spec(self) -> DataSpec:
        """What it was built from."""
        return self.manifest.spec

    @property
    def puzzle(self) -> Puzzle:
        """The task whose states these are."""
        return self.spec.puzzle()

    @property
    def records(self) -> Sequence[Record]:
        """The shards, in order."""
        return self.manifest.shards if self.split is None else self.manifest.of(self.split)

    def __len__(self) -> int:
        return sum(record.rows for record in self.records)

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> LabelledRows: ...
    def __getitem__(self, key: int | slice) -> dict[str, Any] | LabelledRows:
        """Row ``key`` as plain values, or the rows of a slice."""
        if isinstance(key, slice):
            return self._rows(np.arange(len(self))[key])
        content = self._rows(np.array([range(len(self))[key]]))
        row = {field: getattr(content, field)[0] for field in ("states", "t", "kind", "length", "distance")}
        count = int(content.count[0])
        actions = content.actions[0, :count].tolist()
        plain = {name: int(row[name]) for name in ("t", "length", "distance")}
        optimal = np.flatnonzero(rows.masks(content.optimal)[0]).tolist()
        named = {"id": self.ids(content)[0], "kind": rows.KINDS[row["kind"]]}
        return {**named, "state": row["states"], **plain, "optimal": optimal, "actions": actions}

    def _rows(self, places: NDArray[np.intp]) -> LabelledRows:
        """Rows by place, in the order of ``places``; the shards that hold them are read, the last few stay."""
        ends = np.cumsum([record.rows for record in self.records])
        which = np.searchsorted(ends, places, side="right")
        parts = [_shard(self.folder, self.spec, self.records[i])[:0] for i in range(min(1, len(ends)))]
        order = [np.zeros(0, np.intp)]
        for shard in np.unique(which):
            here = np.flatnonzero(which == shard)
            content = _shard(self.folder, self.spec, self.records[shard])
            parts.append(content[places[here] - (ends[shard] - self.records[shard].rows)])
            order.append(here)
        return rows.concatenate(parts)[np.argsort(np.concatenate(order))]

    def __repr__(self) -> str:
        return f"<{self.folder.name} {self.split or 'all splits'}: {len(self)} rows of {self.spec.task}>"

    def shards(self) -> Iterator[LabelledRows]:
        """The rows, a shard at a time."""
        return (shards.read(self.folder, self.spec, record) for record in self.records)

    def columns(self) -> LabelledRows:
        """All rows at once."""
        parts = list(self.shards())
        if not parts:
            raise errors.WrongDataSpec(f"split: expected one with rows, got {self.split}")
        return rows.concatenate(parts)

    def starts(self) -> LabelledRows:
        """The instances: the first state of every expert path."""
        content = self.columns()
        return content[(content.t == 0) & (content.kind == rows.EXPERT)]

    def expand(self) -> Iterator[tuple[LabelledRows, Samples]]:
        """Every (state, depth, actions) sample, a shard at a time, with the rows that they are made in."""
        return ((content, samples.expand(content)) for content in self.shards())

    def ids(self, content: LabelledRows) -> list[str]:
        """The instance id of each row."""
        return self.spec.ids(content.difficulty.tolist(), content.instance.tolist())


@lru_cache(maxsize=4)
def _shard(folder: Path, spec: DataSpec, record: Record) -> LabelledRows:
    return shards.read(folder, spec, record)


def open_folder(folder: str | Path, split: str | None = "train") -> Dataset:
    """A finished data set; ``split=None`` or ``"all"`` for all splits together."""
    split = None if split == "all" else split
    if split is not None and split not in SPLITS:
        raise errors.WrongDataSpec(f"split: expected one of {', '.join(SPLITS)} or all, got {split}")
    path = Path(folder).absolute()
    if (path / INDEX).is_file():
        raise errors.WrongFolder(
            f"{path}: expected a data set of one size, got several; recommit.data.open_all opens each"
        )
    return Dataset(path, manifest.read(path), split)


def open_all(folder: str | Path, split: str | None = "train") -> list[Dataset]:
    """Every data set of a folder: one, or one of each size."""
    path = Path(folder).absolute()
    if not os.path.lexists(path / INDEX):
        return [open_folder(path, split)]
    every = []
    for name, content in _listed(path / INDEX).items():
        dataset = open_folder(path / name, split)
        if dataset.manifest.content != content:
            raise errors.Damaged(f"{path / name}: expected content {content}, got {dataset.manifest.content}")
        every.append(dataset)
    return every


def _listed(path: Path) -> dict[str, str]:
    """Folders on a list of data sets, with their contents."""
    try:
        plain = manifest.unsealed(path, safe_open.content(path))
    except OSError as error:
        raise errors.from_os(error, path) from error
    return {each["folder"]: each["content_sha256"] for each in plain["sets"]}
