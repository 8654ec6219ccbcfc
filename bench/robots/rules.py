"""Every rule of ``recommit.horizon`` that continuous actions have something to read for, each with its thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.robots.tasks import DEPTHS, Arm

from recommit import horizon, rng

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

CONSTANTS = {f"fixed-{depth}": horizon.Fixed(depth) for depth in DEPTHS}


@dataclass(frozen=True)
class RandomDepth(horizon.Rule):
    """Any of the depths: how the states come about that a head learns from first."""

    arm: Arm
    episode: int

    def propose(self, plans: horizon.Plans) -> NDArray[np.integer]:
        """A draw of this episode and tick alone."""
        stream = rng.streams(self.episode, rng.Purpose.DEPTHS, self.arm.t)
        return np.full(len(plans), DEPTHS[int(rng.below(rng.draw(stream, 0), len(DEPTHS))[0])])


@dataclass(frozen=True)
class Sometimes(horizon.Rule):
    """A rule, and in one of five queries any depth."""

    rule: horizon.Rule
    other: RandomDepth

    def propose(self, plans: horizon.Plans) -> NDArray[np.integer]:
        """Mostly what the rule says."""
        stream = rng.streams(self.other.episode, rng.Purpose.DEPTHS, 2**32 + self.other.arm.t)
        return (self.other if rng.uniform(stream, 0)[0] < 0.2 else self.rule).choose(plans)


def families(plans: horizon.Plans, count: int) -> dict[str, list[horizon.Rule]]:
    """Candidates of each rule; thresholds are quantiles of its scores on ``plans``, or a grid of tolerances.

    Rules that read probabilities of actions, which these policies do not have, are left out, and so is the memory,
    which waits for an observation that comes again to the bit.
    """
    among: dict[str, Any] = {"depths": DEPTHS}
    tolerances = np.geomspace(0.02, 1.0, count).tolist()

    def swept(rule: horizon.ThresholdRule) -> list[horizon.Rule]:
        values = np.unique(rule.thresholds(plans, count)) + (1e-9 if isinstance(rule, horizon.Disagreement) else 0.0)
        return [replace(rule, threshold=float(each)) for each in values]

    return {
        "disagreement": [each for least in (1, 4) for each in swept(horizon.Disagreement(1.0, least=least, **among))],
        "agreement": [horizon.Agreement(0.7, tolerance=each, **among) for each in tolerances],
        "confidence-entropy": swept(horizon.Confidence(0.0, kind="entropy", **among)),
        "entropy-jump": [horizon.EntropyJump(least=each, **among) for each in (1, 4)],
        "consecutive": [horizon.Consecutive(each, first=8, **among) for each in tolerances],
        "repetition": [horizon.Repetition(each, **among) for each in tolerances],
        "first-event": [horizon.FirstEvent(**among)],
    }


def play(arm: Arm, planner: Callable[[Any], horizon.Plans], rule: Any, numbers: Sequence[int]) -> NDArray[np.int64]:
    """[episodes, 4] success, queries, actions and ticks. A rule may be made for each episode."""
    rows = []
    for number in numbers:
        arm.reset(number)
        end = arm.follow(planner, rule(number) if callable(rule) else rule)
        rows.append((end.success, end.queries, end.actions, end.ticks))
    return np.array(rows, np.int64)


def stacked(plans: Sequence[horizon.Plans]) -> horizon.Plans:
    """One batch of plans of single observations."""
    join = lambda name: np.concatenate([getattr(each, name) for each in plans])
    return horizon.Plans(join("actions"), samples=join("samples"), events=join("events"))
