"""Branches: the outcome of each depth from the current moment of an episode.

``save`` and ``load`` go back to a moment, ``commit`` executes actions open loop, ``follow`` plays on under a rule.
``branch`` puts them together: for every depth h, h actions of the plan, and then the base rule to the end. Where the
environment is deterministic, ``success - price * queries`` of a branch is the exact value Q(s, h) of one deviation from
the base rule, and to take the best depth in every state is never worse than the base rule, if the depths that the base
rule takes are among those compared.

Where it is not, a *future* is a number: future 0 is what the episode itself will meet, the others are drawn again, and
all depths meet the same. The best depth in future 0 is clairvoyant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.horizon import Tail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.horizon import Plans, Rule

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    #: The policy: an observation -> ``Plans`` of one row.
    Planner = Callable[[Any], Plans]

MOST_STEPS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Executed:
    """Outcome of one commitment."""

    observation: Any
    reward: float
    success: bool
    terminated: bool
    truncated: bool
    #: Actions that ran before the episode ended, without those of the latency.
    executed: int


@dataclass(frozen=True)
class Ending:
    """Outcome of the rest of an episode."""

    success: bool
    reward: float
    queries: int
    #: Actions of plans; ticks also count those of a latency.
    actions: int
    ticks: int


@dataclass(frozen=True, eq=False)
class Branches:
    """[futures, depths] outcomes of each depth, from here to the end; this query counts too."""

    depths: tuple[int, ...]
    futures: tuple[int, ...]
    success: Bools
    reward: Floats
    queries: Counts
    actions: Counts
    ticks: Counts
    #: Actions that ran of the first commitment.
    executed: Counts
    #: Whether the environment ever reported success or failure.
    says_success: bool = field(default=True, kw_only=True)

    def values(self, price: float = 0.0) -> Floats:
        """[depths] success less the price of the queries, the mean of the futures."""
        if not self.says_success:  # all episodes would count as failed
            raise ValueError(
                "branches: expected an environment whose info has success or is_success, got one that has neither; "
                "compare rewards: branches.depths[branches.reward.mean(axis=0).argmax()]"
            )
        result: Floats = (self.success - price * self.queries).mean(axis=0)
        return result

    def best(self, price: float = 0.0) -> int:
        """The depth of the highest value, the deepest of equals."""
        values = self.values(price)
        return max(depth for depth, value in zip(self.depths, values, strict=True) if value >= values.max() - 1e-12)


class Branching(ABC):
    """An episode that can be gone back into."""

    def __init__(self, max_steps: int, budget: int | None) -> None:
        self.max_steps = checks.integer("max_steps", max_steps, 1, MOST_STEPS)
        self.budget = None if budget is None else checks.integer("budget", budget, 1, MOST_STEPS)
        #: The last observation, and the clocks: ticks, queries, and actions of plans.
        self.observation: Any = None
        self.t = self.k = self.actions = 0
        self.over = True
        self.success = self.says_success = False

    @abstractmethod
    def save(self) -> Any:
        """This moment, to which ``load`` comes back however often."""

    @abstractmethod
    def load(self, snapshot: Any, future: int = 0) -> None:
        """Back to a moment of this environment, bit for bit; with another ``future``, chance is drawn anew."""

    @abstractmethod
    def commit(self, actions: Any) -> Executed:
        """One query and its actions, open loop, until the episode ends."""

    def follow(self, planner: Planner, rule: Rule, previous: Tail | None = None) -> Ending:
        """Play to the end: plan, and commit to the depth of the rule. ``previous`` is the rest of the last plan, for
        rules that compare plans."""
        reward, begin = 0.0, self._clocks
        while not self.over:
            plans = self.planned(planner, previous)
            depth = int(rule.choose(plans)[0])
            reward += self.commit(plans.actions[0, :depth]).reward
            previous = plans.tail(np.array([depth]))
        return Ending(self.success, reward, *(self._clocks - begin).tolist())

    @property
    def _clocks(self) -> Counts:
        return np.array([self.k, self.actions, self.t])

    def planned(self, planner: Planner, previous: Tail | None = None) -> Plans:
        """The plan for what is observed now, with the rest of the last one."""
        plans = planner(self.observation)
        if len(plans) != 1:
            raise ValueError(f"planner: expected plans for one observation, got {len(plans)}")
        if plans.previous is not None:
            return plans
        return replace(plans, previous=previous or Tail(plans.actions, np.zeros(1, np.int64)))

    def branch(
        self,
        planner: Planner,
        depths: Sequence[int],
        base: Rule,
        futures: Sequence[int] = (0,),
        plans: Plans | None = None,
    ) -> Branches:
        """The outcome of each of ``depths`` here, followed by ``base``. The episode is left as it is.

        Args:
            planner: The policy.
            depths: How many actions of the plan are executed first.
            base: The rule behind that; it reads plans and has no memory of its own.
            futures: Numbers of futures; 0 is the one that the episode will meet.
            plans: The plan for what is observed now, if it was made already.
        """
        if self.over:
            raise ValueError("branch: expected a running episode, got one that is over; call reset first")
        plans = self.planned(planner) if plans is None else plans
        wanted = tuple(checks.integer("depths", each, 1, plans.horizon) for each in depths)
        numbers = tuple(checks.integer("futures", each, 0, MOST_STEPS) for each in futures)
        here, ends = self.save(), []
        try:
            for future in numbers:
                for depth in wanted:
                    self.load(here, future)
                    ends.append(self._deviated(planner, plans, depth, base))
        finally:
            self.load(here)
        columns = [np.array(each).reshape(len(numbers), len(wanted)) for each in zip(*ends, strict=True)]
        return Branches(wanted, numbers, *columns, says_success=self.says_success)

    def _deviated(self, planner: Planner, plans: Plans, depth: int, base: Rule) -> tuple[Any, ...]:
        begin = self._clocks
        first = self.commit(plans.actions[0, :depth])
        rest = self.follow(planner, base, plans.tail(np.array([depth])))
        clocks = (self._clocks - begin).tolist()
        return self.success, first.reward + rest.reward, *clocks, first.executed
