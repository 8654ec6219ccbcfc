"""Rules in a commitment graph: the value of each, its gain share, and why it misses the rest.

A threshold is chosen on another graph of the same policy, from validation starts: once for each budget and price, and
once for all of them together. Without such a graph it is chosen on the graph itself, and the table says so.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.gain import gain_interval
from recommit.graph.judge import Judge
from recommit.graph.prices import Prices, Setting
from recommit.graph.rules import NamedRule
from recommit.stats import bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RuleScore:
    """A rule under one setting."""

    rule: str
    budget: int
    price_action: float
    price_observation: float
    #: None for a rule without one; ``shared`` if it is the one for all settings.
    threshold: float | None
    shared: bool
    solved: float
    actions: float
    observations: float
    value: float
    value_low: float
    value_high: float
    #: None where the oracle depth is no better than the best fixed depth.
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    #: Shares of all that was given away, by cause.
    causes: dict[str, float]

    def entry(self, entry: NamedRule) -> NamedRule:
        """The rule with the threshold of this row."""
        return entry if self.threshold is None else entry.at(self.threshold)

    def under(self, setting: Setting) -> bool:
        """Is it of this setting?"""
        prices = Prices(self.price_action, self.price_observation)
        return Setting(self.budget, prices) == setting

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def choices(judge: Judge, entry: NamedRule) -> tuple[dict[Setting, float], float]:
    """The best threshold for each setting, and the best for all together."""
    swept = judge.sweep(entry)
    return {each: swept.best([each]) for each in judge.settings}, swept.best(judge.settings)


def score(
    judge: Judge,
    entries: Sequence[NamedRule],
    validation: Judge | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[RuleScore]:
    """Every rule under every setting; rules of one number twice, with thresholds of their own and with a shared one."""
    rows = []
    chosen_on = validation or judge
    for entry in entries:
        if progress is not None:
            progress(entry.name)
        if not entry.swept:
            rows += [_row(judge, chosen_on, entry, each, None, shared=False) for each in judge.settings]
            continue
        single, together = choices(chosen_on, entry)
        for each, shared in product(judge.settings, (False, True)):
            rows.append(_row(judge, chosen_on, entry, each, together if shared else single[each], shared=shared))
    return rows


def _row(
    judge: Judge, chosen_on: Judge, entry: NamedRule, setting: Setting, threshold: float | None, *, shared: bool
) -> RuleScore:
    rule = entry if threshold is None else entry.at(threshold)
    played = judge.played(rule, setting)
    solved, actions, observations = played.outcome()
    value = setting.prices.returns(solved, actions, observations)
    spread = bootstrap(value, np.unique(judge.graph.groups, return_inverse=True)[1])
    fixed = judge.fixed(setting, chosen_on.best_fixed(setting))
    gain = gain_interval(value, fixed, judge.oracle(setting), judge.graph.groups)
    means = _means(solved=solved, actions=actions, observations=observations, value=value)
    return RuleScore(
        entry.name,
        setting.budget,
        setting.prices.action,
        setting.prices.observation,
        threshold,
        shared,
        **means,
        value_low=spread.low,
        value_high=spread.high,
        gain=gain.mean if gain else None,
        gain_low=gain.low if gain else None,
        gain_high=gain.high if gain else None,
        causes=played.shares(),
    )


def _means(**columns: NDArray[Any]) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in columns.items()}
