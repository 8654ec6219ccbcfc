"""Labelled states as numpy columns, in shards and batches; and their samples, one per depth that a state admits."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

#: Expert actions stored per row: the deepest commitment.
NEXT = 8
#: The default depths of a policy.
DEPTHS = (1, 2, 4, 8)
#: Values of ``kind``.
KINDS = ("expert", "perturbed", "on-policy")
EXPERT, PERTURBED, ON_POLICY = range(3)
#: Padding of ``actions`` behind the last expert action.
NO_ACTION = 255


@dataclass(frozen=True)
class LabelledRows:
    """N labelled states, all of one size. Row order is part of a data set.

    A commitment of depth h is admissible in row i iff ``h <= distance[i]``, and its expert actions are
    ``actions[i, :h]``. Dead states have distance -1, no optimal action and no expert action.
    """

    instance: NDArray[np.int64]  #: number of the instance in its difficulty's stream, see ``Dataset.ids``
    difficulty: NDArray[np.uint8]  #: index into the spec's difficulties
    length: NDArray[np.int16]  #: optimal length of the instance
    t: NDArray[np.uint16]  #: actions drawn since the start of the instance
    kind: NDArray[np.uint8]  #: index into KINDS
    states: NDArray[np.uint8]  #: [N, rows, columns]
    distance: NDArray[np.int16]
    optimal: NDArray[np.uint8]  #: bit a is set iff action a starts an optimal solution
    count: NDArray[np.uint8]  #: expert actions in the row, min(8, distance)
    actions: NDArray[np.uint8]  #: [N, 8], NO_ACTION behind ``count``

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, key: slice | NDArray[Any]) -> LabelledRows:
        return LabelledRows(*(column[key] for column in self.columns()))

    def columns(self) -> Iterator[NDArray[Any]]:
        """Every column, in the order of the fields."""
        return (getattr(self, field.name) for field in fields(self))

    @property
    def dead(self) -> NDArray[np.bool_]:
        """True for rows from which the goal is unreachable."""
        return self.distance < 0

    def sha256(self) -> str:
        """Hash of the content, independent of platform and file format."""
        digest = hashlib.sha256()
        for field, column in zip(fields(self), self.columns(), strict=True):
            plain = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
            digest.update(f"{field.name} {plain.dtype.str} {plain.shape}\n".encode())
            digest.update(plain.data)
        return digest.hexdigest()


def concatenate(parts: Sequence[LabelledRows]) -> LabelledRows:
    """Concatenate at least one part, in order."""
    return LabelledRows(*(np.concatenate(columns) for columns in zip(*(part.columns() for part in parts), strict=True)))


def bits(masks: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """bool[N, 4] -> one bit per action."""
    return np.packbits(masks, axis=1, bitorder="little")[:, 0]


def masks(optimal: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """One bit per action -> bool[N, 4]."""
    return np.unpackbits(optimal[:, None], axis=1, count=4, bitorder="little").view(bool)


def windows(actions: NDArray[np.uint8], offsets: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """For every action of every plan: the next up to eight actions from it on, padded, and their number."""
    ends = np.repeat(offsets[1:], np.diff(offsets))
    total = int(offsets[-1] - offsets[0])
    count = np.minimum(ends - np.arange(offsets[0], offsets[-1]), NEXT).astype(np.uint8)
    padded = np.concatenate([actions[offsets[0] : offsets[-1]], np.full(NEXT, NO_ACTION, np.uint8)])
    result = np.lib.stride_tricks.sliding_window_view(padded, NEXT)[:total].copy()
    result[np.arange(NEXT) >= count[:, None]] = NO_ACTION
    return result, count


def prefixes(actions: NDArray[np.uint8], offsets: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The first up to eight actions of every plan, padded, and their number."""
    count = np.minimum(np.diff(offsets), NEXT).astype(np.uint8)
    padded = np.concatenate([actions, np.full(NEXT, NO_ACTION, np.uint8)])
    result: NDArray[np.uint8] = padded[offsets[:-1, None] + np.arange(NEXT)]
    result[np.arange(NEXT) >= count[:, None]] = NO_ACTION
    return result, count


@dataclass(frozen=True)
class Samples:
    """S commitments. Sample i belongs to row ``row[i]`` and has the actions ``actions[i, :depth[i]]``."""

    row: NDArray[np.intp]
    depth: NDArray[np.uint8]
    actions: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.row)


def sample_count(length: int) -> int:
    """N(L): number of samples of the states on an optimal path of length L; 4 L - 11 from L = 7 on."""
    return sum(max(0, length - depth + 1) for depth in DEPTHS)


def expand(content: LabelledRows) -> Samples:
    """Every admissible commitment of every row, row by row, short ones first."""
    admits = content.distance[:, None] >= np.array(DEPTHS)
    row, which = np.nonzero(admits)
    depth = np.array(DEPTHS, np.uint8)[which]
    actions = content.actions[row]
    actions[np.arange(NEXT) >= depth[:, None]] = NO_ACTION
    return Samples(row, depth, actions)


def position_weights(distance: NDArray[np.int16]) -> NDArray[np.uint8]:
    """uint8[N, 8]: number of a row's samples that have a target at position j.

    For an action decoder without depth conditioning, one 8-action target with these weights (4, 3, 2, 2, 1, 1, 1, 1
    where depth 8 is admissible) is equivalent to the separate samples.
    """
    return covered(distance, DEPTHS).sum(axis=2, dtype=np.uint8)


def covered(distance: NDArray[np.integer], depths: Sequence[int], places: int = NEXT) -> NDArray[np.bool_]:
    """bool[N, places, D]: True if position j has a target in the sample of a depth, which exists if depth <=
    distance."""
    depth = np.array(depths)
    return (distance[:, None, None] >= depth) & (np.arange(places)[:, None] < depth)
