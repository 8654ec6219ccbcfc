"""Rules of a fixed depth that replace the greedy plan by a combination of several plans, or by one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recommit.horizon.actions import Fixed
from recommit.horizon.rule import need

if TYPE_CHECKING:
    from recommit.horizon.plans import Plans

PREVIOUS = "previous, what is left of the last plan"


@dataclass(frozen=True)
class TemporalEnsemble(Fixed):
    """The mean of all plans for the same tick: temporal ensembling of ACT (arXiv 2304.13705), there at depth 1.

    Of c plans for a tick, counted from the oldest, plan j has the weight exp(-decay j).
    """

    reads: ClassVar[tuple[str, ...]] = ("previous",)
    depth: int = 1
    _numbers: ClassVar[dict[str, float]] = {"decay": -np.inf}
    decay: float = 0.01

    def revise(self, plans: Plans) -> Plans:
        """Move the last mean, which holds all earlier plans, towards the new plan."""
        last = need("TemporalEnsemble", PREVIOUS, plans.previous)
        before = need("TemporalEnsemble", "previous.decisions, as a queue has them", last.decisions)
        if not plans.continuous:
            raise ValueError("TemporalEnsemble needs Plans.actions to be floats [N, H, D], since numbers have no mean")
        reach = (last.remaining[:, None] - 1 - np.arange(plans.horizon)) // self.depth + 1
        counts = np.clip(np.minimum(before[:, None], reach), 0, None)
        weights = np.exp(-self.decay * np.arange(counts.max(initial=0) + 1))
        old, new = np.concatenate([[0.0], np.cumsum(weights)])[counts], weights[counts]
        moved = (new / (old + new))[..., None] * (plans.actions - last.actions[:, : plans.horizon])
        mean = np.where(counts[..., None] > 0, last.actions[:, : plans.horizon] + moved, plans.actions)
        return replace(plans, actions=mean.astype(plans.actions.dtype))


@dataclass(frozen=True)
class BackwardCoherence(Fixed):
    """Among the plan and the samples, the one closest to the rest of the last plan: the half of bidirectional decoding
    (BID, arXiv 2408.17355) that needs no weaker policy to contrast with.

    With t_1, ..., t_r the rest of the last plan, the plan with the least sum over i <= r of decay^i |a_i - t_i|; ties
    go to the plan itself.
    """

    reads: ClassVar[tuple[str, ...]] = ("previous", "samples")
    _numbers: ClassVar[dict[str, float]] = {"decay": 0.0}
    decay: float = 0.5

    def revise(self, plans: Plans) -> Plans:
        """Replace each plan by the chosen one."""
        last = need("BackwardCoherence", PREVIOUS, plans.previous)
        samples = need("BackwardCoherence", "samples [N, S, H] or [N, S, H, D] to choose from", plans.samples)
        every = np.concatenate([plans.actions[:, None], samples], axis=1)
        places = min(plans.horizon, last.actions.shape[1])
        one, other = every[:, :, :places], last.actions[:, None, :places]
        apart = np.linalg.norm(one - other, axis=-1) if plans.continuous else (one != other).astype(np.float64)
        weights = self.decay ** np.arange(places) * (np.arange(places) < last.remaining[:, None])
        chosen = (apart * weights[:, None]).sum(axis=-1).argmin(axis=1)
        return replace(plans, actions=every[np.arange(len(plans)), chosen])
