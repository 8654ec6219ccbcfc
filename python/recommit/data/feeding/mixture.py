"""Rows of several data sets in one stream, each with its share of every batch."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.data.feeding.feed import Feed
from recommit.data.feeding.resumable import Resumable
from recommit.storage import errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recommit.data.dataset import Dataset
    from recommit.data.rows import LabelledRows
    from recommit.data.spec import DataSpec


@dataclass(frozen=True)
class Portion:
    """What a batch has of one data set."""

    #: At least one row, so that whoever must go through a model has something to show it.
    rows: LabelledRows
    #: How many of the rows belong to the batch: all of them, or none.
    count: int
    #: Number of the first row in the endless stream of its data set.
    first: int


class Mixture(Resumable):
    """An endless stream of batches of ``batch`` rows for this rank, from one data set or several.

    Rows of all ranks together are numbered. Of every sum(weights) rows in turn each data set has as many as its weight;
    which ones is drawn by a counter. So the data set of row n, and which of its rows that is, are functions of (data,
    weights, seed, n) alone: a run can stop anywhere and go on, even with another number of ranks. One data set alone
    gives what its ``Feed`` gives.
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
    ) -> None:
        self.feeds = [Feed(dataset, batch, seed=seed, rank=rank, world=world) for dataset in datasets]
        self.weights = _checked(weights or even([dataset.spec for dataset in datasets]), len(datasets))
        self.batch, self.seed, self.rank, self.world = batch, seed, rank, world
        #: Rows of all data sets.
        self.total = sum(feed.total for feed in self.feeds)
        #: Rows handed out so far, all ranks together.
        self.position = 0

    def __iter__(self) -> Iterator[list[Portion]]:
        return self

    def __next__(self) -> list[Portion]:
        begin = self.position + self.rank * self.batch
        low, high = self.before(begin), self.before(begin + self.batch)
        self.position += self.batch * self.world
        return [_portion(feed, int(a), int(b)) for feed, a, b in zip(self.feeds, low, high, strict=True)]

    @property
    def most(self) -> list[int]:
        """Rows that a batch has of each data set at most."""
        block = sum(self.weights)
        whole, rest = divmod(self.batch, block)
        touched = whole if not rest else -(-(self.batch - 1) // block) + 1
        return [min(self.batch, touched * weight) for weight in self.weights]

    def deal(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """[blocks, sum(weights)]: the data set of each row of some blocks."""
        sets = np.repeat(np.arange(len(self.weights)), self.weights)
        places = np.arange(len(sets), dtype=np.uint64)
        number = blocks.astype(np.uint64)[:, None] * np.uint64(len(sets)) + places
        result: NDArray[np.int64] = sets[
            np.argsort(rng.draw(rng.streams(self.seed, rng.Purpose.MIX, number), 0), axis=1)
        ]
        return result

    def before(self, row: int) -> NDArray[np.int64]:
        """How many of the rows before number ``row`` are of each data set."""
        block, place = divmod(row, sum(self.weights))
        begun = self.deal(np.array([block]))[0, :place]
        counts: NDArray[np.int64] = block * np.array(self.weights) + np.bincount(begun, minlength=len(self.weights))
        return counts

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the order of the rows; of one data set, what its feed says."""
        every = [feed.identity for feed in self.feeds]
        return every[0] if len(every) == 1 else {"weights": list(self.weights), "sets": every}


def even(specs: Sequence[DataSpec]) -> tuple[int, ...]:
    """Every task alike, and every difficulty of a task alike: the smallest whole numbers of rows by data set."""
    difficulties = [max(len(spec.difficulties), 1) for spec in specs]
    whole = {spec.task: 0 for spec in specs}
    for spec, count in zip(specs, difficulties, strict=True):
        whole[spec.task] += count
    common = lcm(*whole.values())
    weights = [count * common // whole[spec.task] for spec, count in zip(specs, difficulties, strict=True)]
    return tuple(weight // gcd(*weights) for weight in weights)


def names(specs: Sequence[DataSpec]) -> list[str]:
    """A word for each data set: its puzzle and size, numbered where several have the same."""
    words = [f"{spec.task}-{spec.size[0]}x{spec.size[1]}" for spec in specs]
    return [f"{word}-{words[:i].count(word) + 1}" if words.count(word) > 1 else word for i, word in enumerate(words)]


def _checked(weights: Sequence[int], sets: int) -> tuple[int, ...]:
    if len(weights) != sets or min(weights) < 1:
        raise errors.WrongDataSpec(
            f"mix: expected a number from 1 on for each of {sets} data sets, got {list(weights)}"
        )
    return tuple(weights)


def _portion(feed: Feed, first: int, end: int) -> Portion:
    return Portion(feed.take(first, max(end, first + 1)), end - first, first)
