"""A head that was fitted, as a folder and as a rule: numpy alone, without torch.

head.safetensors    the net's weights, and mean and deviation of what it reads
head.json           method, depths, how outputs become a depth, threshold, and how it was made
DIGESTS             sha256 of both, checked by whoever reads them
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from recommit.horizon import Plans, Rule
from recommit.horizon.rule_registry import NamedRule
from recommit.policy.config import AGREEMENT, FEATURES, PLAN_LENGTH, feature_count
from recommit.storage import errors, files, ownership, verified
from recommit.storage.lock import Lock
from recommit.storage.recipe_text import brief, cut
from recommit.train.heads.problem import ON_GRAPHS, head_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: Columns of weights by name, as they are stored.
Weights = dict[str, "NDArray[np.float32]"]
#: A net of distances gives them in units of this many actions.
UNIT = 8.0
FORMAT = "recommit fitted head 1"
WEIGHTS, ABOUT = "head.safetensors", "head.json"
FIELDS = {"format": str, "method": str, "reading": str, "depths": [int], "features": str, "record": dict}
#: How outputs become a depth: the largest; the likeliest of hazards; as deep as progress passes a threshold.
READINGS = ("argmax", "hazard", "progress")


def progress(outputs: NDArray[np.floating], depths: Sequence[int]) -> Floats:
    """[N, depths] the least that any depth so far wins per action over the one before; it never grows with depth."""
    steps = np.diff(np.array([0, *depths]))
    won = -np.diff(outputs.astype(np.float64), axis=1) * UNIT / steps
    result: Floats = np.minimum.accumulate(won, axis=1)
    return result


@dataclass(frozen=True, eq=False)
class FittedHead:
    """Weights, and how a depth comes of them."""

    method: str
    reading: str
    depths: tuple[int, ...]
    features: str
    mean: Floats
    deviation: Floats
    weights: Weights
    threshold: float | None
    #: How it was made: any plain values.
    record: dict[str, Any]

    def __post_init__(self) -> None:
        if self.reading not in READINGS:
            raise ValueError(f"reading: expected one of {', '.join(READINGS)}, got {self.reading}")
        if self.features not in ON_GRAPHS:
            raise ValueError(f"features: expected one of {', '.join(ON_GRAPHS)}, got {self.features}")
        if list(self.depths) != sorted(set(self.depths)) or not set(self.depths) <= set(range(1, PLAN_LENGTH + 1)):
            raise ValueError(f"depths: expected some of 1..{PLAN_LENGTH}, each once, ascending, got {self.depths}")
        if not isinstance(self.threshold, int | float | None):
            raise ValueError(f"threshold: expected a number, got {self.threshold!r}")  # noqa: TRY004  (of a file)
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Refuse weights of another net, and what is no number."""
        expected = len(self.depths) + {"argmax": 0, "hazard": -1, "progress": 1}[self.reading]
        inputs, hidden = np.size(self.mean), np.size(self.weights.get("bias", ()))
        shapes = {"mean": (inputs,), "deviation": (inputs,), "last": (expected, hidden or inputs)}
        shapes |= {"offset": (expected,), **({"first": (hidden, inputs), "bias": (hidden,)} if hidden else {})}
        every: dict[str, NDArray[Any]] = {**self.weights, "mean": self.mean, "deviation": self.deviation}
        for name in sorted({*shapes, *every}):
            numbers, shape = every.get(name, np.zeros(0)), shapes.get(name)
            if np.shape(numbers) != shape or numbers.dtype.kind != "f" or not np.isfinite(numbers).all():
                what = f"{numbers.dtype}{list(numbers.shape)}"
                raise ValueError(
                    f"weights: expected {name} to be finite numbers {shape or 'of no such name'}, got {what}"
                )
        if not (self.deviation > 0).all():
            raise ValueError(f"deviation: expected numbers above 0, got {self.deviation.min()}")

    @property
    def width(self) -> int:
        """Numbers of z among what it reads."""
        return len(self.mean) - feature_count(self.features, 0, 0) if "z" in FEATURES[self.features] else 0

    def raw(self, inputs: NDArray[np.floating]) -> NDArray[np.float32]:
        """[N, outputs] what ``network.Net`` computes, without torch, from inputs of mean 0 and deviation 1."""
        inner = inputs.astype(np.float32)
        if "first" in self.weights:
            inner = inner @ self.weights["first"].T + self.weights["bias"]
            inner = inner * 0.5 * (1 + np.tanh(np.float32(0.7978845608) * (inner + np.float32(0.044715) * inner**3)))
        result: NDArray[np.float32] = inner @ self.weights["last"].T + self.weights["offset"]
        return result

    def scores(self, outputs: NDArray[np.floating]) -> Floats:
        """[N, depths] how much each depth is preferred; of a head with a threshold, see ``progress`` below."""
        if self.reading == "hazard":
            stop = 1.0 / (1.0 + np.exp(-np.clip(outputs.astype(np.float64), -60, 60)))
            one = np.ones((len(stop), 1))
            result: Floats = np.concatenate([stop, one], axis=1) * np.concatenate(
                [one, np.cumprod(1.0 - stop, axis=1)], axis=1
            )
            return result
        return outputs.astype(np.float64)

    def columns(self, outputs: NDArray[np.floating], threshold: float | None = None) -> Nodes:
        """[N] the column of the depth that the head commits to."""
        if self.reading == "progress":
            level = self.threshold if threshold is None else threshold
            enough = progress(outputs, self.depths)[:, 1:] >= (0.0 if level is None else level)
            return np.asarray(enough.sum(axis=1), np.int64)  # the deepest depth whose progress passes, or the first
        result: Nodes = self.scores(outputs).argmax(axis=1)
        return result


@dataclass(frozen=True)
class LearnedDepths(Rule):
    """A fitted head as a rule; plans need probabilities of every action, and the features of their observations."""

    head: FittedHead

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """What the head commits to."""
        result: NDArray[np.integer] = self._depths[self.head.columns(self._outputs(plans))]
        return result

    def order(self, plans: Plans) -> NDArray[np.int32]:
        """Depths by preference, ties to the smaller; a head with a threshold has the order of other rules."""
        if self.head.reading == "progress":
            return super().order(plans)
        ranked = np.argsort(-self.head.scores(self._outputs(plans)), axis=1, kind="stable")
        result: NDArray[np.int32] = self._depths[ranked]
        return result

    @cached_property
    def _depths(self) -> NDArray[np.int32]:
        return np.array(self.head.depths, np.int32)

    def _outputs(self, plans: Plans) -> NDArray[np.float32]:
        if plans.probabilities is None or plans.probabilities.ndim != 3:
            raise ValueError("probabilities: expected those of every action [N, H, A], got fewer")
        z, agreement, last = plans.features, None, AGREEMENT * PLAN_LENGTH
        if z is not None and ("agreement" in FEATURES[self.head.features] or z.shape[1] == self.head.width + last):
            z, agreement = z[:, :-last], z[:, -last:]  # a graph of several augmentations says how far they agree
        read = head_inputs(self.head.features, plans.probabilities, z, agreement)
        if read.shape[1] != len(self.head.mean):
            raise ValueError(f"features: expected {len(self.head.mean)} inputs of the head, got {read.shape[1]}")
        return self.head.raw(((read - self.head.mean) / self.head.deviation).astype(np.float32))


def rule(head: FittedHead, name: str) -> NamedRule:
    """The head with a name in tables."""
    return NamedRule(name, LearnedDepths(head, depths=head.depths))


def write(head: FittedHead, folder: str | Path) -> None:
    """Write a head into a folder of its own."""
    place, work = Path(folder).absolute(), files.Files()
    files.make_folders(work, place)
    about = {
        "format": FORMAT,
        "method": head.method,
        "reading": head.reading,
        "depths": list(head.depths),
        "features": head.features,
        "threshold": head.threshold,
        "record": head.record,
    }
    with Lock(place, work="fit"):
        ownership.take(work, place, (WEIGHTS, ABOUT, "policy"), "a fitted head")
        verified.write_digests(work, place, {})
        files.replace(work, place / WEIGHTS, save({**head.weights, "mean": head.mean, "deviation": head.deviation}))
        files.replace(work, place / ABOUT, (json.dumps(about, indent=2, allow_nan=False) + "\n").encode())
        verified.seal(work, place, (WEIGHTS, ABOUT))


def read(folder: str | Path) -> FittedHead:
    """A head from its folder, checked."""
    place = Path(folder)
    about = verified.values(place, ABOUT, FIELDS)
    if about["format"] != FORMAT:
        raise errors.Damaged(f"{place / ABOUT}: format: expected {FORMAT!r}, got {brief(about['format'])}")
    try:
        weights = load(verified.content(place, WEIGHTS))
        mean, deviation = weights.pop("mean"), weights.pop("deviation")
        names = ("method", "reading", "depths", "features")
        method, how, depths, features = (about[name] for name in names)
        return FittedHead(
            method, how, tuple(depths), features, mean, deviation, weights, about.get("threshold"), about["record"]
        )
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise errors.Damaged(f"{place}: no fitted head: {cut(str(error))}") from None
