"""Intervals and tests for paired yes-or-no results and paired numbers; exact where that is affordable.

Instances in one room are alike: who solves one is likelier to solve the next. ``rooms`` says which instances belong
together, one number per instance. Then whole rooms are drawn again, and what is sure is sure of rooms that nobody has
seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, erf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The normal quantile of a two-sided 95 % interval.
Z95 = 1.959963984540054
#: Up to so many pairs that differ, McNemar's test is the exact binomial one.
EXACT_PAIRS = 1000
#: Counts of a bootstrap that are in memory at once.
MOST_DRAWN = 1 << 25


def wilson(successes: float, trials: float, z: float = Z95) -> tuple[float, float]:
    """95 % interval of a share; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(
    solved: NDArray[np.floating] | NDArray[np.bool_], rooms: NDArray[np.integer] | None = None
) -> tuple[float, float]:
    """95 % interval of a share: Wilson's, with as many trials as independent ones would say as much."""
    count = len(solved)
    mean = float(np.mean(solved)) if count else 0.0
    if rooms is None or count == 0:
        return wilson(mean * count, count)
    rooms = np.unique(rooms, return_inverse=True)[1]
    sizes = np.bincount(rooms)
    trials = count * count / float(sizes @ sizes)  # one room is one trial: it has no spread
    if 0.0 < mean < 1.0 and len(sizes) > 1:
        apart = np.bincount(rooms, np.asarray(solved, np.float64) - mean)
        trials = min(mean * (1.0 - mean) * count * count / max(float(apart @ apart), 1e-12), count)
    return wilson(mean * trials, trials)


def mcnemar(one: NDArray[np.bool_], other: NDArray[np.bool_], rooms: NDArray[np.integer] | None = None) -> float:
    """Two-sided p of "both solve equally often", from the instances that only one of them solves; of rooms, by the
    normal law for the sum of their differences."""
    if rooms is not None:
        differ = np.bincount(rooms, one.astype(np.float64) - other)
        return 1.0 - erf(abs(float(differ.sum())) / sqrt(2.0 * max(float(differ @ differ), 1e-12)))
    first, second = int((one & ~other).sum()), int((other & ~one).sum())
    pairs, fewer = first + second, min(first, second)
    if pairs == 0:
        return 1.0
    if pairs <= EXACT_PAIRS:
        return min(1.0, 2 * sum(comb(pairs, i) for i in range(fewer + 1)) / int(2**pairs))
    distance = max(abs(first - second) - 1, 0) / sqrt(pairs)
    return 1.0 - erf(distance / sqrt(2))


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def paired_shares(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> Interval:
    """The difference of two shares of the same instances and its 95 % interval, from the Wilson intervals of both and
    their correlation (Newcombe 1998, method 10). Unlike a bootstrap it stays wide where no instance differs."""
    if not (count := len(one)):
        return Interval(0.0, 0.0, 0.0)
    both, first, second, none = (int(each.sum()) for each in (one & other, one & ~other, other & ~one, ~one & ~other))
    margins = (both + first) * (second + none) * (both + second) * (first + none)
    apart = both * none - first * second
    alike = (max(apart - count / 2, 0.0) if apart > 0 else apart) / sqrt(margins) if margins else 0.0
    shares = [(both + each) / count for each in (first, second)]
    (low, high), (other_low, other_high) = (wilson(share * count, count) for share in shares)
    down, up = shares[0] - low, high - shares[0]
    other_down, other_up = shares[1] - other_low, other_high - shares[1]
    mean = shares[0] - shares[1]
    below, above = (sqrt(max(a * a - 2 * alike * a * b + b * b, 0.0)) for a, b in ((down, other_up), (up, other_down)))
    return Interval(mean, mean - below, mean + above)


#: An oracle nearer to the best fixed depth than this leaves nothing to take.
LEAST_GAIN = 1e-9


def bootstrap(
    differences: NDArray[np.floating], rooms: NDArray[np.integer] | None = None, *, seed: int = 0, rounds: int = 2000
) -> Interval:
    """The mean of paired differences and its interval, by resampling instances or whole rooms; the same numbers for
    the same seed."""
    each = np.asarray(differences, np.float64)
    if not len(each):
        return Interval(0.0, 0.0, 0.0)
    return _ratio(each, np.ones(len(each)), rooms, seed, rounds)


def gain_interval(
    rule: Floats, fixed: Floats, oracle: Floats, rooms: NDArray[np.integer] | None = None, *, rounds: int = 2000
) -> Interval | None:
    """The gain share of values per start, (rule - fixed) / (oracle - fixed) of their means: which part of what choosing
    depths can add to the best ``fixed`` depth a rule takes. None where the oracle is no better than the fixed depth."""
    if len(rule) == 0 or (oracle - fixed).mean() <= LEAST_GAIN:
        return None
    return _ratio(rule - fixed, oracle - fixed, rooms, 0, rounds, LEAST_GAIN)


def _ratio(
    over: Floats, under: Floats, rooms: NDArray[np.integer] | None, seed: int, rounds: int, least: float = 0.0
) -> Interval:
    """A ratio of sums and its bootstrap interval, of draws whose lower sum is above ``least``.

    Resampling is by counts per distinct pair, so that a million yes-or-no differences take milliseconds.
    """
    if rooms is not None:
        rooms = np.unique(rooms, return_inverse=True)[1]
        over, under = (np.bincount(rooms, each).astype(np.float64) for each in (over, under))
    pairs, counts = np.unique(over + 1j * under, return_counts=True)  # complex numbers sort quicker than rows
    values = np.stack([pairs.real, pairs.imag], axis=1)
    generator = np.random.Generator(np.random.Philox(key=rng.derived_seed(seed, rng.Purpose.BOOTSTRAP, 0)))
    weights, piece = counts / counts.sum(), max(1, MOST_DRAWN // len(values))
    sizes = [min(piece, rounds - done) for done in range(0, rounds, piece)]
    sums = np.concatenate([generator.multinomial(int(counts.sum()), weights, size=size) @ values for size in sizes])
    sums = sums[sums[:, 1] > least]
    low, high = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975))
    total = counts @ values
    return Interval(float(total[0] / total[1]), float(low), float(high))


def mean_gain(
    rule: Floats, fixed: Floats, oracle: Floats, rooms: NDArray[np.integer]
) -> tuple[float | None, float | None, float | None, tuple[float | None, ...]]:
    """Mean gain share over prices, its 95 % interval, and the gain share at each, from values [starts, prices].

    The interval is that of the ratios made linear, which is quick where every state is a start: a room moves the mean
    by what it takes beyond the share of what is there for it.
    """
    taken, there = rule - fixed, oracle - fixed
    some = np.flatnonzero(there.mean(axis=0) > LEAST_GAIN)
    if not len(some):
        return None, None, None, (None,) * there.shape[1]
    share = taken[:, some].sum(axis=0) / there[:, some].sum(axis=0)
    each = ((taken[:, some] - share * there[:, some]) / there[:, some].sum(axis=0)).mean(axis=1)
    moved = np.bincount(np.unique(rooms, return_inverse=True)[1], each)
    mean, half = float(share.mean()), Z95 * sqrt(float(moved @ moved))
    by_price = dict(zip(some.tolist(), share.tolist(), strict=True))
    return mean, mean - half, mean + half, tuple(by_price.get(i) for i in range(there.shape[1]))
