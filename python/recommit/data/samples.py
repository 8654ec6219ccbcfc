"""From rows to (state, depth, actions) samples: one per depth that a state admits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.data.rows import DEPTHS, NEXT, NO_ACTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.data.rows import LabelledRows


@dataclass(frozen=True)
class Samples:
    """S commitments. Sample i is made in row ``row[i]``; ``actions[i, :depth[i]]`` are its actions."""

    row: NDArray[np.intp]
    depth: NDArray[np.uint8]
    actions: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.row)


def sample_count(length: int) -> int:
    """N(L): how many samples the states on an optimal path of that length admit; 4 L - 11 from L = 7 on."""
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
    """uint8[N, 8]: in how many of a row's samples position j has a target.

    An action decoder that does not see the depth learns the same from one 8-action target with these weights
    (4, 3, 2, 2, 1, 1, 1, 1 where depth 8 is admissible) as from the samples one by one.
    """
    result: NDArray[np.uint8] = covered(distance, DEPTHS).sum(axis=2, dtype=np.uint8)
    return result


def covered(distance: NDArray[np.integer], depths: Sequence[int]) -> NDArray[np.bool_]:
    """bool[N, 8, D]: does position j have a target in the sample of each depth? Not if the goal is nearer than that."""
    depth = np.array(depths)
    result: NDArray[np.bool_] = (distance[:, None, None] >= depth) & (np.arange(NEXT)[:, None] < depth)
    return result
