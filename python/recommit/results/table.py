"""The results table: a row per episode, and queries over it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.results import intervals
from recommit.results.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Key = TypeVar("Key")
#: What counts as no worse, in solved episodes, or as a share of a return's range: ``deepest_within``.
MARGIN = 0.05


@dataclass(frozen=True, eq=False)
class Results:
    """Long rows: agent, instance, group, seed, budget, solved, actions, observations, return.

    ``seed`` is that of training. Rows of the same agent, budget, seed and instance are repetitions, and averaged.
    """

    agent: NDArray[Any]
    budget: NDArray[Any]
    seed: NDArray[np.int64]
    instance: NDArray[np.int64]
    #: Instances that belong together, such as levels of one room.
    group: NDArray[np.int64]
    solved: Floats
    actions: Floats
    observations: Floats
    returns: Floats

    def __len__(self) -> int:
        return len(self.agent)

    @classmethod
    def joined(cls, parts: Iterable[Results]) -> Results:
        """Rows of several tables."""
        every = list(parts)
        return cls(*(np.concatenate([getattr(part, each.name) for part in every]) for each in fields(cls)))

    def where(self, agent: str, budget: str | int) -> Results:
        """Rows of one agent under one budget."""
        own = np.flatnonzero((self.agent == agent) & (self.budget == budget))
        return Results(*(getattr(self, each.name)[own] for each in fields(self)))

    def values(self, agent: str, budget: str | int, column: str) -> Floats:
        """[seeds, instances] means of a column; [instances] of one seed. Every seed has the same instances."""
        own = self.where(agent, budget)
        seeds, row = np.unique(own.seed, return_inverse=True)
        instances, place = np.unique(own.instance, return_inverse=True)
        cells, size = row * len(instances) + place, len(seeds) * len(instances)
        played = np.bincount(cells, minlength=size)
        if (played == 0).any():
            raise ValueError(f"{agent}: expected all {len(instances)} instances for every seed, got some of them")
        means: Floats = (np.bincount(cells, getattr(own, column), size) / played).reshape(len(seeds), -1)
        return means[0] if len(seeds) == 1 else means

    def groups(self, agent: str, budget: str | int) -> NDArray[np.int64]:
        """[instances] the group of each."""
        own = self.where(agent, budget)
        result: NDArray[np.int64] = own.group[np.unique(own.instance, return_index=True)[1]]
        return result

    def mean(self, agent: str, budget: str | int, column: str) -> Interval:
        """The mean of a column."""
        return intervals.mean(self.values(agent, budget, column), self.groups(agent, budget))

    def difference(self, agent: str, other: str, budget: str | int, column: str) -> Interval:
        """Mean of an agent minus that of another, paired by seed and instance."""
        one, two = (self.values(name, budget, column) for name in (agent, other))
        return intervals.difference(one, two, self.groups(agent, budget))


def best(merits: Mapping[Key, Any]) -> Key | None:
    """The candidate with the highest merit (a number or a tuple of numbers), such as its mean on validation instances;
    of equals the smallest key, whatever their order. None of none."""
    return max(sorted(merits), key=merits.__getitem__, default=None)  # type: ignore[type-var]


def pareto(points: Mapping[Key, tuple[float, float]]) -> list[Key]:
    """Those that no other point dominates, of (benefit, cost), by rising cost: at least as good in both and better in
    one."""
    order = sorted(points, key=lambda key: (points[key][1], -points[key][0]))
    front: list[Key] = []
    for key in order:
        last = points[front[-1]] if front else None
        if last is None or points[key][0] > last[0] or points[key] == last:
            front.append(key)
    return front


def deepest_within(differences: Mapping[int, Interval], margin: float = MARGIN) -> int | None:
    """The deepest depth that is no worse than the reference by more than the margin: the interval of its difference
    does not reach below -margin. None where every interval does."""
    return max((depth for depth, each in differences.items() if each.low >= -margin), default=None)
