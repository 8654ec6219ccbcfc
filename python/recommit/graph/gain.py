"""Gain share: which part of what choosing depths can add a rule takes, at one price and over all of them.

The share is (rule - best fixed depth) / (oracle depth - best fixed depth), of mean values over starts. Over the whole
range of prices, an observation costs 1/8 to 8 actions, in half powers of two; the mean of the shares over the logarithm
of the price says how good a rule is whatever observations cost. Its threshold is one for all prices.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.stats import Z95, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: An oracle nearer to the best fixed depth than this leaves nothing to take.
LEAST = 1e-9
#: Prices of an observation, in actions.
RATIOS = tuple(2.0 ** (power / 2) for power in range(-6, 7))


def gain_interval(
    rule: Floats, fixed: Floats, oracle: Floats, groups: NDArray[np.integer] | None = None, *, rounds: int = 2000
) -> Interval | None:
    """The gain share of values per start, and its 95 % interval by drawing whole groups again, the three of a start
    always together; None where the oracle is no better than the fixed depth."""
    taken, there = rule - fixed, oracle - fixed
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


def mean_share(
    rule: Floats, fixed: Floats, oracle: Floats, groups: NDArray[np.integer]
) -> tuple[float | None, float | None, float | None, tuple[float | None, ...]]:
    """Mean gain share over prices, its 95 % interval, and the gain share at each, from values [starts, prices].

    The interval is that of the ratios made linear, which is quick where every state is a start: a group moves the mean
    by what it takes beyond the share of what is there for it.
    """
    taken, there = rule - fixed, oracle - fixed
    some = np.flatnonzero(there.mean(axis=0) > LEAST)
    if not len(some):
        return None, None, None, (None,) * there.shape[1]
    share = taken[:, some].sum(axis=0) / there[:, some].sum(axis=0)
    each = ((taken[:, some] - share * there[:, some]) / there[:, some].sum(axis=0)).mean(axis=1)
    moved = np.bincount(np.unique(groups, return_inverse=True)[1], each)
    mean, half = float(share.mean()), Z95 * sqrt(float(moved @ moved))
    by_price = dict(zip(some.tolist(), share.tolist(), strict=True))
    return mean, mean - half, mean + half, tuple(by_price.get(i) for i in range(there.shape[1]))
