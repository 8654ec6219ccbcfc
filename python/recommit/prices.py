"""Prices, and the return of an episode: 1 if solved, minus the prices of its actions and observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


#: Log-spaced prices of an observation, in actions, over which a gain share is averaged.
RATIOS = tuple(2.0 ** (power / 2) for power in range(-6, 7))


@dataclass(frozen=True)
class Prices:
    """Prices of an action and of an observation, in units of a solved episode."""

    action: float = 0.0
    observation: float = 0.0

    def __post_init__(self) -> None:
        checks.number("action", self.action, 0.0)
        checks.number("observation", self.observation, 0.0)

    @property
    def words(self) -> list[str]:
        """The nonzero prices in words."""
        return [f"{price:g} per {what}" for what, price in vars(self).items() if price]

    def cost(self, executed: NDArray[np.integer] | NDArray[np.floating]) -> Floats:
        """Costs of commitments with these numbers of executed actions and one observation each."""
        return executed.astype(np.float64) * self.action + self.observation

    def returns(self, solved: Any, actions: Any, observations: Any) -> Any:
        """Returns of episodes; linear, so means give the mean return."""
        return solved - self.action * actions - self.observation * observations


@dataclass(frozen=True)
class Setting:
    """Conditions of a score: budget of observations, and prices."""

    budget: int
    prices: Prices

    def label(self) -> str:
        """Label for a table."""
        return ", ".join([f"K = {self.budget}", *self.prices.words])


def arrays(prices: Sequence[Prices]) -> tuple[Floats, Floats]:
    """Arrays of the action prices, and of the observation prices."""
    return np.array([each.action for each in prices]), np.array([each.observation for each in prices])
