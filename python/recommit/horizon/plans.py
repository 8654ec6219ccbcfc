"""Outputs of a policy at one observation, for a batch of environments, as inputs of rules."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Distributions in half precision add up to 1 within this.
SLACK = 4e-3
#: Axis of places, where it is not the second one; 0: none.
_PLACES = {"samples": 2, "features": 0, "keys": 0}


@dataclass(frozen=True, eq=False)
class Tail:
    """Rest of the last plans beyond the actions that were executed.

    ``actions`` [N, H] or [N, H, D] begin with the action that would come next; places from ``remaining`` [N] on are not
    read. 0 remain where there was no last plan. ``decisions`` [N] counts the plans before, where it is known.
    """

    actions: NDArray[Any]
    remaining: NDArray[np.integer]
    decisions: NDArray[np.integer] | None = None

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
    """N plans of H actions each, with optional further outputs of the policy.

    Arrays are not copied. They must not be written into afterwards, since they are checked only once, here.

    Args:
        actions: integers [N, H] (0 is the first action), or floats [N, H, D] of continuous control.
        probabilities: [N, H] of each action of the plan after those before it; or [N, H, A] of every action, from which
            the plan's own are taken and entropies computed.
        samples: [N, S, H] or [N, S, H, D]: S other plans from the same observation, sampled from the policy or from
            several ones.
        previous: the rest of the last plans; ``plans.tail(depths)`` makes it.
        features: floats [N, ...] that a learned rule reads.
        entropies: [N, H] in nats, of each action after those before it, if they are known.
        events: booleans [N, H]: something happens at this action, such as a push or a grip.
        keys: integers [N, ...] that are equal where two observations are, such as their bytes; a memory compares them.
    """

    actions: NDArray[Any]
    probabilities: NDArray[np.floating] | None = None
    samples: NDArray[Any] | None = None
    previous: Tail | None = None
    features: NDArray[np.floating] | None = None
    entropies: NDArray[np.floating] | None = field(default=None, kw_only=True)
    events: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    keys: NDArray[np.integer] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        actions = checks.array("actions", self.actions, "iuf")
        checks.shape("actions", actions, *_layouts(actions, "N", "H"))
        if not actions.shape[1]:
            raise ValueError(f"actions: expected at least 1 action per plan, got {actions.shape[1]}")
        object.__setattr__(self, "actions", actions)
        number, each = "f" if self.continuous else "iu", (len(self), self.horizon)
        self._check("actions", number, actions.shape)
        self._check("probabilities", "f", each, *([] if self.continuous else [(*each, "A")]))
        self._check("samples", number, (len(self), "S", *actions.shape[1:]))
        self._check("features", "f", (len(self), "..."))
        self._check("entropies", "f", each)
        self._check("events", "b", each)
        self._check("keys", "iu", (len(self), "..."))
        if self.probabilities is not None:
            self._check_probabilities(self.probabilities)
        if self.samples is not None and not self.samples.shape[1]:
            raise ValueError(f"samples: expected at least 1 per plan, got {self.samples.shape[1]}")
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
        """True if actions are vectors of floats."""
        return self.actions.ndim == 3

    def tail(self, depths: NDArray[np.integer]) -> Tail:
        """Rest of these plans after their first ``depths`` [N] actions: ``previous`` of the next decision."""
        depths = checks.array("depths", depths, "iu")
        checks.shape("depths", depths, (len(self),))
        checks.between("depths", depths, 0, self.horizon, "counts")
        begin = depths.astype(np.int64)
        places = np.minimum(np.arange(self.horizon) + begin[:, None], self.horizon - 1)
        return Tail(self.actions[np.arange(len(self))[:, None], places], self.horizon - begin)

    def part(self, rows: NDArray[np.integer], places: slice = slice(None), *, previous: Tail | None = None) -> Plans:
        """Some of the plans, cut to these places, with ``previous`` as their tail."""
        cut: dict[str, Any] = {"previous": previous}
        for name in ("actions", "probabilities", "samples", "features", "entropies", "events", "keys"):
            if (values := getattr(self, name)) is not None:
                chosen, axis = values[rows], _PLACES.get(name, 1)
                cut[name] = chosen[(slice(None),) * axis + (places,)] if axis else chosen
        return replace(self, **cut)

    def _check(self, name: str, kinds: str, *shapes: Sequence[int | str]) -> None:
        """Check an array, unless it is None: it has one of these shapes, and its floats are finite."""
        if getattr(self, name) is None:
            return
        values = checks.array(name, getattr(self, name), kinds)
        checks.shape(name, values, *shapes)
        if kinds == "f" and name != "probabilities":
            checks.finite(name, values)
        object.__setattr__(self, name, values)

    def _check_probabilities(self, probabilities: NDArray[Any]) -> None:
        checks.between("probabilities", probabilities, 0, 1)
        if probabilities.ndim == 3:
            checks.sums("probabilities", probabilities, SLACK)
            columns = f"actions (probabilities has {probabilities.shape[2]} columns)"
            checks.between("actions", self.actions, 0, probabilities.shape[2] - 1, columns)

    def _check_previous(self, tail: Tail) -> None:
        if not isinstance(tail, Tail):
            raise TypeError(f"previous: expected a Tail, as plans.tail(depths) makes one, got {type(tail).__name__}")
        checks.shape("previous.actions", tail.actions, (len(self), "T", *self.actions.shape[2:]))
        if self.continuous:
            checks.finite("previous.actions", tail.actions)


def joined(parts: Sequence[Plans]) -> Plans:
    """Concatenate batches; raises unless all of them have the same fields."""
    values: dict[str, Any] = {}
    for each in fields(Plans):
        column = [getattr(part, each.name) for part in parts]
        there = [value for value in column if value is not None]
        if there and len(there) < len(column):
            raise ValueError(f"parts: expected {each.name} in all {len(column)} batches or in none, got {len(there)}")
        if there and each.name == "previous":
            known = [name for name in ("actions", "remaining", "decisions") if getattr(there[0], name) is not None]
            values[each.name] = Tail(*(np.concatenate([getattr(tail, name) for tail in there]) for name in known))
        elif there:
            values[each.name] = np.concatenate(there)
    return Plans(**values)


def _layouts(actions: NDArray[Any], *outer: str) -> list[tuple[str, ...]]:
    """Allowed shapes of plans: a number per action, or a vector if they are floats."""
    return [(*outer, "D")] if actions.dtype.kind == "f" else [outer]
