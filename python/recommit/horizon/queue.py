"""Queue that executes the plans of a batch of environments, to the depths that a rule chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.horizon.plans import Tail, joined
from recommit.horizon.rule import WithMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from recommit.horizon.plans import Plans
    from recommit.horizon.rule import Depths, Rule

    Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Decision:
    """One decision: the numbers of actions and decisions before it in its episode, and the chosen depth."""

    environment: int
    #: The episode of this environment, counted by its resets.
    episode: int
    t: int
    k: int
    h: int


class Queue:
    """One queue of actions per environment: a new plan only where nothing is left of the last one.

    ``act(planner)`` gives the next action of every environment. Where a queue is empty it calls ``planner(rows)``
    first, with the environments that need a plan, in ascending order; the rule decides how much of each to queue. The
    executed actions are thus prefixes of the plans, one after the other: none is skipped, and none runs twice.

    A rule that compares plans gets the rest of each environment's last one as ``previous``, unless the policy supplies
    it. ``decisions`` is the log; ``t`` and ``k`` count the actions and decisions of the running episodes.

    Args:
        rule: chooses how many actions of each plan to queue; or ``WithMemory`` of one.
        count: environments in the batch.
        record: whether ``decisions`` grows; False for runs without an end.
        keep: whether ``plans`` grows, for the thresholds of a rule.
    """

    def __init__(self, rule: Rule | WithMemory, count: int = 1, *, record: bool = True, keep: bool = False) -> None:
        self.rule = rule
        self.count = checks.integer("count", count, 1)
        self.decisions: list[Decision] = []
        self._record, self._keep = record, keep
        self._kept: list[Plans] = []
        self._plans: NDArray[Any] | None = None  # [count, H, ...] the last plan of each environment
        self._depth = np.zeros(self.count, np.int64)  # actions of it that were queued: 0 without a plan
        self._place = np.zeros(self.count, np.int64)  # ... and those that were taken
        self._episode = np.zeros(self.count, np.int64)
        self.t = np.zeros(self.count, np.int64)
        self.k = np.zeros(self.count, np.int64)

    @property
    def remaining(self) -> NDArray[np.int64]:
        """[count] queued actions of each environment."""
        return self._depth - self._place

    @property
    def plans(self) -> Plans:
        """All plans so far, a row per decision, as for ``rule.thresholds(queue.plans, count)``; needs ``keep``."""
        if not self._kept:
            raise ValueError("keep: expected a queue with keep=True that was filled, got one without plans")
        return joined(self._kept)

    def empty(self, rows: ArrayLike | None = None) -> Rows:
        """The environments, of ``rows`` or of all, that need a plan before their next action."""
        environments = self._rows(rows)
        return environments[self.remaining[environments] == 0]

    def act(self, planner: Callable[[Rows], Plans], rows: ArrayLike | None = None) -> NDArray[Any]:
        """The next action of each environment, [count] or [count, D]; or of those in ``rows`` only."""
        environments = self._rows(rows)
        empty = self.empty(environments)
        if len(empty):
            self.fill(planner(empty), empty)
        return self.pop(environments)

    def fill(self, plans: Plans, rows: ArrayLike | None = None, *, stale: int = 0) -> Depths:
        """Queue the beginning of each plan; returns the depths. Row i of ``plans`` is for environment ``rows[i]``.

        ``stale``: number of actions taken since the observation of these plans, as measured. As many of their first
        actions are dropped, together with the actions that are still queued; the rule sees the rest.
        """
        where = self._rows(rows)
        self._check(plans, where, stale)
        if self._plans is None:
            self._plans = np.zeros((self.count, *plans.actions.shape[1:]), plans.actions.dtype)
        if plans.previous is None:
            plans = replace(plans, previous=self._tails(where, self._plans))
        ahead = plans.part(np.arange(len(plans)), slice(stale, None), previous=plans.previous) if stale else plans
        if isinstance(self.rule, WithMemory):
            depths = self.rule.choose(ahead, where)
        else:
            ahead = self.rule.revise(ahead)
            depths = self.rule.choose(ahead)
        self._plans[where, stale:] = ahead.actions
        self._depth[where], self._place[where] = stale + depths, stale
        if self._record:
            self._log(where, depths)
        if self._keep:
            self._kept.append(plans)
        self.k[where] += 1
        return depths

    def pop(self, rows: ArrayLike | None = None) -> NDArray[Any]:
        """Take the next queued action of each environment."""
        environments = self._rows(rows)
        dry = self.empty(environments)
        if len(dry):
            raise ValueError(f"rows: expected environments with actions in their queues, got {dry[0]} with none")
        if self._plans is None:  # no environment had a plan yet
            return np.zeros(0, np.intp)
        actions: NDArray[Any] = self._plans[environments, self._place[environments]]
        self._place[environments] += 1
        self.t[environments] += 1
        return actions

    def reset(self, rows: ArrayLike | None = None) -> None:
        """Begin new episodes: drop queued actions and the last plan. All environments, or ``rows`` only."""
        environments = self._rows(rows)
        for counts in (self._depth, self._place, self.t, self.k):
            counts[environments] = 0
        self._episode[environments] += 1
        if isinstance(self.rule, WithMemory):
            self.rule.reset(environments)

    def _tails(self, rows: Rows, last: NDArray[Any]) -> Tail:
        """Rest of the ``last`` plans beyond the actions taken; empty where there was no plan."""
        horizon, begin = last.shape[1], self._place[rows]
        places = np.minimum(np.arange(horizon) + begin[:, None], horizon - 1)
        return Tail(last[rows[:, None], places], np.where(begin > 0, horizon - begin, 0), self.k[rows])

    def _log(self, rows: Rows, depths: Depths) -> None:
        columns = (rows, self._episode[rows], self.t[rows], self.k[rows], depths)
        self.decisions += [Decision(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]

    def _check(self, plans: Plans, rows: Rows, stale: int) -> None:
        if len(plans) != len(rows):
            raise ValueError(f"plans: expected {len(rows)}, one per environment without actions, got {len(plans)}")
        checks.integer("stale", stale, 0, plans.horizon - 1)
        full = rows[self.remaining[rows] > 0]
        if len(full) and not stale:
            raise ValueError(f"rows: expected empty queues, got {self.remaining[full[0]]} actions in that of {full[0]}")
        if self._plans is None:
            return
        if plans.actions.shape[1:] != self._plans.shape[1:]:
            expected, got = self._plans.shape[1:], plans.actions.shape[1:]
            raise ValueError(f"plans.actions: expected {expected} of each plan, as at first, got {got}")
        if plans.actions.dtype != self._plans.dtype:
            raise TypeError(f"plans.actions: expected {self._plans.dtype}, got {plans.actions.dtype}")

    def _rows(self, rows: ArrayLike | None) -> Rows:
        if rows is None:
            return np.arange(self.count)
        result = checks.array("rows", rows if np.size(rows) else np.zeros(0, np.intp), "iu").astype(np.intp)
        checks.shape("rows", result, ("N",))
        checks.between("rows", result, 0, self.count - 1, "environments")
        if len(np.unique(result)) != len(result):
            raise ValueError(f"rows: expected each environment once, got {result.tolist()}")
        return result
