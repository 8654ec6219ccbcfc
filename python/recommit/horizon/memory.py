"""A rule that takes another depth where an episode comes by again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recommit.horizon import checks
from recommit.horizon.rule import need

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from recommit.horizon.plans import Plans
    from recommit.horizon.rule import Depths, Rule


@dataclass
class Visits:
    """How often each episode has been at each observation."""

    by_episode: dict[int, dict[bytes, int]] = field(default_factory=dict)
    #: Episodes of the batch, where rows are episodes.
    rows: int | None = None

    def count(self, episodes: Iterable[int], keys: Iterable[bytes]) -> NDArray[np.int64]:
        """How often it was so far, of each; now it is once more."""
        before = []
        for episode, key in zip(episodes, keys, strict=True):
            seen = self.by_episode.setdefault(episode, {})
            before.append(seen.get(key, 0))
            seen[key] = before[-1] + 1
        return np.array(before, np.int64)


@dataclass(frozen=True)
class WithMemory:
    """``rule``, but where an episode returns to an observation it takes the next depth of ``rule.order``.

    A rule that sees the present plan alone goes round for ever once it comes back: the same plan, the same depth. At
    the second visit this one takes the second depth of the order, at the third the third, and so on round the order. It
    needs ``Plans.keys``, costs no observation, and belongs to one batch of episodes: ``reset`` begins the next.

    It is ours: the agent with a memory of our evaluations, whose order is that of the depth head's probabilities.
    """

    rule: Rule
    _visits: Visits = field(default_factory=Visits, init=False, repr=False, compare=False)

    def choose(self, plans: Plans, episodes: NDArray[np.integer] | None = None) -> Depths:
        """[N] the depth of each plan, which belongs to the episode of the same place in ``episodes``: 0, 1, ... if
        there are none, and then every episode of the batch has its row at every decision."""
        why = (
            "keys [N, ...], equal where two observations are, because it asks whether an episode has been there before"
        )
        keys = [key.tobytes() for key in need("WithMemory", why, plans.keys)]
        order = self.rule.order(plans)
        before = self._visits.count(self._episodes(len(plans), episodes), keys)
        result: Depths = order[np.arange(len(plans)), before % order.shape[1]]
        return result

    def reset(self, episodes: NDArray[np.integer] | None = None) -> None:
        """Forget everything, or these episodes only, which begin anew."""
        if episodes is None:
            self._visits.by_episode.clear()
            self._visits.rows = None
            return
        for episode in checks.array("episodes", episodes, "iu").tolist():
            self._visits.by_episode.pop(episode, None)

    def _episodes(self, count: int, episodes: NDArray[np.integer] | None) -> list[int]:
        if episodes is not None:
            numbers = checks.array("episodes", episodes, "iu")
            checks.shape("episodes", numbers, (count,))
            return [int(number) for number in numbers]
        rows = self._visits.rows = count if self._visits.rows is None else self._visits.rows
        if rows != count:
            raise ValueError(f"episodes: expected their numbers, since there were {rows} plans at first, got {count}")
        return list(range(count))
