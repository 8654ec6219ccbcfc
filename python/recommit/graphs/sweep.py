"""A rule of one number under all thresholds of its curve: each is played once per budget, its scores are computed once
for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recommit.horizon.rule import ThresholdRule
from recommit.play import attribution

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from recommit.graphs.rules import NamedRule
    from recommit.graphs.score import Judge, Setting
    from recommit.play.attribution import Choose

    Floats = NDArray[np.float64]

#: Thresholds of a curve.
STEPS = 50


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
    return np.unique(entry.rule.thresholds(judge.bench.plans, count))


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
