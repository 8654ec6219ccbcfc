"""The solver's plans in the place of the policy's: what is missing to optimal play, split into what the plans lose and
what the depths lose.

V* has optimal plans at the best depths, V^p the policy's plans at the best depths, V^r the policy's plans at a rule's
depths. The fourth value is crossed: optimal plans, cut where the rule cuts the policy's own plan of the same state.
Then V* - V^r is (V* - V^p) + (V^p - V^r), plans first, and (V* - crossed) + (crossed - V^r), depths first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph.at_work import RuleBench
from recommit.graph.episodes import play
from recommit.graph.graph import ALL_DEPTHS, NOWHERE, PLAN
from recommit.graph.judge import Judge
from recommit.graph.prices import Prices, Setting
from recommit.graph.regret import expect
from recommit.graph.values import solver_values
from recommit.stats import bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.rules import NamedRule
    from recommit.graph.score import RuleScore
    from recommit.puzzles.puzzle import Puzzle

    Floats = NDArray[np.float64]
    Ends = tuple[float, float, float]


def with_optimal_plans(graph: CommitmentGraph) -> CommitmentGraph:
    """The graph of the same nodes with the solver's plans, the first of equally short ones; a start whose way leads out
    of the graph makes it one that is not closed. States out of reach keep the plans that they have."""
    nodes, puzzle = graph.numbers(), graph.puzzle
    rows = np.flatnonzero(graph.planned & (graph.distance > 0))
    plans, executed, landing = graph.plans.copy(), graph.executed.copy(), graph.landing.copy()
    solutions = puzzle.solve(graph.states[rows])
    here = graph.states[rows]
    lengths = np.diff(solutions.offsets)
    executed[rows] = np.minimum(lengths[:, None], graph.depths)
    for place in range(PLAN):
        moving = lengths > place
        plans[rows, place] = 0
        plans[rows[moving], place] = solutions.actions[solutions.offsets[:-1][moving] + place]
        here = np.where(moving[:, None, None], puzzle.step(here, np.ascontiguousarray(plans[rows, place])), here)
        landing[rows, place] = [nodes.get(state.tobytes(), NOWHERE) for state in here]
    return replace(graph, plans=plans, executed=executed, landing=landing)


def ways(puzzle: Puzzle, starts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """All states on the solver's plans from these starts, the starts first, goals too: what any depths on optimal plans
    can lead to."""
    solutions = puzzle.solve(starts)
    lengths, first = np.diff(solutions.offsets), solutions.offsets[:-1]
    here, steps = starts, [starts]
    for place in range(int(lengths.max(initial=0))):
        moving = np.flatnonzero(lengths > place)
        here = here.copy()
        here[moving] = puzzle.step(
            np.ascontiguousarray(here[moving]), np.ascontiguousarray(solutions.actions[first[moving] + place])
        )
        steps.append(here[moving])
    return np.concatenate(steps)


@dataclass(frozen=True, eq=False)
class FourValues:
    """[starts] of one rule under one setting, with its own plans and with optimal ones."""

    best: Floats  #: V*: optimal plans, the best depths
    oracle: Floats  #: V^p: these plans, the best depths
    crossed: Floats  #: optimal plans, the rule's own depths
    rule: Floats  #: V^r: these plans, the rule's depths

    def parts(self) -> Floats:
        """[2, starts] what plans lose and what depths lose, each the mean of both orders."""
        plans = ((self.best - self.oracle) + (self.crossed - self.rule)) / 2
        return np.stack([plans, self.best - self.rule - plans])

    def orders(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Means of what the plans and then the depths lose, and of what the depths and then the plans do."""
        best, oracle, crossed, rule = (
            float(np.mean(each)) for each in (self.best, self.oracle, self.crossed, self.rule)
        )
        return (best - oracle, oracle - rule), (best - crossed, crossed - rule)


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
        value = solver_values(self.distance, ALL_DEPTHS, setting.budget, setting.prices)
        result: Floats = value[-1]
        return result

    def four(self, entry: NamedRule, setting: Setting) -> FourValues:
        """All values of a rule."""
        plain = _values(self.own, self.own.bench, entry, setting)
        crossed = _values(self.perfect, self.reads, entry, setting)
        return FourValues(self.best(setting), self.own.oracle(setting), crossed, plain)


def _values(judge: Judge, reads: RuleBench, entry: NamedRule, setting: Setting) -> Floats:
    starts = judge.graph.starts
    if entry.draws:
        outcome = expect(judge.best(setting), starts, reads.probs(entry)).outcome()
    else:
        outcome = play(judge.graph, starts, setting.budget, reads.chooser(entry)).outcome()
    result: Floats = setting.prices.returns(*outcome)
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
    oracle: float
    crossed: float
    value: float
    #: What plans lose and then depths; and what depths lose and then plans.
    plans_first: tuple[float, float]
    depths_first: tuple[float, float]
    plans_lose: Ends
    depths_lose: Ends

    def under(self, setting: Setting) -> bool:
        """Is it of this setting?"""
        return Setting(self.budget, Prices(self.price_action, self.price_observation)) == setting

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
    best, oracle, crossed, rule = (
        float(each.mean()) for each in (values.best, values.oracle, values.crossed, values.rule)
    )
    plans_first, depths_first = values.orders()
    plans, depths = (bootstrap(part, groups) for part in values.parts())
    return RuleParts(
        row.rule,
        row.budget,
        row.price_action,
        row.price_observation,
        row.threshold,
        best,
        oracle,
        crossed,
        rule,
        plans_first,
        depths_first,
        (plans.mean, plans.low, plans.high),
        (depths.mean, depths.low, depths.high),
    )
