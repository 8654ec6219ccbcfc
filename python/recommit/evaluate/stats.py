"""Intervals and tests for paired yes-or-no results and paired numbers; exact where that is affordable."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, erf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The normal quantile of a two-sided 95 % interval.
Z95 = 1.959963984540054
#: Purpose of a random stream; the data's and the trainer's are below 48.
BOOTSTRAP = 48
#: Up to so many pairs that differ, McNemar's test is the exact binomial one.
EXACT_PAIRS = 1000


def wilson(successes: float, trials: int, z: float = Z95) -> tuple[float, float]:
    """95 % interval of a share; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def mcnemar(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Two-sided p of "both solve equally often", from the instances that only one of them solves."""
    first, second = int((one & ~other).sum()), int((other & ~one).sum())
    pairs, fewer = first + second, min(first, second)
    if pairs == 0:
        return 1.0
    if pairs <= EXACT_PAIRS:
        return min(1.0, 2 * sum(comb(pairs, i) for i in range(fewer + 1)) / int(2**pairs))
    distance = (abs(first - second) - 1) / sqrt(pairs)
    return 1.0 - erf(distance / sqrt(2))


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def excludes_zero(self) -> bool:
        """Is the sign of the mean beyond doubt?"""
        return self.low > 0 or self.high < 0


def bootstrap(differences: NDArray[np.floating], *, seed: int = 0, rounds: int = 2000) -> Interval:
    """Of the mean of paired differences, by resampling instances; the same numbers for the same seed.

    Resampling is by counts per distinct value, so that a million yes-or-no differences take milliseconds.
    """
    values, counts = np.unique(np.asarray(differences, np.float64), return_counts=True)
    total = int(counts.sum())
    if total == 0:
        return Interval(0.0, 0.0, 0.0)
    generator = np.random.Generator(np.random.Philox(key=draws.derived_seed(seed, BOOTSTRAP, 0)))
    drawn = generator.multinomial(total, counts / total, size=rounds)
    means = drawn @ values / total
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(counts @ values / total), float(low), float(high))
