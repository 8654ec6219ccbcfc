"""What a policy says at one observation, for a batch of environments, as far as a rule may want to read it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.horizon import checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Distributions in half precision add up to 1 within this.
SLACK = 4e-3


@dataclass(frozen=True, eq=False)
class Tail:
    """What the last plans still hold beyond the actions that were executed.

    ``actions`` [N, H] or [N, H, D] begin with the action that would come next; places from ``remaining`` [N] on are not
    read. 0 remain where there was no last plan.
    """

    actions: NDArray[Any]
    remaining: NDArray[np.integer]

    def __post_init__(self) -> None:
        actions = checks.array("actions", self.actions, "iuf")
        checks.shape("actions", actions, *_layouts(actions, "N", "H"))
        remaining = checks.array("remaining", self.remaining, "iu")
        checks.shape("remaining", remaining, (len(actions),))
        checks.between("remaining", remaining, 0, actions.shape[1], "counts")
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "remaining", remaining)


@dataclass(frozen=True, eq=False)
class Plans:
    """N plans of H actions each, and what else is there to judge them by.

    Arrays are held as they are, not copied. Nobody should write into them afterwards: they are checked here, once.

    Args:
        actions: integers [N, H] (0 is the first action), or floats [N, H, D] of continuous control.
        probabilities: [N, H] of each action of the plan after those before it; or [N, H, A] of every action, from which
            the plan's own are taken and entropies computed.
        samples: [N, S, H] or [N, S, H, D]: S other plans from the same observation, sampled from the policy or from
            several ones.
        previous: what is left of the last plans; ``plans.tail(depths)`` makes it.
        features: floats [N, ...] that a learned rule reads.
        entropies: [N, H] in nats, of each action after those before it, where they are at hand already.
        events: booleans [N, H]: something happens at this action, such as a push or a grip.
        verified: booleans [N, H]: the policy, asked again with the plan's own actions up to here, decides the same.
        keys: integers [N, ...] that are equal where two observations are, such as their bytes: what a memory compares.
    """

    actions: NDArray[Any]
    probabilities: NDArray[np.floating] | None = None
    samples: NDArray[Any] | None = None
    previous: Tail | None = None
    features: NDArray[np.floating] | None = None
    entropies: NDArray[np.floating] | None = field(default=None, kw_only=True)
    events: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    verified: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    keys: NDArray[np.integer] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._check_actions()
        for each in fields(self):
            if each.name not in ("actions", "previous") and getattr(self, each.name) is not None:
                object.__setattr__(self, each.name, getattr(self, f"_check_{each.name}")(getattr(self, each.name)))
        if self.previous is not None:
            self._check_previous(self.previous)

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def horizon(self) -> int:
        """H: actions per plan."""
        return int(self.actions.shape[1])

    @property
    def continuous(self) -> bool:
        """Are actions vectors of floats?"""
        return self.actions.ndim == 3

    def tail(self, depths: NDArray[np.integer]) -> Tail:
        """What is left of these plans when the first ``depths`` [N] actions are executed: ``previous`` of the next
        decision.
        """
        depths = checks.array("depths", depths, "iu")
        checks.shape("depths", depths, (len(self),))
        checks.between("depths", depths, 0, self.horizon, "counts")
        begin = depths.astype(np.int64)
        places = np.minimum(np.arange(self.horizon) + begin[:, None], self.horizon - 1)
        return Tail(self.actions[np.arange(len(self))[:, None], places], self.horizon - begin)

    def _check_actions(self) -> None:
        actions = checks.array("actions", self.actions, "iuf")
        checks.shape("actions", actions, *_layouts(actions, "N", "H"))
        if not actions.shape[1]:
            raise ValueError(f"actions: expected at least 1 action per plan, got {actions.shape[1]}")
        if actions.ndim == 3:
            checks.finite("actions", actions)
        object.__setattr__(self, "actions", actions)

    def _check_probabilities(self, value: Any) -> NDArray[Any]:
        probabilities = checks.array("probabilities", value, "f")
        each = (len(self), self.horizon)
        checks.shape("probabilities", probabilities, each, *([] if self.continuous else [(*each, "A")]))
        checks.between("probabilities", probabilities, 0, 1)
        if probabilities.ndim == 3:
            checks.sums("probabilities", probabilities, SLACK)
            columns = f"actions (probabilities has {probabilities.shape[2]} columns)"
            checks.between("actions", self.actions, 0, probabilities.shape[2] - 1, columns)
        return probabilities

    def _check_samples(self, value: Any) -> NDArray[Any]:
        samples = checks.array("samples", value, "f" if self.continuous else "iu")
        checks.shape("samples", samples, (len(self), "S", *self.actions.shape[1:]))
        if not samples.shape[1]:
            raise ValueError(f"samples: expected at least 1 per plan, got {samples.shape[1]}")
        if self.continuous:
            checks.finite("samples", samples)
        return samples

    def _check_features(self, value: Any) -> NDArray[Any]:
        features = checks.array("features", value, "f")
        checks.shape("features", features, (len(self), "..."))
        checks.finite("features", features)
        return features

    def _check_entropies(self, value: Any) -> NDArray[Any]:
        entropies = checks.array("entropies", value, "f")
        checks.shape("entropies", entropies, (len(self), self.horizon))
        checks.finite("entropies", entropies)
        return entropies

    def _check_events(self, value: Any) -> NDArray[Any]:
        return self._flags("events", value)

    def _check_verified(self, value: Any) -> NDArray[Any]:
        return self._flags("verified", value)

    def _check_keys(self, value: Any) -> NDArray[Any]:
        keys = checks.array("keys", value, "iu")
        checks.shape("keys", keys, (len(self), "..."))
        return keys

    def _flags(self, name: str, value: Any) -> NDArray[Any]:
        flags = checks.array(name, value, "b")
        checks.shape(name, flags, (len(self), self.horizon))
        return flags

    def _check_previous(self, tail: Tail) -> None:
        if not isinstance(tail, Tail):
            raise TypeError(f"previous: expected a Tail, as plans.tail(depths) makes one, got {type(tail).__name__}")
        checks.shape("previous.actions", tail.actions, (len(self), "T", *self.actions.shape[2:]))
        if self.continuous:
            checks.finite("previous.actions", tail.actions)


def _layouts(actions: NDArray[Any], *outer: str) -> list[tuple[str, ...]]:
    """Shapes of plans: a number or a vector per action."""
    return [(*outer, "D")] if actions.dtype.kind == "f" else [outer]
