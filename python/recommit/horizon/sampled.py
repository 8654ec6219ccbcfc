"""Rules that compare a plan with other plans from the same observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from recommit.horizon import checks, near
from recommit.horizon.rule import ThresholdRule, running

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans
    from recommit.horizon.rule import Flags, Floats


@dataclass(frozen=True)
class Disagreement(ThresholdRule):
    """As long as predictions disagree little more than at the plan's beginning: the mixture-of-horizons rule.

    With d_i the disagreement at place i and m = ``least``, the commitment has m actions and goes on while
    d_i < threshold * mean(d_1, ..., d_m) (arXiv 2511.19433, from its code). There d_i is the L1 distance between the
    predictions of several horizons and the plan fused from them. Here it is the mean L1 distance of the samples from
    the plan, for numbered actions the share of samples that differ there, and without samples 1 - p_i. Those, and the
    samples in the place of horizons, are ours; its end where few horizons reach is left out.

    Where the beginning disagrees nowhere nothing is below the limit, and m actions are committed.
    """

    threshold: float = 1.1
    least: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "least", checks.whole("least", self.least, 1))

    def by_place(self, plans: Plans) -> Floats:
        """The largest d_i so far over the mean of the first m; minus infinity for these."""
        values = self._disagreement(plans)
        least = min(self.least, plans.horizon)
        base = values[:least].sum(axis=0) / least
        np.divide(values[least:], base, out=values[least:], where=base > 0)
        values[least:, base <= 0] = np.inf
        values[:least] = -np.inf
        running(np.maximum, values)
        return values

    def passes(self, scores: Floats, threshold: float) -> Flags:
        """Strictly below."""
        result: Flags = scores < threshold
        return result

    def _disagreement(self, plans: Plans) -> Floats:
        if plans.samples is None and plans.probabilities is not None:
            return 1.0 - near.probabilities(plans, "Disagreement")
        why = "samples, or probabilities [N, H], because it asks where predictions differ"
        samples, actions = near.need("Disagreement", why, plans.samples), plans.actions[:, None]
        apart = np.abs(samples - actions).sum(axis=-1, dtype=np.float64) if plans.continuous else samples != actions
        return near.by_place(apart.mean(axis=1, dtype=np.float64))


@dataclass(frozen=True)
class Agreement(ThresholdRule):
    """The longest prefix that enough samples share: A3 (arXiv 2605.11567), as summarised.

    With c_h the share of samples whose first h actions are those of the plan, h = max{h : c_h >= threshold}. Vectors
    are the same where no coordinate differs by more than ``tolerance``. If ``Plans.verified`` is there, the prefix also
    ends before the first action that the policy, asked again, would not repeat; a greedy plan needs no such question.

    The source scores consensus along trajectories and asks again in the order of consensus; a share of equal prefixes
    and the tolerance are ours. Its draft is the sample nearest to all others: ``medoid`` finds it.
    """

    reads: ClassVar[tuple[str, ...]] = ("samples",)
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tolerance", checks.number("tolerance", self.tolerance, 0.0))

    def by_place(self, plans: Plans) -> Floats:
        """Shares of samples; minus infinity from the first action on that is not verified."""
        why = "samples [N, S, H], because it counts the plans from the same observation that begin alike"
        samples = near.need("Agreement", why, plans.samples)
        shares = near.by_place(_alike(samples, plans.actions, self.tolerance).mean(axis=1, dtype=np.float64))
        if plans.verified is not None:
            shares[~np.logical_and.accumulate(plans.verified, axis=1).T] = -np.inf
        return shares


def medoid(samples: NDArray[Any], tolerance: float = 0.0) -> NDArray[np.intp]:
    """[N] which of the samples [N, S, H] or [N, S, H, D] shares the longest prefixes with the others, of equal ones the
    first.

    The distance of two plans is what they have beyond their common prefix; the medoid's distances have the least sum.
    """
    samples = checks.array("samples", samples, "iuf")
    checks.shape("samples", samples, ("N", "S", "H", *(["D"] if samples.dtype.kind == "f" else [])))
    common = [_alike(samples, samples[:, i], tolerance).sum(axis=(1, 2)) for i in range(samples.shape[1])]
    result: NDArray[np.intp] = np.argmax(common, axis=0)
    return result


def _alike(samples: NDArray[Any], actions: NDArray[Any], tolerance: float) -> Flags:
    """[N, S, H] are the first 1, 2, ..., H actions of each sample those of the plan?"""
    result: Flags = np.logical_and.accumulate(near.same(samples, actions[:, None], tolerance), axis=2)
    return result
