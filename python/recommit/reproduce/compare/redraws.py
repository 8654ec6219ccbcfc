"""95 % intervals of many paired means at once: whole rooms are drawn again, the same ones for every column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recommit import rng
from recommit.graph.gain import LEAST
from recommit.stats import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROUNDS = 2000
ENDS = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Redraws:
    """Starts of one room have one number in ``rooms``. A table of a thousand rows takes one product of matrices."""

    rooms: NDArray[np.integer]
    rounds: int = ROUNDS

    @cached_property
    def _numbers(self) -> NDArray[np.integer]:
        numbers: NDArray[np.integer] = np.unique(self.rooms, return_inverse=True)[1]
        return numbers

    @cached_property
    def _drawn(self) -> Floats:
        """[rounds, rooms] how often each room is drawn."""
        count = int(self._numbers.max()) + 1
        generator = np.random.Generator(np.random.Philox(key=rng.derived_seed(0, rng.Purpose.BOOTSTRAP, 0)))
        return generator.multinomial(count, np.full(count, 1 / count), size=self.rounds).astype(np.float64)

    def _sums(self, columns: Floats) -> Floats:
        """[rounds, columns] of the starts that are drawn."""
        by_room = np.stack([np.bincount(self._numbers, column) for column in columns], axis=1)
        result: Floats = self._drawn @ by_room
        return result

    def means(self, columns: Floats) -> list[Interval]:
        """The mean of each row of [columns, starts]."""
        drawn = self._sums(columns) / self._sums(np.ones((1, len(self.rooms))))
        low, high = np.quantile(drawn, ENDS, axis=0).tolist()
        return [Interval(*ends) for ends in zip(columns.mean(axis=1).tolist(), low, high, strict=True)]

    def shares(self, taken: Floats, there: Floats) -> list[Interval | None]:
        """The mean of each row of ``taken`` over that of ``there``; None where nothing is there."""
        drawn = zip(self._sums(taken).T, self._sums(there).T, strict=True)
        means = zip(taken.mean(axis=1).tolist(), there.mean(axis=1).tolist(), strict=True)
        return [self._share(*pair, *ends) for pair, ends in zip(drawn, means, strict=True)]

    @staticmethod
    def _share(taken: Floats, there: Floats, mean: float, most: float) -> Interval | None:
        some = there > LEAST
        if most <= LEAST or not some.any():
            return None
        low, high = np.quantile(taken[some] / there[some], ENDS)
        return Interval(mean / most, float(low), float(high))
