"""Rules that read how sure the policy is of its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recommit.horizon import checks, near
from recommit.horizon.rule import Rule, ThresholdRule, running

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans
    from recommit.horizon.rule import Flags, Floats

#: What the score of a prefix makes of its places.
COMBINE = {"product": np.multiply, "least": np.minimum, "entropy": np.add}
#: Rises of the mean entropy closer than this are level, and the first of them counts.
TIE = 1e-12


@dataclass(frozen=True)
class Confidence(ThresholdRule):
    """The longest prefix that the policy is sure enough of.

    With p_i the probability of the plan's action i after those before it, and H_i the entropy there:

    * ``product``: h = max{h : p_1 p_2 ... p_h >= threshold}, the probability that a drawn plan begins alike;
    * ``least``: h = max{h : min(p_1, ..., p_h) >= threshold};
    * ``entropy``: h = max{h : H_1 + ... + H_h <= threshold}; it ends before the first sum beyond the threshold where
      entropies of continuous actions are below zero. A lower threshold is the stricter one here.

    AutoHorizon (arXiv 2602.21445, its README) has such a rule among its baselines as "uncertainty", with the spread of
    samples for p_i; ensembles that trigger planning (arXiv 2408.01510) are another. These three forms are ours.
    """

    kind: Literal["product", "least", "entropy"] = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.choice("kind", self.kind, ("product", "least", "entropy"))

    def by_place(self, plans: Plans) -> Floats:
        """Products and minima of probabilities, or sums of entropies."""
        name = f"Confidence(kind={self.kind!r})"
        scores = near.entropies(plans, name) if self.kind == "entropy" else near.probabilities(plans, name)
        running(COMBINE[self.kind], scores)
        if self.kind == "entropy":
            running(np.maximum, scores)
        return scores

    def passes(self, scores: Floats, threshold: float) -> Flags:
        """At least, or for entropies at most."""
        result: Flags = scores <= threshold if self.kind == "entropy" else scores >= threshold
        return result


@dataclass(frozen=True)
class EntropyJump(Rule):
    """Up to the largest rise of the mean entropy: AAC, adaptive action chunking (arXiv 2604.04161), as summarised.

    With H_i the entropy of action i and M(h) = (H_1 + ... + H_h) / h, the depth is the h in ``least``..H-1 with the
    largest M(h+1) - M(h). The source draws samples and takes their entropy, of a histogram or of a normal law; here
    that is one of three ways to come by H_i (see ``Plans``), and the normal law has no correlations.

    Ours: where the mean rises nowhere the whole plan is committed (the formula alone never commits to H), and of equal
    rises the first counts.
    """

    least: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "least", checks.whole("least", self.least, 1))

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """The place before the largest rise."""
        total = near.entropies(plans, "EntropyJump")
        largest, depths = np.full(len(plans), TIE), np.full(len(plans), plans.horizon, np.int32)
        for i in range(1, plans.horizon):
            total[i] += total[i - 1]
            if i >= self.least:
                rise = total[i] / (i + 1) - total[i - 1] / i
                higher = rise > largest
                np.copyto(depths, i, where=higher)
                np.copyto(largest, rise + TIE, where=higher)
        return depths
