"""Rules that read actions alone, of this plan and of the last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recommit import checks
from recommit.horizon.rule import Rule, ThresholdRule, leading, need, running, same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans
    from recommit.horizon.rule import Flags, Floats


@dataclass(frozen=True)
class Fixed(Rule):
    """Always the same depth: ``n_action_steps``, ``replan_steps`` and their like."""

    _numbers: ClassVar[dict[str, float]] = {"depth": 1}
    depth: int

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """``depth``; raises if the plans are shorter."""
        if self.depth > plans.horizon:
            raise ValueError(f"depth: expected 1..{plans.horizon}, the actions of a plan, got {self.depth}")
        return np.full(len(plans), self.depth, np.int32)


@dataclass(frozen=True)
class Repetition(Rule):
    """The prefix that repeats the plan's first action: h = the largest h with a_1 = a_2 = ... = a_h.

    DAR (AAAI 2017) and FiGAR (arXiv 1702.06054) learn the number of repetitions of an action. Ours: nothing is learned;
    the plan's own first run decides. Vectors repeat while no coordinate moves by more than ``tolerance`` from the
    first.
    """

    _numbers: ClassVar[dict[str, float]] = {"tolerance": 0.0}
    tolerance: float = 0.0

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """The length of the first run."""
        return 1 + leading(same(plans.actions[:, 1:], plans.actions[:, :1], self.tolerance).T)


@dataclass(frozen=True)
class FirstEvent(Rule):
    """Up to the first event of the plan: the "action trigger" among the baselines of AutoHorizon (arXiv 2602.21445).

    Events are those of ``Plans.events`` and, with ``opposite``, every action that takes back the one before it:
    ``opposite[a]`` is the action that undoes ``a``, (1, 0, 3, 2) for up, down, left, right. The commitment ends with
    the event. In the source a human writes the trigger; this one is ours.
    """

    opposite: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.opposite is not None:
            object.__setattr__(self, "opposite", tuple(checks.integer("opposite", each, 0) for each in self.opposite))

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """Number of actions up to and including the first event."""
        return np.minimum(leading(~self._events(plans)) + 1, plans.horizon)

    def _events(self, plans: Plans) -> Flags:
        if self.opposite is None:
            why = (
                "events [N, H], unless the rule has `opposite`, because actions alone do not say where something "
                "happens"
            )
            return need("FirstEvent", why, plans.events).T
        reversals = self._reversals(plans, np.array(self.opposite))
        return reversals if plans.events is None else reversals | plans.events.T

    def _reversals(self, plans: Plans, opposite: NDArray[np.integer]) -> Flags:
        if plans.continuous:
            raise ValueError(
                "FirstEvent: `opposite` needs Plans.actions to be integers [N, H], since a vector has no number"
            )
        checks.between("actions", plans.actions, 0, len(opposite) - 1, f"actions ({len(opposite)} have an opposite)")
        actions = plans.actions.T
        result = np.zeros(actions.shape, np.bool_)
        np.equal(actions[1:], opposite[actions[:-1]], out=result[1:])
        return result


@dataclass(frozen=True)
class Consecutive(Rule):
    """One action more than the new plan has in common with the rest of the last one.

    With t_1, ..., t_r the rest of the last plan (``Plans.previous``),

        h = 1 + max{k <= r : a_i = t_i for all i <= k}, at most H.

    Vectors are the same where no coordinate differs by more than ``tolerance``. Bidirectional decoding (arXiv
    2408.17355) chooses among samples the plan that is coherent with the last one, at a fixed depth; a depth from the
    coherence of the greedy plan is ours. ``first`` is the depth where nothing is left to compare.
    """

    reads: ClassVar[tuple[str, ...]] = ("previous",)
    _numbers: ClassVar[dict[str, float]] = {"tolerance": 0.0, "first": 1}
    tolerance: float = 0.0
    first: int = 1

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """Length of the common prefix plus one."""
        why = "previous, the rest of the last plans (plans.tail(depths)), because it compares the new ones with it"
        tail = need("Consecutive", why, plans.previous)
        places = min(plans.horizon, tail.actions.shape[1])
        equal = same(plans.actions[:, :places], tail.actions[:, :places], self.tolerance).T
        common = leading(equal & (np.arange(places)[:, None] < tail.remaining))
        return np.minimum(np.where(tail.remaining > 0, 1 + common, self.first), plans.horizon)


@dataclass(frozen=True)
class LowSpeed(ThresholdRule):
    """Up to the first point where the plan is slow, of chunks of positions: PACE (arXiv 2606.00537), as summarised.

    With v_i the largest change of a coordinate from a_i to a_i+1, a point i is slow where v_i is no larger than its
    neighbours and below ``threshold`` times the largest of the plan; the commitment ends with a_i. The paper's own
    smoothing and norm were not read: these are ours.
    """

    def by_place(self, plans: Plans) -> Floats:
        """The least relative speed of the slow points before the end of each prefix; 1 where there was none."""
        if not plans.continuous:
            raise ValueError("LowSpeed needs Plans.actions to be floats [N, H, D], since numbers have no speed")
        speed = np.abs(np.diff(plans.actions.astype(np.float64), axis=1)).max(axis=-1).T
        relative = np.ones((plans.horizon, len(plans)))
        if plans.horizon > 3:
            lowest = (speed[1:-1] <= speed[:-2]) & (speed[1:-1] <= speed[2:])
            share = speed[1:-1] / np.maximum(speed.max(axis=0), 1e-300)
            relative[2:-1] = np.where(lowest, share, 1.0)
        running(np.minimum, relative)
        return relative
