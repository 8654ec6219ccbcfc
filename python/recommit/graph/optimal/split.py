"""What is missing to optimal play, split into what the plans lose and what the depths lose.

V* has optimal plans at the best depths, V^p the policy's plans at the best depths, V^r the policy's plans at a rule's
depths. The fourth value is crossed: optimal plans, cut where the rule cuts the policy's own plan of the same state.
Then V* - V^r is (V* - V^p) + (V^p - V^r), plans first, and (V* - crossed) + (crossed - V^r), depths first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import attribution, regret
from recommit.graph.at_work import RuleBench
from recommit.graph.expectation import expect
from recommit.graph.judge import ALL_DEPTHS, Judge, Setting
from recommit.graph.optimal.plans import ways, with_optimal_plans
from recommit.stats import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.rules import NamedRule
    from recommit.graph.score import RuleScore

    Floats = NDArray[np.float64]
    Ends = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class FourValues:
    """[starts] of one rule under one setting, with its own plans and with optimal ones."""

    best: Floats  #: V*: optimal plans, the best depths
    ceiling: Floats  #: V^p: these plans, the best depths
    crossed: Floats  #: optimal plans, the rule's own depths
    rule: Floats  #: V^r: these plans, the rule's depths

    def parts(self) -> Floats:
        """[2, starts] what plans lose and what depths lose, each the mean of both orders."""
        plans = ((self.best - self.ceiling) + (self.crossed - self.rule)) / 2
        return np.stack([plans, self.best - self.rule - plans])


@dataclass(frozen=True, eq=False)
class BothPlans:
    """Some starts of a graph, once with the policy's plans and once with the solver's."""

    own: Judge
    perfect: Judge
    #: The policy's plans at the nodes of ``perfect``: what rules read there.
    reads: RuleBench
    distance: NDArray[np.integer]

    @classmethod
    def of(
        cls,
        graph: CommitmentGraph,
        starts: NDArray[np.integer],
        settings: Sequence[Setting],
        groups: NDArray[np.integer] | None = None,
    ) -> BothPlans:
        """Nodes of a graph that also has the solver's ways from there."""
        own = Judge(graph.part(graph.reachable(starts), starts, groups), tuple(settings))
        part = graph.part(_on_ways(graph, starts), starts, groups)
        perfect = Judge(with_optimal_plans(part), tuple(settings))
        return cls(own, perfect, RuleBench(part), graph.distance[starts])

    def best(self, setting: Setting) -> Floats:
        """[starts] V*."""
        value = regret.optimal_values(self.distance, ALL_DEPTHS, setting.budget, setting.prices)
        result: Floats = value[-1]
        return result

    def four(self, entry: NamedRule, setting: Setting) -> FourValues:
        """All values of a rule."""
        plain = _worth(self.own, self.own.bench, entry, setting)
        crossed = _worth(self.perfect, self.reads, entry, setting)
        return FourValues(self.best(setting), self.own.ceiling(setting), crossed, plain)


def _worth(judge: Judge, reads: RuleBench, entry: NamedRule, setting: Setting) -> Floats:
    starts = judge.graph.starts
    columns: tuple[Any, ...]
    if entry.draws:
        columns = expect(judge.best(setting), starts, reads.chances(entry)).outcome()
    else:
        columns = attribution.outcome(judge.commitments, starts, setting.budget, reads.chooser(entry))
    result: Floats = setting.value(*columns)
    return result


def _on_ways(graph: CommitmentGraph, starts: NDArray[np.integer]) -> NDArray[np.bool_]:
    """[N] which nodes are on the solver's ways from these starts?"""
    numbers, result = graph.numbers(), np.zeros(len(graph), np.bool_)
    try:
        result[[numbers[state.tobytes()] for state in ways(graph.puzzle, graph.states[starts])]] = True
    except KeyError:
        raise ValueError(
            "graph: expected one with the solver's ways from its starts, got one without; build it with --ways"
        ) from None
    return result


@dataclass(frozen=True)
class RuleParts:
    """The parts of a rule under a setting, in points of value 0..1; (mean, low, high)."""

    rule: str
    budget: int
    price_action: float
    price_observation: float
    threshold: float | None
    best: float
    ceiling: float
    crossed: float
    value: float
    #: What plans lose and then depths; and what depths lose and then plans.
    plans_first: tuple[float, float]
    depths_first: tuple[float, float]
    plans_lose: Ends
    depths_lose: Ends

    def under(self, setting: Setting) -> bool:
        """Is it of this setting?"""
        prices = setting.prices
        return (self.budget, self.price_action, self.price_observation) == (setting.budget, prices.action, prices.look)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def of_rules(judge: Judge, rows: Sequence[RuleScore], entries: Sequence[NamedRule]) -> list[RuleParts]:
    """The parts of every row with a threshold of its own."""
    graph, by_name = judge.graph, {entry.name: entry for entry in entries}
    both = BothPlans.of(graph, graph.starts, judge.settings, graph.groups)
    return [_parts(both, row, row.entry(by_name[row.rule]), graph.groups) for row in rows if not row.shared]


def _parts(both: BothPlans, row: RuleScore, entry: NamedRule, groups: NDArray[np.integer]) -> RuleParts:
    setting = next(each for each in both.own.settings if row.under(each))
    values = both.four(entry, setting)
    best, ceiling, crossed, rule = (
        float(column.mean()) for column in (values.best, values.ceiling, values.crossed, values.rule)
    )
    plans, depths = (bootstrap(part, groups) for part in values.parts())
    return RuleParts(
        row.rule,
        row.budget,
        row.price_action,
        row.price_observation,
        row.threshold,
        best,
        ceiling,
        crossed,
        rule,
        (best - ceiling, ceiling - rule),
        (best - crossed, crossed - rule),
        (plans.mean, plans.low, plans.high),
        (depths.mean, depths.low, depths.high),
    )
