"""Batches of rows in a reproducible random order, from one or several data sets that need not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data import parquet, rows, shards
from recommit.storage import errors
from recommit.storage.recipe_text import brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows
    from recommit.data.spec import DataSpec

#: Most rows of a stream: the largest integer that JSON numbers hold exactly.
MOST_ROWS = 1 << 53


@dataclass(frozen=True)
class _Block:
    """One row group of one shard, and the number of its live rows."""

    shard: int
    group: int
    rows: int


class Order:
    """The endless order of a data set's rows, epoch after epoch.

    Every epoch is one permutation of all rows: blocks of rows are dealt in random order into windows of about
    ``window`` rows, and rows are shuffled within a window. The order is a function of (data, seed, epoch) alone. One
    window is in memory. Dead rows have no expert action and are left out. Not thread-safe.
    """

    def __init__(self, dataset: Dataset, *, seed: int = 0, window: int = 1 << 18) -> None:
        self.dataset, self.seed, self.window = dataset, seed, window
        self.blocks = list(_blocks(dataset))
        #: Rows per epoch.
        self.total = sum(block.rows for block in self.blocks)
        if not self.total:
            raise errors.WrongDataSpec(f"dataset: expected at least one row, got {dataset!r}")
        self._dealt: tuple[int, list[_Block], NDArray[np.int64]] | None = None
        self._held: tuple[tuple[int, int], LabelledRows, NDArray[np.intp]] | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """JSON values that determine the order of the rows."""
        data = {"content": self.dataset.manifest.content, "split": self.dataset.split}
        return {**data, "seed": self.seed, "window": self.window}

    def take(self, begin: int, end: int) -> LabelledRows:
        """Rows ``begin`` to ``end`` of the endless stream."""
        parts = []
        while begin < end:
            epoch, at = divmod(begin, self.total)
            content, order, first = self._find(epoch, at)
            stop = min(end - begin + at, first + len(order))
            parts.append(content[order[at - first : stop - first]])
            begin += stop - at
        return parts[0] if len(parts) == 1 else rows.concatenate(parts)

    def _find(self, epoch: int, at: int) -> tuple[LabelledRows, NDArray[np.intp], int]:
        """Load the window with row ``at`` of an epoch; returns its rows, their order, and the number of the first."""
        blocks, starts = self._deal(epoch)
        window = int(np.searchsorted(starts, at, side="right")) - 1
        if self._held is None or self._held[0] != (epoch, window):
            self._held = None  # free the old window before loading the new one
            content = self._load(blocks, int(starts[window]), int(starts[window + 1]))
            self._held = (epoch, window), content, self._order(epoch, window, len(content))
        return self._held[1], self._held[2], int(starts[window])

    def _deal(self, epoch: int) -> tuple[list[_Block], NDArray[np.int64]]:
        """Blocks in the order of an epoch, and the row numbers of window boundaries."""
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
        seed = rng.derived_seed(self.seed, rng.Purpose.SHUFFLE, epoch)
        stream = rng.streams(
            rng.derived_seed(seed, rng.Purpose.SHUFFLE, window + 1), rng.Purpose.SHUFFLE, np.arange(count)
        )
        return np.argsort(rng.draw(stream, 0), kind="stable")

    def _load(self, blocks: list[_Block], begin: int, end: int) -> LabelledRows:
        """The live rows of the blocks that begin within rows ``begin`` to ``end`` of an epoch."""
        firsts = np.cumsum([0, *(block.rows for block in blocks)])
        chosen = [block for block, first in zip(blocks, firsts, strict=False) if begin <= first < end]
        parts: list[LabelledRows | None] = [None] * len(chosen)
        for shard in {block.shard for block in chosen}:
            file = shards.open_file(self.dataset.folder, self.dataset.records[shard])
            for i, block in enumerate(chosen):
                if block.shard == shard:
                    content = parquet.read_groups(self.dataset.spec, file, [block.group])
                    parts[i] = self._alive(block, content[~content.dead] if content.dead.any() else content)
        return rows.concatenate([part for part in parts if part is not None])

    def _alive(self, block: _Block, content: LabelledRows) -> LabelledRows:
        """The live rows of a block; a wrong count raises, since with fewer rows ``take`` would not terminate."""
        if len(content) != block.rows:
            record = self.dataset.records[block.shard]
            path, many = self.dataset.folder / record.name, f"{record.dead} dead rows"
            raise errors.Damaged(f"{path}: expected {many} as the manifest says, got {block.rows - len(content)} more")
        return content


def _blocks(dataset: Dataset) -> Iterator[_Block]:
    for shard, record in enumerate(dataset.records):
        file = shards.open_file(dataset.folder, record)
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if record.dead:
                distance = file.read_row_group(group, columns=["distance"])["distance"].to_numpy()
                count -= int((distance < 0).sum())
            if count:
                yield _Block(shard, group, count)


@dataclass(frozen=True)
class Portion:
    """The part of a batch from one data set."""

    #: At least one row, since ranks must run the model together.
    rows: LabelledRows
    #: Number of rows that belong to the batch: all, or 0.
    count: int
    #: Number of the first row in the endless stream of its data set.
    first: int


class Mixture:
    """An endless stream of batches of ``batch`` rows for this rank, from one data set or several.

    Rows are numbered over all ranks. In every block of sum(weights) rows each data set has as many as its weight, at
    positions drawn by a counter-based generator. So the data set of row n, and the row within it, are functions of
    (data, weights, seed, n) alone: a run can stop anywhere and resume at the exact next row, even with another number
    of ranks. A single data set is read in its ``Order``.
    """

    def __init__(
        self,
        datasets: Sequence[Dataset],
        batch: int,
        *,
        weights: Sequence[int] = (),
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        window: int = 1 << 18,
    ) -> None:
        for name, value in (("batch", batch), ("world", world), ("window", window)):
            if value < 1:
                raise ValueError(f"{name}: expected at least 1, got {value}")
        if not 0 <= rank < world:
            raise ValueError(f"rank: expected 0..{world - 1}, got {rank}")
        self.orders = [Order(dataset, seed=seed, window=window) for dataset in datasets]
        self.weights = tuple(weights or even_weights([dataset.spec for dataset in datasets]))
        if len(self.weights) != (sets := len(datasets)) or min(self.weights) < 1:
            wanted = f"a number from 1 on for each of {sets} data sets"
            raise errors.WrongDataSpec(f"mix: expected {wanted}, got {list(self.weights)}")
        self.batch, self.seed, self.rank, self.world = batch, seed, rank, world
        #: Total rows of all data sets.
        self.total = sum(order.total for order in self.orders)
        #: Rows consumed so far, over all ranks.
        self.position = 0

    def __iter__(self) -> Iterator[list[Portion]]:
        return self

    def __next__(self) -> list[Portion]:
        begin = self.position + self.rank * self.batch
        low, high = self.before(begin), self.before(begin + self.batch)
        self.position += self.batch * self.world
        spans = zip(self.orders, low.tolist(), high.tolist(), strict=True)
        return [Portion(order.take(first, max(end, first + 1)), end - first, first) for order, first, end in spans]

    @property
    def most(self) -> list[int]:
        """Most rows per batch from each data set."""
        return most_rows(self.batch, self.weights)

    def deal(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """[blocks, sum(weights)]: the data set of each row of the blocks."""
        sets = np.repeat(np.arange(len(self.weights)), self.weights)
        places = np.arange(len(sets), dtype=np.uint64)
        number = blocks.astype(np.uint64)[:, None] * np.uint64(len(sets)) + places
        return sets[np.argsort(rng.draw(rng.streams(self.seed, rng.Purpose.MIX, number), 0), axis=1)]

    def before(self, row: int) -> NDArray[np.int64]:
        """Number of rows of each data set before row number ``row``."""
        block, place = divmod(row, sum(self.weights))
        begun = self.deal(np.array([block]))[0, :place]
        return block * np.array(self.weights) + np.bincount(begun, minlength=len(self.weights))

    @property
    def identity(self) -> dict[str, Any]:
        """JSON values that determine the order of the rows; for one data set, those of its order."""
        every = [order.identity for order in self.orders]
        return every[0] if len(every) == 1 else {"weights": list(self.weights), "sets": every}

    def state_dict(self) -> dict[str, Any]:
        """Position of the stream, as JSON values."""
        return {"position": self.position, "identity": self.identity}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume at the exact next row."""
        if state["identity"] != self.identity:
            raise ValueError(f"state: expected one of {self.identity}, got {state['identity']}")
        position = state["position"]
        if not isinstance(position, int) or not 0 <= position < MOST_ROWS:
            raise ValueError(f"state: expected a position of 0..{MOST_ROWS - 1}, got {brief(position)}")
        self.position = position


def most_rows(batch: int, weights: Sequence[int]) -> list[int]:
    """Most rows from each data set in a batch of one rank."""
    block = sum(weights)
    whole, rest = divmod(batch, block)
    touched = whole if not rest else -(-(batch - 1) // block) + 1
    return [min(batch, touched * weight) for weight in weights]


def even_weights(specs: Sequence[DataSpec]) -> tuple[int, ...]:
    """Smallest integer weights that give equal shares to tasks, and to the difficulties of a task."""
    difficulties = [len(spec.difficulties) for spec in specs]
    whole = {spec.task: 0 for spec in specs}
    for spec, count in zip(specs, difficulties, strict=True):
        whole[spec.task] += count
    common = lcm(*whole.values())
    weights = [count * common // whole[spec.task] for spec, count in zip(specs, difficulties, strict=True)]
    return tuple(weight // gcd(*weights) for weight in weights)
