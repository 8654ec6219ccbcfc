"""Rows in a reproducible random order, batch by batch, from shards that need not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data import rows, shards, table
from recommit.data.feeding.resumable import Resumable
from recommit.storage import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows


@dataclass(frozen=True)
class _Block:
    """One row group of one shard, and how many of its rows are wanted."""

    shard: int
    group: int
    rows: int


class Feed(Resumable):
    """An endless (or ``epochs`` long) stream of batches of ``batch`` rows for this rank.

    Every epoch is one permutation of all rows: blocks of rows are dealt in random order into windows of about
    ``window`` rows, and rows are shuffled within a window. The order is a function of (data, seed, epoch) alone; batch
    number b of all ranks together is the b-th stretch of it. So a run can stop anywhere and go on at the exact next
    row, even with another number of ranks. One window is in memory. Dead rows have nothing to imitate and are left out
    unless ``dead`` is set. Not safe to share between threads.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        epochs: int | None = None,
        rank: int = 0,
        world: int = 1,
        window: int = 1 << 18,
        dead: bool = False,
    ) -> None:
        for name, value, low in (("batch", batch, 1), ("world", world, 1), ("window", window, 1)):
            if value < low:
                raise ValueError(f"{name}: expected at least {low}, got {value}")
        if not 0 <= rank < world:
            raise ValueError(f"rank: expected 0..{world - 1}, got {rank}")
        self.dataset, self.batch, self.seed, self.shuffle = dataset, batch, seed, shuffle
        self.epochs, self.rank, self.world, self.window, self.dead = epochs, rank, world, window, dead
        self.blocks = list(_blocks(dataset, dead))
        #: Rows per epoch, all ranks together.
        self.total = sum(block.rows for block in self.blocks)
        if not self.total:
            raise errors.WrongDataSpec(f"dataset: expected at least one row, got {dataset!r}")
        #: Rows handed out so far, all ranks together, all epochs.
        self.position = 0
        self._dealt: tuple[int, list[_Block], NDArray[np.int64]] | None = None
        self._held: tuple[tuple[int, int], LabelledRows, NDArray[np.intp]] | None = None

    def __iter__(self) -> Iterator[LabelledRows]:
        return self

    def __next__(self) -> LabelledRows:
        stretch = self.batch * self.world
        if self.epochs is not None and self.position + stretch > self.epochs * self.total:
            raise StopIteration
        begin = self.position + self.rank * self.batch
        result = self.take(begin, begin + self.batch)
        self.position += stretch
        return result

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the order of the rows; plain values."""
        order = {"seed": self.seed, "shuffle": self.shuffle, "window": self.window, "dead": self.dead}
        return {"content": self.dataset.manifest.content, "split": self.dataset.split, **order}

    def take(self, begin: int, end: int) -> LabelledRows:
        """Rows number begin..end of the endless stream."""
        parts = []
        while begin < end:
            epoch, at = divmod(begin, self.total)
            content, order, first = self._find(epoch, at)
            stop = min(end - begin + at, first + len(order))
            parts.append(content[order[at - first : stop - first]])
            begin += stop - at
        return parts[0] if len(parts) == 1 else rows.concatenate(parts)

    def _find(self, epoch: int, at: int) -> tuple[LabelledRows, NDArray[np.intp], int]:
        """The window around row ``at`` of an epoch, loaded, with the order of its rows and the number of its first."""
        blocks, starts = self._deal(epoch)
        window = int(np.searchsorted(starts, at, side="right")) - 1
        if self._held is None or self._held[0] != (epoch, window):
            self._held = None  # let the old window go before the new one comes
            content = self._load(blocks, int(starts[window]), int(starts[window + 1]))
            self._held = (epoch, window), content, self._order(epoch, window, len(content))
        return self._held[1], self._held[2], int(starts[window])

    def _deal(self, epoch: int) -> tuple[list[_Block], NDArray[np.int64]]:
        """Blocks in the order of an epoch, and the row numbers at which windows begin (and the last ends)."""
        if self._dealt is None or self._dealt[0] != epoch:
            order = self._order(epoch, -1, len(self.blocks))
            blocks = [self.blocks[i] for i in order]
            starts, filled = [0], 0
            for block in blocks:
                filled += block.rows
                if filled - starts[-1] >= self.window:
                    starts.append(filled)
            if starts[-1] != filled:
                starts.append(filled)
            self._dealt = epoch, blocks, np.array(starts)
        return self._dealt[1], self._dealt[2]

    def _order(self, epoch: int, window: int, count: int) -> NDArray[np.intp]:
        if not self.shuffle:
            return np.arange(count)
        seed = rng.derived_seed(self.seed, rng.Purpose.SHUFFLE, epoch)
        stream = rng.streams(
            rng.derived_seed(seed, rng.Purpose.SHUFFLE, window + 1), rng.Purpose.SHUFFLE, np.arange(count)
        )
        return np.argsort(rng.draw(stream, 0), kind="stable")

    def _load(self, blocks: list[_Block], begin: int, end: int) -> LabelledRows:
        """The wanted rows of the blocks that hold rows begin..end of an epoch."""
        firsts = np.cumsum([0, *(block.rows for block in blocks)])
        chosen = [block for block, first in zip(blocks, firsts, strict=False) if begin <= first < end]
        parts: list[LabelledRows | None] = [None] * len(chosen)
        for shard in {block.shard for block in chosen}:
            file = shards.open_file(self.dataset.folder, self.dataset.records[shard])
            for i, block in enumerate(chosen):
                if block.shard == shard:
                    parts[i] = self._wanted(table.read_groups(self.dataset.spec, file, [block.group]))
        return rows.concatenate([part for part in parts if part is not None])

    def _wanted(self, content: LabelledRows) -> LabelledRows:
        return content if self.dead or not content.dead.any() else content[~content.dead]


def _blocks(dataset: Dataset, dead: bool) -> Iterator[_Block]:
    for shard, record in enumerate(dataset.records):
        file = shards.open_file(dataset.folder, record)
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if record.dead and not dead:
                distance = file.read_row_group(group, columns=["distance"])["distance"].to_numpy()
                count -= int((distance < 0).sum())
            if count:
                yield _Block(shard, group, count)
