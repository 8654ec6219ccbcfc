"""Prices, and the return of an episode: 1 for the goal, less what its actions and observations cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


#: Prices of an observation, in actions, over which a gain share is averaged: evenly in their logarithms.
RATIOS = tuple(2.0 ** (power / 2) for power in range(-6, 7))


@dataclass(frozen=True)
class Prices:
    """What an action and an observation cost, in solved episodes."""

    action: float = 0.0
    observation: float = 0.0

    def __post_init__(self) -> None:
        checks.number("action", self.action, 0.0)
        checks.number("observation", self.observation, 0.0)

    @property
    def words(self) -> list[str]:
        """Those that are not 0."""
        return [f"{price:g} per {what}" for what, price in vars(self).items() if price]

    def cost(self, executed: NDArray[np.integer] | NDArray[np.floating]) -> Floats:
        """Costs of commitments by their executed actions: each has one observation."""
        return executed.astype(np.float64) * self.action + self.observation

    def returns(self, solved: Any, actions: Any, observations: Any) -> Any:
        """Returns of episodes, or their means from means."""
        return solved - self.action * actions - self.observation * observations


@dataclass(frozen=True)
class Setting:
    """Conditions of a score: the most observations, and prices."""

    budget: int
    prices: Prices

    def label(self) -> str:
        """For a table."""
        return ", ".join([f"K = {self.budget}", *self.prices.words])


def arrays(prices: Sequence[Prices]) -> tuple[Floats, Floats]:
    """Prices of an action and of an observation, one of each per element."""
    return np.array([each.action for each in prices]), np.array([each.observation for each in prices])
