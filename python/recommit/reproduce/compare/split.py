"""What is missing to optimal play, split into what the plans lose and what the depths lose, per rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.optimal_plans import BothPlans, FourValues
from recommit.reproduce.compare import played

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.prices import Setting
    from recommit.reproduce.compare.instances import StartSet
    from recommit.reproduce.compare.redraws import Redraws

    Ends = tuple[float, float, float]


@dataclass(frozen=True)
class SplitRule:
    """The parts of a rule on a set of instances, means over seeds; (mean, low, high)."""

    instances: str
    source: str
    rule: str
    budget: int
    price_action: float
    price_observation: float
    seeds: tuple[int, ...]
    starts: int
    best: float
    ceiling: float
    crossed: float
    value: float
    plans_lose: Ends
    depths_lose: Ends
    #: Plans first, and depths first: what the plans lose, and then the depths.
    orders: tuple[tuple[float, float], tuple[float, float]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def four_values(
    graph: CommitmentGraph, starts: StartSet, chosen: Sequence[played.RuleChoice], settings: Sequence[Setting]
) -> list[FourValues]:
    """The values of every choice, on the first of the starts, as many as the set says."""
    numbers = graph.numbers()
    first = np.array([numbers[state.tobytes()] for state in starts.states[: starts.both_plans]])
    both = BothPlans.of(graph, first, settings)
    ceilings, under = played.ceilings(both.own), [played.episodes(both.own, both.own.bench, chosen)]
    under.append(played.episodes(both.perfect, both.reads, chosen))
    result = []
    for choice, plain, crossed in zip(chosen, *under, strict=True):
        setting = choice.setting
        values = (both.best(setting), ceilings[setting], *(setting.prices.returns(*one) for one in (crossed, plain)))
        result.append(FourValues(*values))
    return result


def row(
    instances: str,
    source: str,
    choice: played.RuleChoice,
    seeds: Sequence[int],
    each: Sequence[FourValues],
    redraws: Redraws,
) -> SplitRule:
    """The means over seeds."""
    names = ("best", "oracle", "crossed", "rule")
    best, ceiling, crossed, rule = (np.mean([getattr(one, name) for one in each], axis=0) for name in names)
    values = FourValues(best, ceiling, crossed, rule)
    plans_first, (depths_first, plans_later) = values.orders()
    parts = redraws.means(values.parts())
    return SplitRule(
        instances=instances,
        source=source,
        rule=choice.rule,
        budget=choice.setting.budget,
        price_action=choice.setting.prices.action,
        price_observation=choice.setting.prices.observation,
        seeds=tuple(seeds),
        starts=len(rule),
        best=float(best.mean()),
        ceiling=float(ceiling.mean()),
        crossed=float(crossed.mean()),
        value=float(rule.mean()),
        plans_lose=(parts[0].mean, parts[0].low, parts[0].high),
        depths_lose=(parts[1].mean, parts[1].low, parts[1].high),
        orders=(plans_first, (plans_later, depths_first)),
    )
