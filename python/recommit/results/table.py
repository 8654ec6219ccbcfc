"""The results table: a row per episode, and queries over it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.results import intervals
from recommit.results.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Key = TypeVar("Key")
#: What counts as no worse, in solved episodes, or as a share of a return's range: ``deepest_within``.
MARGIN = 0.05


@dataclass(frozen=True, eq=False)
class Results:
    """Long rows, one per episode: agent, budget, seed, instance, group, and what was measured of it.

    ``seed`` is that of training. Rows of the same agent, budget, seed and instance are repetitions, and averaged.
    """

    agent: NDArray[Any]
    budget: NDArray[Any]
    seed: NDArray[np.int64]
    instance: NDArray[np.int64]
    #: Instances that belong together, such as levels of one room.
    group: NDArray[np.int64]
    #: By name: solved, actions, observations, returns and others.
    measured: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.agent)

    @classmethod
    def joined(cls, parts: Iterable[Results]) -> Results:
        """Rows of several tables."""
        every = list(parts)
        names = [each.name for each in fields(cls) if each.name != "measured"]
        keys: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in every]) for name in names}
        measured = {name: np.concatenate([part.measured[name] for part in every]) for name in every[0].measured}
        return cls(**keys, measured=measured)

    @cached_property
    def _places(self) -> dict[tuple[Any, Any], NDArray[np.intp]]:
        """Rows of each agent under each budget."""
        places: dict[tuple[Any, Any], list[int]] = {}
        for i, key in enumerate(zip(self.agent.tolist(), self.budget.tolist(), strict=True)):
            places.setdefault(key, []).append(i)
        return {key: np.array(rows, np.intp) for key, rows in places.items()}

    @property
    def keys(self) -> list[tuple[Any, Any]]:
        """Agents with their budgets, in the order of their first rows."""
        return list(self._places)

    def seeds(self, agent: str, budget: str | int) -> list[int]:
        """Training seeds of an agent."""
        own: list[int] = np.unique(self.seed[self._places[agent, budget]]).tolist()
        return own

    def values(self, agent: str, budget: str | int, column: str, seeds: Sequence[int] | None = None) -> Floats:
        """[seeds, instances] means of a column, of all seeds or some; [instances] of one seed. Every seed has the same
        instances."""
        own, some = self._places[agent, budget], self.seeds(agent, budget) if seeds is None else seeds
        own = own[np.isin(self.seed[own], some)]
        instances, place = np.unique(self.instance[own], return_inverse=True)
        cells, size = np.searchsorted(some, self.seed[own]) * len(instances) + place, len(some) * len(instances)
        played = np.bincount(cells, minlength=size)
        if (played == 0).any():
            raise ValueError(f"{agent}: expected all {len(instances)} instances for every seed, got some of them")
        means: Floats = (np.bincount(cells, self.measured[column][own], size) / played).reshape(len(some), -1)
        return means[0] if len(some) == 1 else means

    def groups(self, agent: str, budget: str | int) -> NDArray[np.int64]:
        """[instances] the group of each."""
        own = self._places[agent, budget]
        result: NDArray[np.int64] = self.group[own][np.unique(self.instance[own], return_index=True)[1]]
        return result

    def mean(self, agent: str, budget: str | int, column: str) -> Interval:
        """The mean of a column."""
        return intervals.mean(self.values(agent, budget, column), self.groups(agent, budget))

    def difference(self, agent: str, other: str, budget: str | int, column: str) -> Interval:
        """Mean of an agent minus that of another, paired by instance and by the seeds that both have."""
        seeds = sorted({*self.seeds(agent, budget)} & {*self.seeds(other, budget)})
        one, two = (self.values(name, budget, column, seeds) for name in (agent, other))
        if one.shape != two.shape or not seeds:
            raise ValueError(f"{other}: expected the seeds and instances of {agent}, got others")
        return intervals.difference(one, two, self.groups(agent, budget))


def ends(interval: Interval | None) -> tuple[Any, float | None, float | None]:
    """Mean, low and high of an interval as fields of a row; None for what it has not."""
    values = {} if interval is None else interval.values()
    return values.get("mean"), values.get("low"), values.get("high")


def flat(name: str, interval: Interval | None) -> dict[str, Any]:
    """A figure and its interval as fields of a row: NAME, NAME_low, NAME_high."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends(interval), strict=True))


def best(merits: Mapping[Key, Any]) -> Key | None:
    """The candidate with the highest merit (a number or a tuple of numbers), such as its mean on validation instances;
    of equals the smallest key, whatever their order. None of none."""
    return max(sorted(merits), key=merits.__getitem__, default=None)  # type: ignore[type-var]


def deepest_within(differences: Mapping[int, Interval], margin: float = MARGIN) -> int | None:
    """The deepest depth that is no worse than the reference by more than the margin: the interval of its difference
    does not reach below -margin. None where every interval does."""
    return max((depth for depth, each in differences.items() if each.low >= -margin), default=None)
