"""Base classes of rules: a depth for each plan, from all of 1..H or from a list; and another depth on a return to an
observation (``WithMemory``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from recommit import checks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from recommit.horizon.plans import Plans

    Floats = NDArray[np.float64]
    Depths = NDArray[np.int32]
    Flags = NDArray[np.bool_]

T = TypeVar("T")


@dataclass(frozen=True)
class Rule(ABC):
    """Base class: chooses the number of actions of each plan to commit to before the next observation.

    A custom rule defines ``propose``. ``depths`` restricts it to a list such as (1, 2, 4, 8): a proposed depth is
    rounded down to the largest of them, or becomes the least where all are larger. ``reads`` names optional inputs of
    plans that it needs and that must be supplied: "previous", "samples".
    """

    reads: ClassVar[tuple[str, ...]] = ()
    #: Numeric fields of a class -> their least values; an int stands for a field of whole numbers.
    _numbers: ClassVar[dict[str, float]] = {}
    depths: tuple[int, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for kind in type(self).__mro__:
            for name, low in vars(kind).get("_numbers", {}).items():
                check: Any = checks.integer if isinstance(low, int) else checks.number
                object.__setattr__(self, name, check(name, getattr(self, name), low))
        if self.depths is not None:
            depths = tuple(checks.integer("depths", each, 1) for each in self.depths)
            if not depths or list(depths) != sorted(set(depths)):
                raise ValueError(f"depths: expected at least one, ascending, got {self.depths}")
            object.__setattr__(self, "depths", depths)

    @abstractmethod
    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """A depth in 1..H for each plan, whatever ``depths`` allows."""

    def revise(self, plans: Plans) -> Plans:
        """Plans to execute in the place of these; the same plans, unless the rule combines several."""
        return plans

    def choose(self, plans: Plans) -> Depths:
        """[N] the depth of each plan, among those allowed."""
        proposed = checks.array("propose", self.propose(plans), "iu")
        checks.shape("propose", proposed, (len(plans),))
        checks.between("propose", proposed, 1, plans.horizon, "depths")
        return self.rounded(proposed, plans.horizon)

    def order(self, plans: Plans) -> Depths:
        """[N, allowed depths] depths to take at the first, second, ... visit to an observation; see ``WithMemory``.

        The chosen one, then the shallower ones from the deepest, then the deeper ones from the shallowest: a plan that
        led back is trusted less before it is trusted more.
        """
        allowed = self.allowed(plans.horizon)
        count = len(allowed)
        orders = np.array([[*range(i, -1, -1), *range(i + 1, count)] for i in range(count)])
        return allowed[orders[np.searchsorted(allowed, self.choose(plans))]]

    def allowed(self, horizon: int) -> Depths:
        """The depths to choose from in plans of ``horizon`` actions, ascending."""
        every = np.arange(1, horizon + 1, dtype=np.int32)
        if self.depths is None:
            return every
        result = every[np.isin(every, self.depths)]
        if not len(result):
            raise ValueError(f"depths: expected one of 1..{horizon}, the actions of a plan, got {self.depths}")
        return result

    def rounded(self, depths: NDArray[np.integer], horizon: int) -> Depths:
        """The deepest of the allowed depths below each of ``depths``."""
        allowed = self.allowed(horizon)
        if self.depths is None:
            return depths.astype(np.int32, copy=False)
        below = np.searchsorted(allowed, np.arange(horizon + 1), side="right") - 1
        return allowed[np.maximum(below, 0)][depths]


@dataclass(frozen=True)
class ThresholdRule(Rule):
    """A rule with a threshold: the longest prefix whose score still passes ``threshold``, and at least one action."""

    _numbers: ClassVar[dict[str, float]] = {"threshold": -np.inf}
    threshold: float

    @abstractmethod
    def by_place(self, plans: Plans) -> Floats:
        """[H, N] the score of each prefix, from the shortest; it never gets better as a prefix grows."""

    def passes(self, scores: Floats, threshold: float) -> Flags:
        """True where a score passes: at least the threshold, unless a rule overrides this."""
        return scores >= threshold

    def scores(self, plans: Plans) -> Floats:
        """[N, H] the score of each prefix, which is the same for every threshold."""
        return self.by_place(plans).T

    def propose(self, plans: Plans) -> NDArray[np.integer]:
        """The longest prefix that passes."""
        return self._longest(self.by_place(plans), self.threshold)

    def sweep(self, plans: Plans, thresholds: ArrayLike) -> Depths:
        """[T, N] depths that ``choose`` gives with each of the ``thresholds``, instead of the rule's own."""
        scores, values = self.by_place(plans), np.asarray(thresholds, np.float64)
        checks.shape("thresholds", values, ("T",))
        rows = [self.rounded(self._longest(scores, checks.number("thresholds", each)), len(scores)) for each in values]
        return np.stack(rows) if rows else np.zeros((0, len(plans)), np.int32)

    def thresholds(self, plans: Plans, count: int) -> Floats:
        """``count`` ascending quantiles of the rule's scores on these plans, as thresholds of a curve.

        They are scores that occur, of the prefixes that the rule may choose beyond its least.
        """
        checks.integer("count", count, 1)
        allowed = self.allowed(plans.horizon)
        scores = self.by_place(plans)[(allowed if len(allowed) == 1 else allowed[1:]) - 1]
        values = scores[np.isfinite(scores)]
        if not len(values):
            raise ValueError(f"plans: expected at least one with a finite score, got {len(plans)} with none")
        return quantiles(values, count)

    def _longest(self, scores: Floats, threshold: float) -> NDArray[np.integer]:
        return 1 + _count(self.passes(scores[1:], threshold))


@dataclass(frozen=True)
class WithMemory:
    """``rule``, but where an episode returns to an observation it takes the next depth of ``rule.order``.

    A rule that sees the present plan alone loops forever once it returns: the same plan, the same depth. This one takes
    the second depth of the order at the second visit, the third at the third, and so on, cyclically. It needs
    ``Plans.keys``, costs no observation, and belongs to one batch of episodes: ``reset`` begins the next.

    It is ours: the agent with a memory of our evaluations, whose order is that of the depth head's probabilities.
    """

    rule: Rule
    #: Visits of each episode to each observation.
    _visits: dict[int, dict[bytes, int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def choose(self, plans: Plans, episodes: NDArray[np.integer] | None = None) -> Depths:
        """[N] the depth of each plan; ``episodes`` [N] are the numbers of their episodes. Without them, these are 0,
        1, ..., and every episode of the batch must have its row at every decision."""
        why = (
            "keys [N, ...], equal where two observations are, because it asks whether an episode has been there before"
        )
        keys = [key.tobytes() for key in need("WithMemory", why, plans.keys)]
        if episodes is None and (most := max(self._visits, default=0)) >= len(plans):
            raise ValueError(f"episodes: expected their numbers, since there were {most + 1} plans, got {len(plans)}")
        numbers = checks.array("episodes", np.arange(len(plans)) if episodes is None else episodes, "iu")
        checks.shape("episodes", numbers, (len(plans),))
        order, before = self.rule.order(plans), []
        for episode, key in zip(numbers.tolist(), keys, strict=True):
            seen = self._visits.setdefault(episode, {})
            before.append(seen.get(key, 0))
            seen[key] = before[-1] + 1
        return order[np.arange(len(plans)), np.array(before, np.int64) % order.shape[1]]

    def reset(self, episodes: NDArray[np.integer] | None = None) -> None:
        """Forget all visits, or those of these episodes only, which begin anew."""
        for episode in [*self._visits] if episodes is None else checks.array("episodes", episodes, "iu").tolist():
            self._visits.pop(episode, None)


def running(combine: np.ufunc, rows: NDArray[Any]) -> None:
    """Accumulate over rows in place; row by row this is many times as fast as ``combine.accumulate``."""
    for i in range(1, len(rows)):
        combine(rows[i], rows[i - 1], out=rows[i])


def leading(flags: Flags) -> NDArray[np.integer]:
    """[N] number of ``flags`` [H, N] that are True before the first False."""
    rows = np.array(flags, order="C")
    running(np.logical_and, rows)
    return _count(rows)


def _count(flags: Flags) -> NDArray[np.integer]:
    """[N] number of True ``flags`` [H, N]."""
    return flags.view(np.uint8).sum(axis=0, dtype=np.int32)


def quantiles(values: NDArray[Any], count: int) -> Floats:
    """``count`` evenly spaced quantiles among the values, from the least to the largest; the median for one."""
    levels = np.linspace(0.0, 1.0, count) if count > 1 else np.array([0.5])
    return np.quantile(values, levels, method="inverted_cdf")


def need(rule: str, what: str, value: T | None) -> T:
    """Return ``value``; raises ``ValueError`` if it is None. ``what`` names the input that ``rule`` needs, and why."""
    if value is None:
        raise ValueError(f"{rule} needs Plans.{what}")
    return value


def same(one: NDArray[Any], other: NDArray[Any], tolerance: float) -> NDArray[np.bool_]:
    """True where actions are the same; vectors, if no coordinate differs by more than ``tolerance``."""
    if one.dtype.kind != "f":
        return one == other
    return (np.abs(one - other) <= tolerance).all(axis=-1)
