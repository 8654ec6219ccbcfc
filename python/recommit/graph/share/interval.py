"""Gain share with its interval: which part of what choosing depths can add a rule takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.stats import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: A ceiling nearer to the constant than this leaves nothing to take.
LEAST = 1e-9


def gain_interval(
    rule: Floats, constant: Floats, ceiling: Floats, groups: NDArray[np.integer] | None = None, *, rounds: int = 2000
) -> Interval | None:
    """(rule - constant) / (ceiling - constant) of mean values per start, and its 95 % interval by drawing whole groups
    again, the three of a start always together; None where the ceiling is no higher than the constant."""
    taken, there = rule - constant, ceiling - constant
    if len(rule) == 0 or there.mean() <= LEAST:
        return None
    rooms = np.arange(len(rule)) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums = np.stack([np.bincount(rooms, taken), np.bincount(rooms, there)], axis=1)
    pairs, counts = np.unique(sums, axis=0, return_counts=True)
    generator = np.random.Generator(np.random.Philox(key=rng.derived_seed(0, rng.Purpose.BOOTSTRAP, 0)))
    drawn = generator.multinomial(int(counts.sum()), counts / counts.sum(), size=rounds) @ pairs
    drawn = drawn[drawn[:, 1] > LEAST]
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], (0.025, 0.975))
    return Interval(float(taken.sum() / there.sum()), float(low), float(high))
