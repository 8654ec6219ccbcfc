"""Gain share over the whole range of what a look may cost: its mean over the logarithm of the price.

A look costs 1/8 to 8 actions, in half powers of two. At each of these prices a rule takes a part of what choosing
depths can give (``recommit.graph.share``); their mean says how good it is whatever looks cost. A rule plays the same
episodes at every price, so that they are played once. Its threshold is one for all prices.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import attribution, ceiling_values, regret, rules
from recommit.graph.commitments import Prices
from recommit.graph.expectation import expect
from recommit.graph.graph import PLAN
from recommit.graph.judge import thresholds
from recommit.graph.share import LEAST
from recommit.stats import Z95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.judge import Judge
    from recommit.graph.rules import NamedRule

    Floats = NDArray[np.float64]

#: Prices of a look, in actions.
RATIOS = tuple(2.0 ** (power / 2) for power in range(-6, 7))


@dataclass(frozen=True)
class MeanGain:
    """A rule over all prices, with so many looks at most."""

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
    """A graph under one budget at every price of a look."""

    judge: Judge
    budget: int
    price_action: float

    @cached_property
    def prices(self) -> list[Prices]:
        """What is paid at each of ``RATIOS``."""
        return [Prices(self.price_action, self.price_action * ratio) for ratio in RATIOS]

    @cached_property
    def ceiling(self) -> Floats:
        """[starts, prices] V^p."""
        graph = self.judge.graph
        value = ceiling_values.with_all_looks(self.judge.commitments, self.budget, self.prices)
        result: Floats = value[graph.starts]
        return result

    def worth_of(self, entry: NamedRule) -> Floats:
        """[starts, prices] V^r of a rule, of one that draws by expectation."""
        if not entry.draws:
            return self.worth(self.judge.bench.chooser(entry))
        free = regret.best(self.judge.commitments, self.budget)
        return self._priced(expect(free, self.judge.graph.starts, self.judge.bench.chances(entry)).outcome())

    def worth(self, choose: attribution.Choose) -> Floats:
        """[starts, prices] V^r."""
        graph = self.judge.graph
        return self._priced(attribution.outcome(self.judge.commitments, graph.starts, self.budget, choose))

    def _priced(self, columns: tuple[NDArray[np.generic], ...]) -> Floats:
        solved, actions, looks = (column.astype(np.float64)[:, None] for column in columns)
        action, look = np.array([(price.action, price.look) for price in self.prices]).T
        result: Floats = solved - action * actions - look * looks
        return result

    @cached_property
    def constants(self) -> Floats:
        """[depths, starts, prices] of every constant depth."""
        return np.stack([self.worth(self.judge.bench.chooser(rules.named(f"fixed-{h}"))) for h in range(1, PLAN + 1)])

    @cached_property
    def best_constant(self) -> NDArray[np.intp]:
        """[prices] its place among ``constants``."""
        result: NDArray[np.intp] = self.constants.mean(axis=1).argmax(axis=0)
        return result

    def at_constants(self, chosen: NDArray[np.intp]) -> Floats:
        """[starts, prices] of the constant that was chosen for each price."""
        return np.stack([self.constants[depth, :, price] for price, depth in enumerate(chosen.tolist())], axis=1)

    def best(self, entry: NamedRule) -> float:
        """The threshold of the highest value, in the mean over all prices."""
        every = thresholds(self.judge, entry)
        means = [self.worth(choose).mean() for choose in self.judge.bench.choosers(entry, every)]
        return float(every[int(np.argmax(means))])


def mean_gains(
    judge: Judge, entries: Sequence[NamedRule], budget: int, price_action: float, validation: Judge | None = None
) -> list[MeanGain]:
    """Every rule over all prices; thresholds and constants are those of ``validation``, or of this graph."""
    here = PricedRange(judge, budget, price_action)
    chosen_on = here if validation is None else PricedRange(validation, budget, price_action)
    constant, rows = here.at_constants(chosen_on.best_constant), []
    for entry in entries:
        value = chosen_on.best(entry) if entry.swept else None
        worth = here.worth_of(entry if value is None else entry.at(value))
        means = mean_share(worth, constant, here.ceiling, judge.graph.groups)
        rows.append(MeanGain(entry.name, budget, price_action, value, *means))
    return rows


def mean_share(
    rule: Floats, constant: Floats, ceiling: Floats, groups: NDArray[np.integer]
) -> tuple[float | None, float | None, float | None, tuple[float | None, ...]]:
    """Mean gain share over prices, its 95 % interval, and the gain share at each, from values [starts, prices].

    The interval is that of the ratios made linear, which is quick where every state is a start: a group moves the mean
    by what it takes beyond the share of what is there for it.
    """
    taken, there = rule - constant, ceiling - constant
    some = np.flatnonzero(there.mean(axis=0) > LEAST)
    if not len(some):
        return None, None, None, (None,) * there.shape[1]
    share = taken[:, some].sum(axis=0) / there[:, some].sum(axis=0)
    each = ((taken[:, some] - share * there[:, some]) / there[:, some].sum(axis=0)).mean(axis=1)
    moved = np.bincount(np.unique(groups, return_inverse=True)[1], each)
    mean, half = float(share.mean()), Z95 * sqrt(float(moved @ moved))
    by_price = dict(zip(some.tolist(), share.tolist(), strict=True))
    return mean, mean - half, mean + half, tuple(by_price.get(i) for i in range(there.shape[1]))
