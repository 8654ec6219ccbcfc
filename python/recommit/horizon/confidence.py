"""Rules that read the policy's confidence in its plan: probabilities, entropies, or other plans from the same
observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from recommit import checks
from recommit.horizon.rule import Rule, ThresholdRule, need, running, same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans
    from recommit.horizon.rule import Flags, Floats

#: Variances of continuous actions below this count as this: samples that are all alike would have an entropy of minus
#: infinity.
LEAST_VARIANCE = 1e-12
#: How the score of a prefix combines its places.
COMBINE = {"product": np.multiply, "least": np.minimum, "entropy": np.add}
#: Rises of the mean entropy closer than this are level, and the first of them counts.
TIE = 1e-12


@dataclass(frozen=True)
class Confidence(ThresholdRule):
    """The longest prefix with enough confidence of the policy.

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
        scores = entropies(plans, name) if self.kind == "entropy" else probabilities(plans, name)
        running(COMBINE[self.kind], scores)
        if self.kind == "entropy":
            running(np.maximum, scores)
        return scores

    def passes(self, scores: Floats, threshold: float) -> Flags:
        """At least the threshold, or for entropies at most."""
        return scores <= threshold if self.kind == "entropy" else scores >= threshold


@dataclass(frozen=True)
class EntropyJump(Rule):
    """Up to the largest rise of the mean entropy: AAC, adaptive action chunking (arXiv 2604.04161, from its code).

    With H_i the entropy of action i and M(h) = (H_1 + ... + H_h) / h, the depth is the h in ``least``..H-1 with the
    largest M(h+1) - M(h), the first of equals. There H_i is of samples: of normal laws of position and of rotation, and
    of the gripper's two states. Here that is one of three sources of H_i (see ``Plans``), without correlations.

    Ours: where the mean rises nowhere the whole plan is committed (there up to the least fall), and ``least`` narrows
    the choice (there 1 becomes 2). The source's least movement of a commitment, in a robot's units, is left out.
    """

    _numbers: ClassVar[dict[str, float]] = {"least": 1}
    least: int = 1

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """Depth before the largest rise."""
        total = entropies(plans, "EntropyJump")
        largest, depths = np.full(len(plans), TIE), np.full(len(plans), plans.horizon, np.int32)
        for i in range(1, plans.horizon):
            total[i] += total[i - 1]
            if i >= self.least:
                rise = total[i] / (i + 1) - total[i - 1] / i
                higher = rise > largest
                np.copyto(depths, i, where=higher)
                np.copyto(largest, rise + TIE, where=higher)
        return depths


@dataclass(frozen=True)
class Disagreement(ThresholdRule):
    """The prefix in which predictions disagree little more than at its beginning: the mixture-of-horizons rule.

    With d_i the disagreement at place i and m = ``least``, the commitment has m actions and goes on while
    d_i < threshold * mean(d_1, ..., d_m) (arXiv 2511.19433, from its code). There d_i is the L1 distance between the
    predictions of several horizons and the plan fused from them. Here it is the mean L1 distance of the samples from
    the plan, for numbered actions the share of samples that differ there, and without samples 1 - p_i. Those, and the
    samples in the place of horizons, are ours; its end where few horizons reach is left out.

    If there is no disagreement at the beginning, nothing is below the limit, and m actions are committed.
    """

    _numbers: ClassVar[dict[str, float]] = {"least": 1}
    threshold: float = 1.1
    least: int = 1

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
        """Strictly below the threshold."""
        return scores < threshold

    def _disagreement(self, plans: Plans) -> Floats:
        if plans.samples is None and plans.probabilities is not None:
            return 1.0 - probabilities(plans, "Disagreement")
        why = "samples, or probabilities [N, H], because it asks where predictions differ"
        samples, actions = need("Disagreement", why, plans.samples), plans.actions[:, None]
        apart = np.abs(samples - actions).sum(axis=-1, dtype=np.float64) if plans.continuous else samples != actions
        return by_place(apart.mean(axis=1, dtype=np.float64))


@dataclass(frozen=True)
class Agreement(ThresholdRule):
    """The longest prefix that enough samples share, after A3 (arXiv 2605.11567, from its code).

    With c_h the share of samples whose first h actions are those of the plan, h = max{h : c_h >= threshold}. Vectors
    are the same where no coordinate differs by more than ``tolerance``.
    The source takes the sample of most consensus, by its summed actions under a normal law, queries the policy for each
    of them again, given those before and given those of more consensus, and keeps the prefix that recurs within a
    tolerance. A rule cannot query the policy; the share of equal prefixes is ours.
    """

    reads: ClassVar[tuple[str, ...]] = ("samples",)
    _numbers: ClassVar[dict[str, float]] = {"tolerance": 0.0}
    tolerance: float = 0.0

    def by_place(self, plans: Plans) -> Floats:
        """Share of samples with the same prefix."""
        why = "samples [N, S, H], because it counts the plans from the same observation that begin alike"
        equal = same(need("Agreement", why, plans.samples), plans.actions[:, None], self.tolerance)
        return by_place(np.logical_and.accumulate(equal, axis=2).mean(axis=1, dtype=np.float64))


def probabilities(plans: Plans, rule: str) -> Floats:
    """Probabilities of the plan's own actions, [H, N]."""
    why = "probabilities [N, H] of the plan's actions, because it asks how sure the policy is of them"
    values = need(rule, why, plans.probabilities)
    if values.ndim == 3:
        values = np.take_along_axis(values, plans.actions[..., None], axis=-1)[..., 0]
    return by_place(values)


def entropies(plans: Plans, rule: str) -> Floats:
    """Entropies [H, N] of the policy's choice at each place, in nats: those of the plans, or from distributions, or
    else from samples."""
    if plans.entropies is not None:
        return by_place(plans.entropies)
    if plans.probabilities is not None and plans.probabilities.ndim == 3:
        return by_place(_of_distributions(plans.probabilities.astype(np.float64, copy=False)))
    why = (
        "entropies [N, H], probabilities [N, H, A] of every action, or samples, "
        "because the probability of one action does not say how the others share the rest"
    )
    samples = need(rule, why, plans.samples)
    return by_place(_of_vectors(samples) if plans.continuous else _of_counts(samples))


def by_place(values: NDArray[Any]) -> Floats:
    """[N, H] as float64 [H, N]: rules accumulate over rows, one per place."""
    return np.array(values.T, np.float64, order="C")


def _of_distributions(probs: Floats) -> Floats:
    """-sum p log p, where 0 log 0 = 0."""
    logs = np.log(probs, out=np.zeros_like(probs), where=probs > 0)
    return -np.einsum("nha,nha->nh", probs, logs)


def _of_counts(samples: NDArray[np.integer]) -> Floats:
    """Entropy of the histogram of [N, S, H] over S: the mean over samples of -log(share of samples equal to it)."""
    count = samples.shape[1]
    shares = [(samples == samples[:, i : i + 1]).mean(axis=1, dtype=np.float64) for i in range(count)]
    return -np.log(shares).sum(axis=0) / count


def _of_vectors(samples: NDArray[np.floating]) -> Floats:
    """Entropy of a normal law with the variances of [N, S, H, D] over S, its coordinates independent."""
    variance = np.maximum(samples.var(axis=1, dtype=np.float64), LEAST_VARIANCE)
    return 0.5 * np.log(2 * np.pi * np.e * variance).sum(axis=-1)
