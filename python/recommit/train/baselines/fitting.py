"""A method at work: so many updates or CPU seconds, now and then a look at starts that were held out, the best stays.

Every method has the same number of short tries, which differ in the values of ``TRIES``; all begin from the same seed.
What counts is the processor time of the updates alone: what is shared by all, looking at states and judging on held-out
starts, is not counted. The updates are the same whatever the clock says, so that a fit of as many updates is the same
fit, to the bit.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recommit import rng
from recommit.graph.episodes import play
from recommit.train.baselines.fitted import FittedHead, progress
from recommit.train.baselines.methods.exact import ExactConfig, ExactLearner
from recommit.train.baselines.methods.groups import GroupConfig, GroupLearner
from recommit.train.baselines.methods.hazard import HazardConfig, HazardLearner
from recommit.train.baselines.methods.ppo import PpoConfig, PpoLearner
from recommit.train.baselines.methods.prefix_q import QConfig, QLearner
from recommit.train.baselines.methods.verifier import VerifierConfig, VerifierLearner
from recommit.train.baselines.problem import HeadProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.train.baselines.network import Net

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]


class HeadLearner(Protocol):
    """A method in the middle of its work."""

    #: How its net's outputs become a depth; see ``FittedHead``.
    reading: str
    net: Net

    def update(self, number: int) -> None:
        """The update of this number, from 0 on."""


#: method -> its values, and what makes it learn.
METHODS: dict[str, tuple[Any, Callable[..., HeadLearner]]] = {
    "exact": (ExactConfig(), ExactLearner),
    "paper": (GroupConfig(kind="state", looks=5), GroupLearner),
    "episode": (GroupConfig(kind="episode"), GroupLearner),
    "branch": (GroupConfig(kind="branch", episodes=64), GroupLearner),
    "ppo": (PpoConfig(), PpoLearner),
    "q": (QConfig(), QLearner),
    "hazard": (HazardConfig(), HazardLearner),
    "verifier": (VerifierConfig(), VerifierLearner),
}
#: method -> what its tries change, three each.
TRIES: dict[str, tuple[dict[str, Any], ...]] = {
    "exact": ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 1e-2}),
    "paper": ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 1e-2}),
    "episode": ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 1e-2}),
    "branch": ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 1e-2}),
    "ppo": ({"lr": 3e-4}, {"lr": 1e-3}, {"lr": 3e-3}),
    "q": ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 3e-3, "gamma": 0.97}),
    "hazard": ({"lr": 3e-3}, {"lr": 1e-2}, {"lr": 1e-2, "deliberation": 0.01}),
    "verifier": ({"lr": 1e-3}, {"lr": 3e-3}, {"lr": 1e-2}),
}
#: Looks at the held-out starts, evenly over a fit.
CHECKS = 8
#: Thresholds that are compared.
LEVELS = 50


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


@dataclass(frozen=True)
class HeldOut:
    """Starts that no update sees, where a fit is judged."""

    problem: HeadProblem

    def value(self, choose: Callable[[Nodes], Nodes]) -> float:
        """The mean value of episodes, by a function from nodes to columns."""
        problem, values = self.problem, []
        for budget in problem.budgets:
            played = play(problem.edges, problem.starts, budget, lambda _turn, _episodes, nodes: choose(nodes))
            values.append(float(problem.prices.returns(*played.outcome()).mean()))
        return float(np.mean(values))


def divided(problem: HeadProblem, held: float, seed: int) -> tuple[HeadProblem, HeadProblem]:
    """The problem of most starts, and that of the others: whole groups, drawn by ``seed``, ``held`` of all; a state
    that stands among the starts several times is on one side."""
    _, first, same = np.unique(problem.starts, return_index=True, return_inverse=True)
    groups, names = np.unique(problem.graph.groups[first[same]], return_inverse=True)
    order = np.argsort(rng.draw(rng.streams(seed, rng.Purpose.SHUFFLE, np.arange(len(groups))), 0))
    away = np.isin(names, order[: max(1, round(held * len(groups)))])
    if away.all():
        raise ValueError(f"graph: expected starts in at least 2 groups, some to learn from, got {len(groups)}")
    return problem.over(starts=problem.starts[~away]), problem.over(starts=problem.starts[away])


def fit(
    problem: HeadProblem,
    held: HeadProblem,
    method: str,
    seed: int,
    extent: Extent,
    changes: dict[str, Any] | None = None,
) -> FittedHead:
    """One try of a method: the best of its checks on the ``held`` starts."""
    if method not in METHODS:
        raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {method}")
    base, make = METHODS[method]
    config = replace(base, **(changes or {}))
    watch = _Watch()
    with watch:
        learner = make(problem, config, seed)
    judge, best, curve = HeldOut(held), None, []
    done, checked = 0, 0.0
    while not done or extent.share(done, watch.seconds) < 1.0:  # what a method does before its first update counts
        with watch:
            learner.update(done)
        done += 1
        share = extent.share(done, watch.seconds)
        if share < checked + 1.0 / CHECKS and share < 1.0:
            continue
        checked = share
        head = _head(learner, problem, method)
        threshold, value = _judged(head, judge)
        curve.append({"updates": done, "seconds": round(watch.seconds, 3), "value": value})
        if best is None or value > best.record["value"]:
            best = replace(head, threshold=threshold, record={"value": value, "updates": done})
    assert best is not None  # after the last update there was a check
    record = {"seed": seed, "config": asdict(config), "curve": curve, "seconds": round(watch.seconds, 3)}
    return replace(best, record={**best.record, **record, **_task(problem)})


def best_of(
    problem: HeadProblem, held: HeadProblem, method: str, seed: int, extent: Extent, progress: Callable[[str], None]
) -> FittedHead:
    """A whole fit with the values of the method's best try on the held-out starts; what all came to is in its record.

    A try has a third of the extent, so that three cost as much as the fit.
    """
    tries, part = [], Extent(-(-extent.updates // 3), extent.seconds / 3)
    for changes in TRIES[method]:
        record = fit(problem, held, method, seed, part, changes).record
        tries.append({"changes": changes, "value": record["value"], "updates": record["updates"]})
        progress(f"{method} {changes}: {100 * record['value']:.1f}")
    best = max(tries, key=lambda each: each["value"])
    head = fit(problem, held, method, seed, extent, best["changes"])
    return replace(head, record={**head.record, "tries": tries})


class _Watch:
    """Processor time spent inside it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._begin = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._begin


@dataclass
class _Cache:
    """Outputs of a head at nodes, each computed once."""

    head: FittedHead
    problem: HeadProblem
    _row: Nodes = field(init=False)
    _outputs: NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        self._row = np.full(len(self.problem.graph), -1, np.int64)
        self._outputs = np.zeros((0, self.head.outputs), np.float32)

    def __call__(self, nodes: Nodes) -> NDArray[np.float32]:
        fresh = np.unique(nodes[self._row[nodes] < 0])
        if len(fresh):
            self._row[fresh] = len(self._outputs) + np.arange(len(fresh))
            self._outputs = np.concatenate([self._outputs, self.head.raw(self.problem.inputs[fresh])])
        return self._outputs[self._row[nodes]]


def _head(learner: HeadLearner, problem: HeadProblem, method: str) -> FittedHead:
    return FittedHead(
        method, learner.reading, problem.depths, problem.features, *problem.norm, learner.net.stored(), None, {}
    )


def _judged(head: FittedHead, judge: HeldOut) -> tuple[float | None, float]:
    """The threshold that suits the held-out starts, if the head has one, and what the head is worth there."""
    cache = _Cache(head, judge.problem)
    if head.reading != "progress":
        return None, judge.value(lambda nodes: head.columns(cache(nodes)))
    scores = progress(head.raw(judge.problem.inputs[judge.problem.starts]), head.depths)[:, 1:]
    levels = np.unique(np.quantile(scores, np.linspace(0, 1, LEVELS), method="inverted_cdf"))
    worth = [judge.value(partial(_stopping, head, cache, float(level))) for level in levels]
    return float(levels[int(np.argmax(worth))]), max(worth)


def _stopping(head: FittedHead, cache: _Cache, threshold: float, nodes: Nodes) -> Nodes:
    return head.columns(cache(nodes), threshold)


def _task(problem: HeadProblem) -> dict[str, Any]:
    return {
        "budgets": list(problem.budgets),
        "price_action": problem.prices.action,
        "price_observation": problem.prices.observation,
        "starts": len(problem.starts),
    }
