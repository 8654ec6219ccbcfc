"""Settings, and a graph laid out for them: what constants, the best depths and any rule are worth there.

A rule of one number is played under all thresholds of its curve: once per budget, its scores computed once for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.graph import attribution, regret, rules
from recommit.graph.at_work import RuleBench
from recommit.graph.commitments import Prices
from recommit.graph.expectation import Expectation, expect
from recommit.graph.graph import PLAN
from recommit.horizon.rule import ThresholdRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from recommit.graph.attribution import Choose
    from recommit.graph.commitments import Commitments
    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.rules import NamedRule

    Floats = NDArray[np.float64]

ALL_DEPTHS = tuple(range(1, PLAN + 1))
#: Thresholds of a curve.
STEPS = 50


@dataclass(frozen=True)
class Setting:
    """Under what a rule is judged: looks at most, and what is paid."""

    budget: int
    prices: Prices

    def value(self, solved: Any, actions: Any, looks: Any) -> Any:
        """What these outcomes are worth: 1 for the goal, less what is paid."""
        return solved - self.prices.action * actions - self.prices.look * looks

    def label(self) -> str:
        """In a table."""
        paid = [
            f"{value:g} per {what}"
            for what, value in (("action", self.prices.action), ("look", self.prices.look))
            if value
        ]
        return f"K = {self.budget}" + (f", {', '.join(paid)}" if paid else "")


@dataclass(frozen=True, eq=False)
class Judge:
    """A graph, and the ceiling and the constants of it under every setting."""

    graph: CommitmentGraph
    settings: tuple[Setting, ...]

    def __post_init__(self) -> None:
        if not self.graph.closed:
            raise ValueError(
                "graph: expected one whose edges all lead to nodes, got one that was cut; build it with a higher limit"
            )

    @cached_property
    def bench(self) -> RuleBench:
        """For rules."""
        return RuleBench(self.graph)

    @cached_property
    def commitments(self) -> Commitments:
        """For the exact programs, all depths allowed."""
        return self.graph.commitments(ALL_DEPTHS)

    @cached_property
    def _best(self) -> dict[Setting, regret.Best]:
        return {each: regret.best(self.commitments, each.budget, each.prices) for each in self.settings}

    def ceiling(self, setting: Setting) -> Floats:
        """[starts] V^p."""
        result: Floats = self._best[setting].value[setting.budget, self.graph.starts]
        return result

    @cached_property
    def _constants(self) -> dict[Setting, list[Floats]]:
        every = [self.bench.chooser(rules.named(f"fixed-{depth}")) for depth in ALL_DEPTHS]
        return {each: [self.worth(choose, each) for choose in every] for each in self.settings}

    def constant(self, setting: Setting) -> int:
        """The best depth to commit to everywhere."""
        return 1 + int(np.argmax([values.mean() for values in self._constants[setting]]))

    def of_constant(self, setting: Setting, depth: int) -> Floats:
        """[starts] what a constant is worth."""
        return self._constants[setting][depth - 1]

    def worth(self, choose: attribution.Choose, setting: Setting) -> Floats:
        """[starts] what episodes under a rule are worth."""
        played = attribution.outcome(self.commitments, self.graph.starts, setting.budget, choose)
        result: Floats = setting.value(*played)
        return result

    def best(self, setting: Setting) -> regret.Best:
        """V^p of every state, by looks left."""
        return self._best[setting]

    def played(self, entry: NamedRule, setting: Setting) -> attribution.Attribution | Expectation:
        """What a rule's episodes come to and give away; of one that draws by expectation."""
        if entry.draws:
            return expect(self._best[setting], self.graph.starts, self.bench.chances(entry))
        return self.attributed(self.bench.chooser(entry), setting)

    def attributed(self, choose: attribution.Choose, setting: Setting) -> attribution.Attribution:
        """Every commitment of a rule's episodes."""
        return attribution.attribute(self._best[setting], self.graph.starts, choose)


@dataclass(frozen=True, eq=False)
class Sweep:
    """What each threshold is worth on average, under each setting of a judge."""

    settings: tuple[Setting, ...]
    thresholds: Floats  #: [T], ascending
    value: Floats  #: [T, settings]
    actions: Floats  #: [T, settings]

    def best(self, settings: Sequence[Setting]) -> float:
        """The threshold with the highest value over these settings together; of equals the one with fewer actions, then
        the lower one."""
        columns = [self.settings.index(each) for each in settings]
        value, actions = self.value[:, columns].mean(axis=1), self.actions[:, columns].mean(axis=1)
        return float(self.thresholds[np.lexsort((self.thresholds, actions, -value))[0]])


def thresholds(judge: Judge, entry: NamedRule, count: int = STEPS) -> Floats:
    """Those that cut the rule's scores on this graph into equal parts."""
    assert isinstance(entry.rule, ThresholdRule)
    return np.unique(entry.rule.thresholds(judge.bench.plans_for(entry), count))


def sweep(judge: Judge, entry: NamedRule, count: int = STEPS) -> Sweep:
    """Play every threshold of a rule under every budget of a judge."""
    every = thresholds(judge, entry, count)
    return play(judge, every, judge.bench.choosers(entry, every))


def play(judge: Judge, parameters: NDArray[np.floating], choosers: Iterable[Choose]) -> Sweep:
    """Play a rule with each of its parameters under every budget of a judge."""
    value, actions = np.zeros((2, len(parameters), len(judge.settings)))
    starts = judge.graph.starts
    for i, choose in enumerate(choosers):
        for budget in {each.budget for each in judge.settings}:
            played = [column.mean() for column in attribution.outcome(judge.commitments, starts, budget, choose)]
            for place, setting in enumerate(judge.settings):
                if setting.budget == budget:
                    value[i, place], actions[i, place] = setting.value(*played), played[1]
    return Sweep(judge.settings, parameters.astype(np.float64), value, actions)


def curve(judge: Judge, entry: NamedRule, setting: Setting, count: int = STEPS) -> list[dict[str, float]]:
    """Solved, actions and looks of a rule over its thresholds."""
    every, points = thresholds(judge, entry, count), []
    for threshold, choose in zip(every.tolist(), judge.bench.choosers(entry, every), strict=True):
        columns = attribution.outcome(judge.commitments, judge.graph.starts, setting.budget, choose)
        solved, actions, looks = (float(column.mean()) for column in columns)
        points.append({"threshold": threshold, "solved": solved, "actions": actions, "looks": looks})
    return points
