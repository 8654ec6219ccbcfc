"""Intervals of means, shares, paired differences and gain shares: one method for each kind, and p by its inversion.

======================  =====================================================================================
share of episodes       Wilson's score interval
difference of shares    Newcombe's method 10 for pairs, which stays wide where no episode differs
gain share              Fieller's theorem for a ratio of means, with the t of the difference that it divides
anything else           Student's t, of means and of ratios made linear
======================  =====================================================================================

Values are [instances], or [seeds, instances] of several training seeds. ``groups`` numbers instances that belong
together, such as levels of one room; groups are then the independent units. With several seeds an estimate is about the
method: its interval is that of t over seeds, or over instances where this is wider. With one seed it is about that
policy alone. p is below 0.05 exactly where the 95 % interval excludes zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import atan, cos, erfc, inf, isfinite, pi, sin, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Groups = NDArray[np.integer[Any]] | None

#: The normal quantile of a two-sided 95 % interval.
Z95 = 1.959963984540054
#: An oracle nearer to the best fixed depth than this leaves nothing to gain.
LEAST_GAIN = 1e-9
#: Cap on the degrees of freedom of Student's law, which hardly changes beyond it.
_MOST_FREEDOM = 10_000


@dataclass(frozen=True)
class Interval:
    """An estimate, its 95 % interval, and the two-sided p of zero. A single independent unit has infinite ends."""

    mean: float
    low: float
    high: float
    p: float = 1.0

    @property
    def sign(self) -> int:
        """1 or -1 for a significant estimate, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def scaled(self, factor: float) -> Interval:
        """The interval in another unit; a negative factor swaps its ends."""
        low, high = sorted((factor * self.low, factor * self.high))
        return Interval(factor * self.mean, low, high, self.p)

    def values(self) -> dict[str, float | None]:
        """Fields for JSON, with None for infinite ends."""
        return {name: value if isfinite(value) else None for name, value in vars(self).items()}

    @classmethod
    def of(cls, values: dict[str, Any]) -> Interval:
        """Inverse of ``values``."""
        low, high = (values[key] for key in ("low", "high"))
        ends = -inf if low is None else low, inf if high is None else high
        return cls(values["mean"], *ends, values.get("p", 1.0))


def share(solved: ArrayLike, groups: Groups = None) -> Interval:
    """A share with Wilson's interval, for the effective number of independent trials in ``groups``."""
    values = np.asarray(solved, np.float64)
    count, mean_ = len(values), float(values.mean()) if len(values) else 0.0
    low, high = wilson(mean_, _trials(values, groups, count * mean_ * (1.0 - mean_)))
    return Interval(mean_, low, high)


def wilson(share_: float, trials: float, z: float = Z95) -> tuple[float, float]:
    """Ends of Wilson's interval; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    middle = (share_ + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * sqrt(share_ * (1 - share_) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, min(middle - half, share_)), min(1.0, max(middle + half, share_))  # rounding


def _trials(values: Floats, groups: Groups, squares: float) -> float:
    """Effective number of independent trials of these values, whose squared deviations sum to ``squares``."""
    count = len(values)
    if groups is None or count == 0:
        return count
    which = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(which)
    if squares > 0 and len(sizes) > 1:
        together = np.bincount(which, values - values.mean())
        return float(min(count * squares / max(float(together @ together), 1e-12), count))
    return count * count / float(sizes @ sizes)  # one group is one trial: it has no spread


def mean(values: ArrayLike, groups: Groups = None) -> Interval:
    """Mean with its t interval."""
    return ratio(values, np.ones_like(values, np.float64), groups)


def difference(one: ArrayLike, other: ArrayLike, groups: Groups = None) -> Interval:
    """Paired mean difference ``one - other``; Newcombe's interval for one seed whose values are all 0 or 1, else t."""
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if first.ndim == 1 and all(((each == 0) | (each == 1)).all() for each in (first, second)):
        return _paired_shares(first, second, groups)
    return mean(first - second, groups)


def gain(rule: ArrayLike, fixed: ArrayLike, oracle: ArrayLike, groups: Groups = None) -> Interval | None:
    """The gain share (rule - fixed) / (oracle - fixed) of mean values; None where there is no room: on these instances
    the oracle is not significantly better."""
    taken, there = (np.asarray(each, np.float64) - np.asarray(fixed, np.float64) for each in (rule, oracle))
    if taken.size == 0 or there.mean() <= LEAST_GAIN:
        return None
    by_instance = [np.atleast_2d(each).sum(axis=0) for each in (taken, there)]
    units = by_instance if groups is None else [_sums(each, groups) for each in by_instance]
    result = _fieller(*units)
    if len(units[0]) > 1 and result.high == inf:
        return None
    if taken.ndim == 1 or len(taken) < 2:
        return result
    by_seed = _fieller(taken.sum(axis=1), there.sum(axis=1))
    return max(result, by_seed, key=lambda each: each.high - each.low)


def mean_gain(
    rule: Floats, fixed: Floats, oracle: Floats, groups: Groups
) -> tuple[Interval | None, list[float | None]]:
    """The mean gain share over prices, of values [starts, prices], and the gain share at each price; None where the
    oracle is no better."""
    taken, there = rule - fixed, oracle - fixed
    some = np.flatnonzero(there.mean(axis=0) > LEAST_GAIN)
    if not len(some):
        return None, [None] * there.shape[1]
    shares = taken[:, some].sum(axis=0) / there[:, some].sum(axis=0)
    moves = ((taken[:, some] - shares * there[:, some]) / there[:, some].sum(axis=0)).mean(axis=1)
    by_price = dict(zip(some.tolist(), shares.tolist(), strict=True))
    return _student(float(shares.mean()), moves, groups), [by_price.get(i) for i in range(there.shape[1])]


def ratio(over: ArrayLike, under: ArrayLike, groups: Groups = None) -> Interval:
    """A ratio of sums, with the t interval of its linearisation."""
    over, under = np.asarray(over, np.float64), np.asarray(under, np.float64)
    if not over.size:
        return Interval(0.0, 0.0, 0.0)
    estimate = float(over.sum() / under.sum())
    moves = np.atleast_2d((over - estimate * under) / under.sum())
    result = _student(estimate, moves.sum(axis=0), groups)
    if len(moves) > 1:
        by_seed = _student(estimate, moves.sum(axis=1), None)
        return max(result, by_seed, key=lambda each: each.high - each.low)
    return result


def _fieller(over: Floats, under: Floats) -> Interval:
    """A ratio of means of pairs by Fieller's theorem: the shares at which Student's t of ``over - share * under`` does
    not exclude zero. Infinite where ``under`` itself is not significant."""
    units, estimate = len(over), float(over.sum() / under.sum())
    if np.abs(over - estimate * under).max() <= 1e-12 * np.abs(under).max():
        return Interval(estimate, estimate, estimate, float(estimate == 0))
    if units < 2:
        return Interval(estimate, -inf, inf)
    zero = _student(float(over.mean()), (over - over.mean()) / units, None)
    squared = _quantile(min(units - 1, _MOST_FREEDOM)) ** 2
    (var_over, both), (_, var_under) = squared * np.cov(over, under) / units
    a, b = float(under.mean() ** 2 - var_under), float(over.mean() * under.mean() - both)
    if a <= 0:
        return Interval(estimate, -inf, inf)
    half = sqrt(max(b * b - a * float(over.mean() ** 2 - var_over), 0.0))
    return Interval(estimate, (b - half) / a, (b + half) / a, zero.p)


def _sums(values: Floats, groups: NDArray[np.integer[Any]]) -> Floats:
    return np.bincount(np.unique(groups, return_inverse=True)[1], values).astype(np.float64)


def _student(estimate: float, moves: Floats, groups: Groups) -> Interval:
    """t interval of an estimate, from the influence of each instance on it; these ``moves`` sum to zero."""
    if groups is not None:
        moves = _sums(moves, groups)
    units = len(moves)
    if units < 2:
        return Interval(estimate, -inf, inf)
    deviation = sqrt(units / (units - 1) * float(moves @ moves))
    if deviation <= 1e-12 * max(abs(estimate), 1e-300):  # equal values, up to rounding
        return Interval(estimate, estimate, estimate, float(estimate == 0))
    half = _quantile(min(units - 1, _MOST_FREEDOM)) * deviation
    p = 1.0 - _within(abs(estimate) / deviation, min(units - 1, _MOST_FREEDOM))
    return Interval(estimate, estimate - half, estimate + half, max(p, 0.0))


def _within(t: float, freedom: int) -> float:
    """Probability that Student's t lies within -t and t (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(freedom))
    if freedom == 1:
        return 2 * angle / pi
    odd = freedom % 2
    steps = np.arange(2 + odd, freedom - 1, 2.0)
    terms = np.cumprod(np.concatenate([[1.0], (steps - 1) / steps * cos(angle) ** 2])).sum()
    return float(2 / pi * (angle + sin(angle) * cos(angle) * terms) if odd else sin(angle) * terms)


@lru_cache(maxsize=1024)
def _quantile(freedom: int) -> float:
    """Student's two-sided 95 % quantile."""
    return _root(lambda t: _within(t, freedom) - 0.95, 0.0, 13.0)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Point where a function becomes positive, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def _paired_shares(one: Floats, other: Floats, groups: Groups) -> Interval:
    """Newcombe 1998, method 10: Wilson's intervals of both shares, and their correlation."""
    if not (count := len(one)):
        return Interval(0.0, 0.0, 0.0)
    apart = one - other
    deviations = apart - apart.mean()
    both, first, second = (float(each.sum()) for each in (one * other, one * (1 - other), (1 - one) * other))
    scale = _trials(apart, groups, float(deviations @ deviations)) / count
    cells = [scale * each for each in (both, first, second, count - both - first - second)]
    estimate = (first - second) / count
    low, high = _newcombe(cells, Z95)
    if estimate == 0:
        return Interval(0.0, low, high)

    def reach(z: float) -> float:
        """Distance by which the interval at this quantile reaches beyond zero."""
        low, high = _newcombe(cells, z)
        return -low if estimate > 0 else high

    p = erfc(_root(reach, *((Z95, 40.0) if reach(Z95) < 0 else (0.0, Z95))) / sqrt(2.0))
    return Interval(estimate, low, high, p)


def _newcombe(cells: Sequence[float], z: float) -> tuple[float, float]:
    both, first, second, none = cells
    count = sum(cells)
    margins = (both + first) * (second + none) * (both + second) * (first + none)
    covariance = both * none - first * second
    alike = (max(covariance - count / 2, 0.0) if covariance > 0 else covariance) / sqrt(margins) if margins else 0.0
    shares = [(both + each) / count for each in (first, second)]
    (low, high), (other_low, other_high) = (wilson(each, count, z) for each in shares)
    down, up = shares[0] - low, high - shares[0]
    other_down, other_up = shares[1] - other_low, other_high - shares[1]
    below, above = (sqrt(max(a * a - 2 * alike * a * b + b * b, 0.0)) for a, b in ((down, other_up), (up, other_down)))
    return shares[0] - shares[1] - below, shares[0] - shares[1] + above
