"""What open-loop execution does to states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Outcome:
    """What open-loop execution did to a batch of states.

    ``executed`` counts actions up to the goal or the end of the commitment; ``moved`` of them changed the state, the
    others were blocked.
    """

    states: NDArray[np.uint8]
    executed: NDArray[np.int32]
    solved: NDArray[np.bool_]
    moved: NDArray[np.int32]

    def single(self) -> Outcome:
        """The first state's alone, without the batch's axis."""
        return Outcome(self.states[0], self.executed[0, ...], self.solved[0, ...], self.moved[0, ...])


def whole(
    step: Callable[..., NDArray[np.uint8]],
    states: NDArray[np.uint8],
    actions: NDArray[Any],
    depths: NDArray[Any],
    threads: int | None,
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Where every commitment ends that is executed whole, and how many of its actions moved something."""
    states, moved = states.copy(), np.zeros(len(states), np.int32)
    for place in range(int(depths.max(initial=0))):
        who = np.flatnonzero(depths > place)
        after = step(states[who], np.ascontiguousarray(actions[who, place]), threads=threads)
        moved[who] += (after != states[who]).any(axis=(1, 2))
        states[who] = after
    return states, moved
