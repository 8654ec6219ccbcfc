"""A finished graph under several settings: what fixed depths, the oracle depth and any rule are worth there.

A rule of one number is played under all thresholds of its curve: once per budget, its scores computed once for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit.graph import rules
from recommit.graph.at_work import RuleBench
from recommit.graph.episodes import play
from recommit.graph.graph import ALL_DEPTHS, CUT
from recommit.graph.regret import Attribution, Expectation, attribute, expect
from recommit.graph.values import OptimalValues
from recommit.horizon.rule import ThresholdRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from recommit.graph.episodes import Chooser
    from recommit.graph.graph import CommitmentGraph
    from recommit.graph.prices import Setting
    from recommit.graph.rules import NamedRule

    Floats = NDArray[np.float64]

#: Thresholds of a curve.
STEPS = 50


@dataclass(frozen=True, eq=False)
class Judge:
    """A graph of all depths, with the oracle depth and the fixed depths of it under every setting."""

    graph: CommitmentGraph
    settings: tuple[Setting, ...]

    def __post_init__(self) -> None:
        if not self.graph.closed:
            raise ValueError(CUT)
        if self.graph.depths != ALL_DEPTHS:
            raise ValueError(f"graph: expected one of the depths {ALL_DEPTHS}, got {self.graph.depths}")

    @cached_property
    def bench(self) -> RuleBench:
        """For rules."""
        return RuleBench(self.graph)

    @cached_property
    def _best(self) -> dict[Setting, OptimalValues]:
        return {each: OptimalValues.of(self.graph, each.budget, each.prices) for each in self.settings}

    def best(self, setting: Setting) -> OptimalValues:
        """V^p of every state, by observations left."""
        return self._best[setting]

    def oracle(self, setting: Setting) -> Floats:
        """[starts] V^p."""
        result: Floats = self._best[setting].value[setting.budget, self.graph.starts]
        return result

    @cached_property
    def _fixed(self) -> dict[Setting, list[Floats]]:
        every = [self.bench.chooser(rules.named(f"fixed-{depth}")) for depth in ALL_DEPTHS]
        return {each: [self.values(choose, each) for choose in every] for each in self.settings}

    def best_fixed(self, setting: Setting) -> int:
        """The best fixed depth."""
        return 1 + int(np.argmax([values.mean() for values in self._fixed[setting]]))

    def fixed(self, setting: Setting, depth: int) -> Floats:
        """[starts] values of a fixed depth."""
        return self._fixed[setting][depth - 1]

    def values(self, choose: Chooser, setting: Setting) -> Floats:
        """[starts] V^r of a rule."""
        played = play(self.graph, self.graph.starts, setting.budget, choose)
        result: Floats = setting.prices.returns(*played.outcome())
        return result

    def played(self, entry: NamedRule, setting: Setting) -> Attribution | Expectation:
        """What a rule's episodes come to and give away; of one that draws by expectation."""
        if entry.draws:
            return expect(self._best[setting], self.graph.starts, self.bench.probs(entry))
        return attribute(self._best[setting], self.graph.starts, self.bench.chooser(entry))

    def thresholds(self, entry: NamedRule, count: int = STEPS) -> Floats:
        """Those that cut the rule's scores on this graph into equal parts."""
        assert isinstance(entry.rule, ThresholdRule)
        return np.unique(entry.rule.thresholds(self.bench.plans_for(entry), count))

    def sweep(self, entry: NamedRule, count: int = STEPS) -> Sweep:
        """Play every threshold of a rule under every budget."""
        every = self.thresholds(entry, count)
        return self.sweep_of(every, self.bench.choosers(entry, every))

    def sweep_of(self, parameters: NDArray[np.floating], choosers: Iterable[Chooser]) -> Sweep:
        """Play a rule with each of its parameters under every budget."""
        value, actions = np.zeros((2, len(parameters), len(self.settings)))
        for i, choose in enumerate(choosers):
            for budget in {each.budget for each in self.settings}:
                ends = play(self.graph, self.graph.starts, budget, choose).outcome()
                means = [column.mean() for column in ends]
                for place, setting in enumerate(self.settings):
                    if setting.budget == budget:
                        value[i, place], actions[i, place] = setting.prices.returns(*means), means[1]
        return Sweep(self.settings, parameters.astype(np.float64), value, actions)

    def curve(self, entry: NamedRule, setting: Setting, count: int = STEPS) -> list[dict[str, float]]:
        """Solved, actions and observations of a rule over its thresholds."""
        every, points = self.thresholds(entry, count), []
        for threshold, choose in zip(every.tolist(), self.bench.choosers(entry, every), strict=True):
            ends = play(self.graph, self.graph.starts, setting.budget, choose).outcome()
            solved, actions, observations = (float(column.mean()) for column in ends)
            points.append({"threshold": threshold, "solved": solved, "actions": actions, "observations": observations})
        return points


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
