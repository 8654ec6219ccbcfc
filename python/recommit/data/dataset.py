"""Reading a finished data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recommit.data import manifest, rows, shards
from recommit.data.spec import SPLITS
from recommit.storage import errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recommit.data.manifest import Manifest
    from recommit.data.rows import LabelledRows, Samples
    from recommit.data.shards import Record
    from recommit.data.spec import DataSpec
    from recommit.puzzles.puzzle import Puzzle


class Dataset:
    """One split of a data folder, or all. Holds no rows and no open files; thread-safe and picklable."""

    def __init__(self, folder: Path, manifest_: Manifest, split: str | None) -> None:
        self.folder = folder
        self.manifest = manifest_
        self.split = split

    @property
    def spec(self) -> DataSpec:
        """The spec that it was built from."""
        return self.manifest.spec

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle of the states."""
        return self.spec.puzzle()

    @property
    def records(self) -> Sequence[Record]:
        """The shards, in order."""
        return self.manifest.shards if self.split is None else self.manifest.of(self.split)

    def __len__(self) -> int:
        return sum(record.rows for record in self.records)

    def __repr__(self) -> str:
        return f"<{self.folder.name} {self.split or 'all splits'}: {len(self)} rows of {self.spec.task}>"

    def shards(self) -> Iterator[LabelledRows]:
        """Iterate over the rows, one shard at a time."""
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
        """Iterate over (rows, samples) per shard, with every (state, depth, actions) sample."""
        return ((content, rows.expand(content)) for content in self.shards())

    def ids(self, content: LabelledRows) -> list[str]:
        """The instance id of each row."""
        return self.spec.ids(content.difficulty.tolist(), content.instance.tolist())


def open_folder(folder: str | Path, split: str | None = "train") -> Dataset:
    """Open a finished data set; ``split=None`` or ``"all"`` for all splits together."""
    split = None if split == "all" else split
    if split is not None and split not in SPLITS:
        raise errors.WrongDataSpec(f"split: expected one of {', '.join(SPLITS)} or all, got {split}")
    path = Path(folder).absolute()
    return Dataset(path, manifest.read(path), split)
