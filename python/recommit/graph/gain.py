"""Gain share: which part of what choosing depths can add a rule takes, at one price and over all of them.

The share is (rule - best fixed depth) / (oracle depth - best fixed depth), of mean values over starts. Over the whole
range of prices, an observation costs 1/8 to 8 actions, in half powers of two; the mean of the shares over the logarithm
of the price says how good a rule is whatever observations cost. A rule plays the same episodes at every price, so that
they are played once. Its threshold is one for all prices.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import rng
from recommit.graph import rules
from recommit.graph.episodes import Chooser, play
from recommit.graph.graph import ALL_DEPTHS
from recommit.graph.prices import Prices
from recommit.graph.regret import expect
from recommit.graph.values import OptimalValues, optimal_values
from recommit.stats import Z95, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.judge import Judge
    from recommit.graph.rules import NamedRule

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


@dataclass(frozen=True)
class MeanGain:
    """A rule over all prices, with so many observations at most."""

    rule: str
    budget: int
    price_action: float
    #: None for a rule without one.
    threshold: float | None
    #: Mean of the gain shares at the prices where there is something to take; None where there is nothing at any.
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    #: At each of ``RATIOS``.
    by_price: tuple[float | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class PricedRange:
    """A graph under one budget at every price of an observation."""

    judge: Judge
    budget: int
    price_action: float

    @cached_property
    def prices(self) -> list[Prices]:
        """At each of ``RATIOS``."""
        return [Prices(self.price_action, self.price_action * ratio) for ratio in RATIOS]

    @cached_property
    def oracle(self) -> Floats:
        """[starts, prices] V^p."""
        graph = self.judge.graph
        return optimal_values(graph, self.budget, self.prices, last=True)[graph.starts]

    def values_of(self, entry: NamedRule) -> Floats:
        """[starts, prices] V^r of a rule, of one that draws by expectation."""
        if not entry.draws:
            return self.values(self.judge.bench.chooser(entry))
        graph = self.judge.graph
        free = OptimalValues.of(graph, self.budget)
        return self._priced(expect(free, graph.starts, self.judge.bench.probs(entry)).outcome())

    def values(self, choose: Chooser) -> Floats:
        """[starts, prices] V^r."""
        graph = self.judge.graph
        return self._priced(play(graph, graph.starts, self.budget, choose).outcome())

    def _priced(self, outcome: tuple[NDArray[Any], ...]) -> Floats:
        return np.stack([prices.returns(*outcome) for prices in self.prices], axis=1)

    @cached_property
    def fixed(self) -> Floats:
        """[depths, starts, prices] of every fixed depth."""
        return np.stack([self.values(self.judge.bench.chooser(rules.named(f"fixed-{h}"))) for h in ALL_DEPTHS])

    @cached_property
    def best_fixed(self) -> NDArray[np.intp]:
        """[prices] its place among ``fixed``."""
        result: NDArray[np.intp] = self.fixed.mean(axis=1).argmax(axis=0)
        return result

    def at_fixed(self, chosen: NDArray[np.intp]) -> Floats:
        """[starts, prices] of the fixed depth that was chosen for each price."""
        return np.stack([self.fixed[depth, :, price] for price, depth in enumerate(chosen.tolist())], axis=1)

    def best(self, entry: NamedRule) -> float:
        """The threshold of the highest value, in the mean over all prices."""
        every = self.judge.thresholds(entry)
        means = [self.values(choose).mean() for choose in self.judge.bench.choosers(entry, every)]
        return float(every[int(np.argmax(means))])


def mean_gains(
    judge: Judge, entries: Sequence[NamedRule], budget: int, price_action: float, validation: Judge | None = None
) -> list[MeanGain]:
    """Every rule over all prices; thresholds and fixed depths are those of ``validation``, or of this graph."""
    here = PricedRange(judge, budget, price_action)
    chosen_on = here if validation is None else PricedRange(validation, budget, price_action)
    fixed, rows = here.at_fixed(chosen_on.best_fixed), []
    for entry in entries:
        value = chosen_on.best(entry) if entry.swept else None
        own = here.values_of(entry if value is None else entry.at(value))
        means = mean_share(own, fixed, here.oracle, judge.graph.groups)
        rows.append(MeanGain(entry.name, budget, price_action, value, *means))
    return rows


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
