"""What rules read out of plans: probabilities, entropies, and where two plans are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans

    Floats = NDArray[np.float64]

T = TypeVar("T")
#: Variances of continuous actions below this count as this: samples that are all alike would have an entropy of minus
#: infinity.
LEAST_VARIANCE = 1e-12


def need(rule: str, what: str, value: T | None) -> T:
    """``value``, which ``rule`` cannot do without; ``what`` names the argument and says why."""
    if value is None:
        raise ValueError(f"{rule} needs Plans.{what}")
    return value


def same(one: NDArray[Any], other: NDArray[Any], tolerance: float) -> NDArray[np.bool_]:
    """Are actions the same? Vectors are if no coordinate differs by more than ``tolerance``."""
    if one.dtype.kind != "f":
        equal: NDArray[np.bool_] = one == other
        return equal
    close: NDArray[np.bool_] = (np.abs(one - other) <= tolerance).all(axis=-1)
    return close


def probabilities(plans: Plans, rule: str) -> Floats:
    """Probabilities of the plan's own actions, [H, N]."""
    why = "probabilities [N, H] of the plan's actions, because it asks how sure the policy is of them"
    values = need(rule, why, plans.probabilities)
    if values.ndim == 3:
        values = np.take_along_axis(values, plans.actions[..., None], axis=-1)[..., 0]
    return by_place(values)


def entropies(plans: Plans, rule: str) -> Floats:
    """Entropies [H, N] of the policy's choice at each place, in nats: as they are, from distributions, or else from
    samples.
    """
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
    """[N, H] as float64 [H, N]: a row per place is what rules run along."""
    return np.array(values.T, np.float64, order="C")


def _of_distributions(probs: Floats) -> Floats:
    """-sum p log p, where 0 log 0 = 0."""
    logs = np.log(probs, out=np.zeros_like(probs), where=probs > 0)
    result: Floats = -np.einsum("nha,nha->nh", probs, logs)
    return result


def _of_counts(samples: NDArray[np.integer]) -> Floats:
    """Entropy of the histogram of [N, S, H] over S: the mean of -log(how many samples are like this one / S)."""
    count = samples.shape[1]
    shares = [(samples == samples[:, i : i + 1]).mean(axis=1, dtype=np.float64) for i in range(count)]
    result: Floats = -np.log(shares).sum(axis=0) / count
    return result


def _of_vectors(samples: NDArray[np.floating]) -> Floats:
    """Entropy of a normal law with the variances of [N, S, H, D] over S, its coordinates independent."""
    variance = np.maximum(samples.var(axis=1, dtype=np.float64), LEAST_VARIANCE)
    result: Floats = 0.5 * np.log(2 * np.pi * np.e * variance).sum(axis=-1)
    return result
