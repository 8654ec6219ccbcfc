"""Training a head on a graph: so many updates or CPU seconds, checks on starts that were held out, the best one stays.

Every method of ``METHODS`` in ``recommit.train.head`` has the same number of short tries, which differ in a value or
two; all begin from the same seed. What counts is the processor time of the updates alone: what all share, reading
states and checks on held-out starts, is not counted. The updates are the same whatever the clock says, so that a fit of
as many updates is the same fit, to the bit.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.train.heads.fitted import FittedHead, progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from recommit.train.heads.network import HeadLearner
    from recommit.train.heads.problem import HeadProblem

#: Checks on the held-out starts, evenly over a fit.
CHECKS = 8
#: Thresholds that are compared.
LEVELS = 50


@dataclass(frozen=True)
class Method:
    """A way to train a head: its values, what makes it learn, and what each of its tries changes."""

    name: str
    config: Any
    learner: Callable[[HeadProblem, Any, int], HeadLearner]
    tries: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Extent:
    """How long a fit goes on: so many updates, or as many as fit into CPU seconds; 0 for no end by it."""

    updates: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.updates < 0 or self.seconds < 0 or not (self.updates or self.seconds):
            raise ValueError(
                f"updates, cpu_seconds: expected one of them above 0, got {self.updates} and {self.seconds}"
            )

    def share(self, updates: int, seconds: float) -> float:
        """Which part of the fit is over."""
        parts = [updates / self.updates] if self.updates else []
        return max([*parts, *([seconds / self.seconds] if self.seconds else [])])


Checked = TypeVar("Checked")


def best_check(
    make: Callable[[], Any],
    extent: Extent,
    check: Callable[[Any], tuple[float, Checked]],
    tell: Callable[[str], None] = lambda _line: None,
) -> tuple[Checked, dict[str, Any]]:
    """Train what ``make`` gives by its ``update(number)``; what the best check brought beside its value, and the
    record."""
    begun = time.process_time()
    learner = make()
    seconds = time.process_time() - begun  # what a method does before its first update counts
    best: tuple[float, int, Checked] | None = None
    curve, done, checked = [], 0, 0.0
    while not done or extent.share(done, seconds) < 1.0:
        begun = time.process_time()
        learner.update(done)
        seconds += time.process_time() - begun
        done += 1
        share = extent.share(done, seconds)
        if share < checked + 1.0 / CHECKS and share < 1.0:
            continue
        checked = share
        value, brought = check(learner)
        curve.append({"updates": done, "seconds": round(seconds, 3), "value": value})
        tell(f"update {done}, value {100 * value:.2f}")
        if best is None or value > best[0]:
            best = value, done, brought
    assert best is not None  # after the last update there was a check
    return best[2], {"value": best[0], "updates": best[1], "curve": curve, "seconds": round(seconds, 3)}


def fit(
    problem: HeadProblem,
    held: HeadProblem,
    method: Method,
    seed: int,
    extent: Extent,
    changes: dict[str, Any] | None = None,
) -> FittedHead:
    """One try of a method: the best of its checks on the ``held`` starts."""
    config = replace(method.config, **(changes or {}))

    def check(learner: HeadLearner) -> tuple[float, FittedHead]:
        norm, weights = (problem.mean, problem.deviation), learner.net.stored()
        head = FittedHead(method.name, learner.reading, problem.depths, problem.features, *norm, weights, None, {})
        threshold, value = _judged(head, held)
        return value, replace(head, threshold=threshold)

    head, record = best_check(lambda: method.learner(problem, config, seed), extent, check)
    about = {
        "budgets": list(problem.budgets),
        "price_action": problem.prices.action,
        "price_observation": problem.prices.observation,
        "starts": len(problem.starts),
    }
    return replace(head, record={**record, "seed": seed, "config": asdict(config), **about})


def best_of(
    problem: HeadProblem,
    held: HeadProblem,
    method: Method,
    seed: int,
    extent: Extent,
    tell: Callable[[str], None] = lambda _line: None,
) -> FittedHead:
    """A whole fit with the values of the method's best try on the held-out starts; what all came to is in its record.

    A try has a third of the extent, so that three cost as much as the fit.
    """
    tries, part = [], Extent(-(-extent.updates // 3), extent.seconds / 3)
    for changes in method.tries:
        record = fit(problem, held, method, seed, part, changes).record
        tries.append({"changes": changes, "value": record["value"], "updates": record["updates"]})
        tell(f"{method.name} {changes}: {100 * record['value']:.1f}")
    best = max(tries, key=lambda each: each["value"])
    head = fit(problem, held, method, seed, extent, best["changes"])
    return replace(head, record={**head.record, "tries": tries})


def _judged(head: FittedHead, held: HeadProblem) -> tuple[float | None, float]:
    """The threshold that suits the held-out starts, if the head has one, and its mean return there."""
    outputs = head.raw(held.inputs[held.rows])
    if head.reading != "progress":
        return None, float(np.mean(held.returns(head.columns(outputs))))
    scores = progress(head.raw(held.inputs[held.starts]), head.depths)[:, 1:]
    levels = np.unique(np.quantile(scores, np.linspace(0, 1, LEVELS), method="inverted_cdf"))
    values = [float(np.mean(held.returns(head.columns(outputs, float(level))))) for level in levels]
    return float(levels[int(np.argmax(values))]), max(values)
