"""The start states of one shard: a pure function of the spec, the split and the shard's number."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import assignment, boxoban
from recommit.storage import errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec, Difficulty
    from recommit.puzzles.puzzle import Instances

#: Every split and shard reads a separate range of a difficulty's stream of instances.
_SPLIT_STRETCH = {"train": 0, "validation": 1 << 60, "test": 2 << 60, "fresh": 3 << 60}
_SHARD_STRETCH = 1 << 32
#: Acceptance rate of candidates by split.
_SHARE = {"train": 14 / 16, "validation": 1 / 16, "test": 1 / 16, "fresh": 1 / 16}


@dataclass(frozen=True)
class Starts:
    """Start states in the order of their rows. ``number`` regenerates each through ``generate(start=)``."""

    number: NDArray[np.int64]
    difficulty: NDArray[np.uint8]
    states: NDArray[np.uint8]
    length: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.states)

    def where(self, keep: NDArray[np.bool_] | slice | NDArray[np.intp]) -> Starts:
        """The selected starts."""
        return Starts(*(getattr(self, field.name)[keep] for field in fields(self)))


def join(parts: list[Starts]) -> Starts:
    """Concatenate parts in order."""
    return Starts(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Starts)))


def starts(spec: DataSpec, split: str, shard: int) -> Starts:
    """The instances of one shard. Test and validation starts are distinct up to symmetry within their shard."""
    begin = shard * spec.shard
    end = spec.counts[split] if split == "test" else min(begin + spec.shard, spec.counts[split])
    return sample(spec, split, shard, np.arange(begin, end) % len(spec.difficulties))


def sample(
    spec: DataSpec, split: str, shard: int, which: NDArray[np.intp], *, apart: NDArray[np.uint64] | None = None
) -> Starts:
    """Sample instance i of difficulty ``which[i]``. ``apart`` holds sorted ``split_keys`` (of starts or layouts) to
    exclude."""
    parts, positions = [], []
    taken = np.zeros(0, np.uint64)
    for index in range(len(spec.difficulties)):
        place = np.flatnonzero(which == index)
        stream = _Stream(spec, split, shard, index)
        part, used = _accepted(stream, len(place), taken, apart)
        if split != "train" or spec.published:
            taken = np.union1d(taken, used)  # difficulties may overlap: avoid the same start in both
        parts.append(part)
        positions.append(place)
    return join(parts).where(np.argsort(np.concatenate(positions)))


@dataclass
class _Stream:
    """The stream of candidates of one difficulty for one shard."""

    spec: DataSpec
    split: str
    shard: int
    index: int
    used: int = 0
    #: True once the last published level was read.
    ended: bool = False

    @property
    def difficulty(self) -> Difficulty:
        return self.spec.difficulties[self.index]

    def read(self, count: int) -> Starts:
        """The next ``count`` candidates; skips published levels of other lengths and copies of test levels."""
        if self.spec.published:
            return self._published(count)
        first = _SPLIT_STRETCH[self.split] + self.shard * _SHARD_STRETCH + self.used
        drawn = generate(self.spec, self.difficulty, first, count)
        self.used += count
        return Starts(
            np.arange(first, first + count),
            np.full(count, self.index, np.uint8),
            drawn.states,
            drawn.length.astype(np.int16),
        )

    def _published(self, count: int) -> Starts:
        # Each shard gets a share of the levels in proportion to its instances, so that none is used twice.
        levels, total = boxoban.count(self.spec.generator, self.split), max(1, self.spec.counts[self.split])
        done = self.shard * self.spec.shard
        begin, stop = (levels * n // total for n in (done, done + self.spec.shard_instances(self.split, self.shard)))
        first, end = begin + self.used, min(begin + self.used + count, stop)
        self.used, self.ended = end - begin, end == stop
        number = np.arange(first, end)
        states = boxoban.levels(self.spec.generator, self.split, number)
        length = self.spec.puzzle().distance(states, threads=1)
        fits = (length >= self.difficulty.length[0]) & (length <= self.difficulty.length[1])
        fits &= ~boxoban.copies(self.spec.generator, self.split, number)
        drawn = Starts(number, np.full(len(number), self.index, np.uint8), states, length.astype(np.int16))
        return drawn.where(fits)


def generate(spec: DataSpec, difficulty: Difficulty, start: int, count: int) -> Instances:
    """Generate ``count`` instances of a difficulty's stream, from number ``start`` on."""
    puzzle = spec.puzzle(difficulty)
    how = {"length": difficulty.length, **puzzle.options(spec.generator)}
    try:
        return puzzle.generate(count, seed=spec.seed, start=start, threads=1, **how)
    except ValueError as error:
        raise errors.WrongDataSpec(f"difficulties: {puzzle!r} of length {list(difficulty.length)}: {error}") from None


def _accepted(
    stream: _Stream, count: int, taken: NDArray[np.uint64], apart: NDArray[np.uint64] | None
) -> tuple[Starts, NDArray[np.uint64]]:
    """The first ``count`` candidates that belong to the split and are neither taken nor excluded, and their keys."""
    spec = stream.spec
    distinct = stream.split != "train"
    patience = 65536 + 256 * count
    parts: list[Starts] = [stream.read(0)]
    used = np.zeros(0, np.uint64)
    while (have := sum(map(len, parts))) < count:
        if stream.used >= patience or stream.ended:
            raise errors.NotEnough(
                f"{stream.split}: expected {count} distinct instances of length {list(stream.difficulty.length)}, "
                f"found {have} among {stream.used} candidates"
            )
        share = 1.0 if spec.published else _SHARE[stream.split]
        wanted = 16 + int((count - have) / share * 1.05)
        candidates = stream.read(max(wanted, stream.used // 16))
        keys = assignment.keys(spec.task, candidates.states)
        deciding = assignment.split_keys(spec, candidates.states) if spec.disjoint == "layouts" else keys
        keep = assignment.members(spec, candidates.states, deciding, stream.split)
        keep &= ~_contains(taken, keys)
        if apart is not None:
            keep &= ~_contains(apart, deciding)
        if distinct:
            keep &= _first(keys) & ~_contains(used, keys)
        chosen = np.flatnonzero(keep)[: count - have]
        parts.append(candidates.where(chosen))
        used = np.union1d(used, keys[chosen])
    return join(parts), used


def _contains(sorted_keys: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """True for ``keys`` among ``sorted_keys``; faster than ``np.isin``, which would sort again."""
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return sorted_keys[at] == keys


def _first(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """True for the first occurrence of each key."""
    result = np.zeros(len(keys), bool)
    result[np.unique(keys, return_index=True)[1]] = True
    return result
