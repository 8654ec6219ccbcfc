"""The rule that compares a plan with what is left of the last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recommit.horizon import checks, near
from recommit.horizon.rule import Rule, leading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans


@dataclass(frozen=True)
class Consecutive(Rule):
    """One action more than the new plan has in common with the rest of the last one.

    With t_1, ..., t_r what the last plan still held (``Plans.previous``),

        h = 1 + max{k <= r : a_i = t_i for all i <= k}, at most H.

    Vectors are the same where no coordinate differs by more than ``tolerance``. Bidirectional decoding (arXiv
    2408.17355) chooses among samples the plan that is coherent with the last one, at a fixed depth; to read a depth off
    the coherence of the greedy plan is ours. ``first`` is the depth where nothing is left to compare.
    """

    reads: ClassVar[tuple[str, ...]] = ("previous",)
    tolerance: float = 0.0
    first: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tolerance", checks.number("tolerance", self.tolerance, 0.0))
        object.__setattr__(self, "first", checks.whole("first", self.first, 1))

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """The common prefix, and the action behind it."""
        why = "previous, the rest of the last plans (plans.tail(depths)), because it compares the new ones with it"
        tail = near.need("Consecutive", why, plans.previous)
        places = min(plans.horizon, tail.actions.shape[1])
        equal = near.same(plans.actions[:, :places], tail.actions[:, :places], self.tolerance).T
        common = leading(equal & (np.arange(places)[:, None] < tail.remaining))
        return np.minimum(np.where(tail.remaining > 0, 1 + common, self.first), plans.horizon)
