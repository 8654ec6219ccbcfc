"""The batch of a GRPO step, and its split into optimizer steps, rank shares and micro-batches."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recommit import rng
from recommit.rollout.trace import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.runs.distributed import Team

    Rows = NDArray[np.intp]


@dataclass(frozen=True)
class GrpoBatch:
    """S states with D depths and G plans each, and their advantages.

    For sampled commitments D = G, and plan g belongs to depth g. A weight of 0 masks an entry (an action that was not
    executed, or padding); its other values are undefined. ``old`` values are log probabilities under the sampling
    policy.
    """

    states: NDArray[np.uint8]
    choices: NDArray[np.int64]  #: [S, D], index into the policy's depths
    depth_advantage: NDArray[np.float32]
    depth_weight: NDArray[np.float32]
    depth_old: NDArray[np.float32]
    actions: NDArray[np.int64]  #: [S, G, 8]
    #: [S, G], the depth that a depth-conditioned decoder decoded the plan for
    plan_depth: NDArray[np.int64]
    action_advantage: NDArray[np.float32]
    action_weight: NDArray[np.float32]
    action_old: NDArray[np.float32]
    remaining: NDArray[np.int64]  #: [S]: remaining decisions, this one included
    #: [S]: weight of the state in KL and entropies.
    weight: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.states)

    def where(self, keep: slice | NDArray[np.intp]) -> GrpoBatch:
        """The selected states."""
        return GrpoBatch(*(getattr(self, f.name)[keep] for f in fields(self)))

    def padded(self, size: int) -> GrpoBatch:
        """Pad to at least ``size`` states, with weight 0."""
        missing = size - len(self)
        if missing <= 0:
            return self
        return joined([self, self.where(np.zeros(missing, np.intp)).nothing()])

    def nothing(self) -> GrpoBatch:
        """The same states with all weights 0."""
        weights = ("depth_weight", "action_weight", "weight")
        return replace(self, **{name: np.zeros_like(getattr(self, name)) for name in weights})


def gathered(own: GrpoBatch, place: NDArray[np.int64], team: Team) -> GrpoBatch:
    """All-gather the decisions, sorted by ``place``: the batch of a single process."""
    columns = {f.name: getattr(own, f.name) for f in fields(own)}
    of_ranks = team.gather({"place": place, **columns})
    order = np.argsort(np.concatenate([each.pop("place") for each in of_ranks]))
    return joined([GrpoBatch(**each) for each in of_ranks]).where(order)


def optimizer_steps(batches: list[GrpoBatch], size: int, seeds: list[int], step: int) -> list[list[Rows]]:
    """Shuffled rows of each batch per optimizer step; the largest batch sets the number of steps, at ``size`` rows
    each.

    With one batch all steps but the last are full; several batches are spread evenly over all steps.
    """
    orders = [_shuffled(len(batch), seed, step) for batch, seed in zip(batches, seeds, strict=True)]
    count = -(-max(map(len, orders)) // size)
    if len(orders) == 1:
        return [[orders[0][i * size : (i + 1) * size] for i in range(count)]]
    return [np.array_split(order, count) if count else [] for order in orders]


def _shuffled(count: int, seed: int, step: int) -> Rows:
    places = np.uint64(step << 32) + np.arange(count, dtype=np.uint64)
    return np.argsort(rng.draw(rng.streams(seed, rng.Purpose.ORDER, places), 0))


def micro_batches(batch: GrpoBatch, rows: Rows, team: Team, share: int, size: int) -> Iterator[GrpoBatch]:
    """This rank's ``share`` of the rows, ``size`` at a time, padded: all ranks run the same number of passes, without
    rows on a state of weight 0."""
    mine = rows[team.rank :: team.world]
    own = (batch.where(mine) if len(mine) else batch.where(slice(0, 1)).nothing()).padded(share)
    for begin in range(0, share, size):
        yield own.where(slice(begin, begin + size))
