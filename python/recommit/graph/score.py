"""Scores of rules on a commitment graph: value, gain share, and the causes of regret.

A threshold is chosen on another graph of the same policy, from validation starts: once for each budget and price, and
once for all of them together. Without such a graph it is chosen on the graph itself, and the table says so. A rule with
a threshold is played under all thresholds of its curve: once per budget, with its scores computed only once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.episodes import play
from recommit.graph.graph import ALL_DEPTHS, CUT
from recommit.graph.regret import Attribution, ExpectedRegret, attribute, expected_regret
from recommit.graph.rule_episodes import RulesOnGraph
from recommit.graph.values import OptimalValues, optimal_values, outcomes
from recommit.horizon import ThresholdRule, rule_registry
from recommit.prices import RATIOS, Prices, Setting
from recommit.results import intervals, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph, Floats
    from recommit.horizon.rule_registry import NamedRule


#: Thresholds of a curve.
STEPS = 50


@dataclass(frozen=True, eq=False)
class GraphScorer:
    """Outcomes and values of fixed depths, the oracle depth and rules from the starts of a finished graph of all
    depths, under several settings."""

    graph: CommitmentGraph
    settings: tuple[Setting, ...]
    _best: dict[Setting, OptimalValues] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.graph.closed:
            raise ValueError(CUT)
        most = max((each.budget for each in self.settings), default=0)
        if 0 < self.graph.budget < most:
            raise ValueError(
                f"budget: expected at most {self.graph.budget}, which the graph was built for, got {most}; build one "
                f"with --budget {most}"
            )
        if self.graph.depths != ALL_DEPTHS:
            raise ValueError(f"graph: expected one of the depths {ALL_DEPTHS}, got {self.graph.depths}")

    @cached_property
    def rules(self) -> RulesOnGraph:
        """The plans of the graph, as rules read them."""
        return RulesOnGraph(self.graph)

    @cached_property
    def budgets(self) -> list[int]:
        """Distinct budgets of the settings."""
        return list(dict.fromkeys(each.budget for each in self.settings))

    def best(self, setting: Setting) -> OptimalValues:
        """V^p of every state, by observations left."""
        if setting not in self._best:
            self._best[setting] = OptimalValues.of(self.graph, setting.budget, setting.prices)
        return self._best[setting]

    @cached_property
    def _oracle(self) -> dict[Setting, Floats]:
        result: dict[Setting, Floats] = {}
        for budget in self.budgets:
            settings = [each for each in self.settings if each.budget == budget]
            prices = [each.prices for each in settings]
            value = optimal_values(self.graph, budget, prices, last=True)[self.graph.starts]
            result |= dict(zip(settings, value.T, strict=True))
        return result

    def oracle(self, setting: Setting) -> Floats:
        """[starts] V^p."""
        return self._oracle[setting]

    @cached_property
    def _fixed(self) -> list[dict[Setting, Floats]]:
        return [self.values(rule_registry.named(f"fixed-{depth}")) for depth in self.graph.depths]

    def best_fixed(self, setting: Setting) -> int:
        """The best fixed depth under a setting."""
        means = [float(values[setting].mean()) for values in self._fixed]
        best = table.best(dict(zip(self.graph.depths, means, strict=True)))
        assert best is not None
        return best

    def fixed(self, setting: Setting, depth: int) -> Floats:
        """[starts] values of a fixed depth."""
        return self._fixed[self.graph.column(depth)][setting]

    def outcome(self, entry: NamedRule, budget: int, read: RulesOnGraph | None = None) -> tuple[NDArray[Any], ...]:
        """[starts] solved, actions and observations of a rule, in expectation if it samples. The rule reads the plans
        in ``read``, by default those of the graph."""
        read = read or self.rules
        if entry.stochastic:
            *_, table = outcomes(self.graph, budget, read.probs(entry))
            return tuple(table[self.graph.starts].T)
        return play(self.graph, self.graph.starts, budget, read.chooser(entry)).outcome()

    def values(self, entry: NamedRule) -> dict[Setting, Floats]:
        """[starts] V^r under each setting; episodes are played once per budget, since rules do not see prices."""
        ends = {budget: self.outcome(entry, budget) for budget in self.budgets}
        return {each: each.prices.returns(*ends[each.budget]) for each in self.settings}

    def played(self, entry: NamedRule, setting: Setting) -> Attribution | ExpectedRegret:
        """Outcomes and regret of a rule's episodes, in expectation if it samples."""
        if entry.stochastic:
            return expected_regret(self.best(setting), self.graph.starts, self.rules.probs(entry))
        return attribute(self.best(setting), self.graph.starts, self.rules.chooser(entry))

    def thresholds(self, entry: NamedRule, count: int = STEPS) -> Floats:
        """Candidate thresholds: quantiles of the rule's scores on this graph."""
        assert isinstance(entry.rule, ThresholdRule)
        return np.unique(entry.rule.thresholds(self.rules.known_for(entry), count))

    def sweep(self, entry: NamedRule, count: int = STEPS) -> Sweep:
        """Play every threshold of a rule under every budget."""
        every = self.thresholds(entry, count)
        ends = np.zeros((len(every), len(self.budgets), 3))
        for i, choose in enumerate(self.rules.choosers(entry, every)):
            for j, budget in enumerate(self.budgets):
                played = play(self.graph, self.graph.starts, budget, choose).outcome()
                ends[i, j] = [column.mean() for column in played]
        place = [self.budgets.index(each.budget) for each in self.settings]
        return Sweep(self.settings, every, ends[:, place])

    def curve(self, entry: NamedRule, setting: Setting, count: int = STEPS) -> list[dict[str, float]]:
        """Solved, actions and observations of a rule over its thresholds."""
        swept = replace(self, settings=(setting,)).sweep(entry, count)
        names = ("threshold", "solved", "actions", "observations")
        rows = np.column_stack([swept.thresholds, swept.ends[:, 0]]).tolist()
        return [dict(zip(names, row, strict=True)) for row in rows]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Mean outcomes of episodes with each threshold, under each setting."""

    settings: tuple[Setting, ...]
    thresholds: Floats  #: [T], ascending
    ends: Floats  #: [T, settings, 3] solved, actions and observations

    def best(self, settings: Sequence[Setting]) -> float:
        """The threshold with the highest mean value over these settings; ties go to fewer actions, then to the lower
        threshold."""
        places = [self.settings.index(each) for each in settings]
        value = np.stack([self.settings[i].prices.returns(*self.ends[:, i].T) for i in places], axis=1).mean(axis=1)
        merits = zip(value.tolist(), (-self.ends[:, places, 1].mean(axis=1)).tolist(), strict=True)
        best = table.best(dict(zip(self.thresholds.tolist(), merits, strict=True)))
        assert best is not None
        return float(best)


@dataclass(frozen=True)
class SettingRow:
    """Row of one rule under one setting."""

    rule: str
    budget: int
    price_action: float
    price_observation: float
    #: None for a rule without a threshold.
    threshold: float | None

    def under(self, setting: Setting) -> bool:
        """True if the row is of this setting."""
        return Setting(self.budget, Prices(self.price_action, self.price_observation)) == setting


@dataclass(frozen=True)
class RuleScore(SettingRow):
    """Outcomes, value and gain share of a rule."""

    #: True if the threshold was chosen for all settings together.
    shared: bool
    solved: float
    actions: float
    observations: float
    value: float
    value_low: float | None
    value_high: float | None
    #: None where the oracle depth is no better than the best fixed depth.
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    #: Shares of all regret, by cause.
    causes: dict[str, float]


def score(
    scorer: GraphScorer,
    entries: Sequence[NamedRule],
    validation: GraphScorer | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[RuleScore]:
    """Score every rule under every setting; rules with a threshold twice: chosen per setting, and shared by all."""
    rows = []
    chosen_on = validation or scorer
    for entry in entries:
        if progress is not None:
            progress(entry.name)
        if not entry.swept:
            rows += [_row(scorer, chosen_on, entry, each, None, shared=False) for each in scorer.settings]
            continue
        swept = chosen_on.sweep(entry)
        for each, shared in product(scorer.settings, (False, True)):
            threshold = swept.best(scorer.settings if shared else [each])
            rows.append(_row(scorer, chosen_on, entry, each, threshold, shared=shared))
    return rows


def _row(
    scorer: GraphScorer,
    chosen_on: GraphScorer,
    entry: NamedRule,
    setting: Setting,
    threshold: float | None,
    *,
    shared: bool,
) -> RuleScore:
    played = scorer.played(entry.at(threshold), setting)
    solved, actions, observations = played.outcome()
    returns = setting.prices.returns(solved, actions, observations)
    value = intervals.mean(returns, scorer.graph.groups)
    fixed = scorer.fixed(setting, chosen_on.best_fixed(setting))
    gain = intervals.gain(returns, fixed, scorer.oracle(setting), scorer.graph.groups)
    prices = setting.prices
    ended = {"solved": solved, "actions": actions, "observations": observations}
    return RuleScore(
        rule=entry.name,
        budget=setting.budget,
        price_action=prices.action,
        price_observation=prices.observation,
        threshold=threshold,
        shared=shared,
        **{name: float(each.mean()) for name, each in ended.items()},
        **table.flat("value", value),
        **table.flat("gain", gain),
        causes=played.shares(),
    )


@dataclass(frozen=True)
class MeanGain:
    """Mean gain share of a rule over all prices, under one observation budget."""

    rule: str
    budget: int
    price_action: float
    #: None for a rule without a threshold.
    threshold: float | None
    #: Mean gain share over the prices where the oracle is better than the best fixed depth; None if there are none.
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    #: Gain share at each of ``RATIOS``.
    by_price: tuple[float | None, ...]


def mean_gains(
    scorer: GraphScorer,
    entries: Sequence[NamedRule],
    budget: int,
    price_action: float,
    validation: GraphScorer | None = None,
) -> list[MeanGain]:
    """Gain shares of every rule over all prices; thresholds and fixed depths are chosen on ``validation``, or here."""
    settings = tuple(Setting(budget, Prices(price_action, price_action * ratio)) for ratio in RATIOS)
    here = replace(scorer, settings=settings)
    chosen_on = here if validation is None else replace(validation, settings=settings)
    by_price = lambda values: np.stack([values[each] for each in settings], axis=1)
    fixed = by_price({each: here.fixed(each, chosen_on.best_fixed(each)) for each in settings})
    oracle, rows = by_price({each: here.oracle(each) for each in settings}), []
    for entry in entries:
        threshold = chosen_on.sweep(entry).best(settings) if entry.swept else None
        own = by_price(here.values(entry.at(threshold)))
        gain, shares = intervals.mean_gain(own, fixed, oracle, scorer.graph.groups)
        rows.append(MeanGain(entry.name, budget, price_action, threshold, *table.bounds(gain), tuple(shares)))
    return rows
