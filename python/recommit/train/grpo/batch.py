"""What one step of GRPO learns from."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recommit.runs.distributed import Team


@dataclass(frozen=True)
class GrpoBatch:
    """S states, and in each of them D depths and G plans with advantages.

    For sampled commitments D = G, and plan g goes with depth g. A weight of 0 says that an entry is not there (an
    action that was not executed, padding); its other values then mean nothing. ``old`` values are log probabilities
    when the commitments were sampled.
    """

    states: NDArray[np.uint8]
    choices: NDArray[np.int64]  #: [S, D], index into the policy's depths
    depth_advantage: NDArray[np.float32]
    depth_weight: NDArray[np.float32]
    depth_old: NDArray[np.float32]
    actions: NDArray[np.int64]  #: [S, G, 8]
    plan_depth: NDArray[
        np.int64
    ]  #: [S, G], that each plan was made for: a decoder that is conditioned on it is told again
    action_advantage: NDArray[np.float32]
    action_weight: NDArray[np.float32]
    action_old: NDArray[np.float32]
    remaining: NDArray[np.int64]  #: [S]: remaining decisions, this one included
    #: [S]: how much a state counts in KL and entropies.
    weight: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.states)

    def where(self, keep: slice | NDArray[np.intp]) -> GrpoBatch:
        """Some of the states."""
        return GrpoBatch(*(getattr(self, f.name)[keep] for f in fields(self)))

    def padded(self, size: int) -> GrpoBatch:
        """At least ``size`` states, the last of them without weight."""
        missing = size - len(self)
        if missing <= 0:
            return self
        return join([self, self.where(np.zeros(missing, np.intp)).nothing()])

    def nothing(self) -> GrpoBatch:
        """The same without any weight."""
        weights = ("depth_weight", "action_weight", "weight")
        return replace(self, **{name: np.zeros_like(getattr(self, name)) for name in weights})


def gathered(own: GrpoBatch, place: NDArray[np.int64], team: Team) -> GrpoBatch:
    """The decisions of all ranks on every rank, in the order of their ``place``: that of one process."""
    columns = {f.name: getattr(own, f.name) for f in fields(own)}
    of_ranks = team.exchange({"place": place, **columns})
    order = np.argsort(np.concatenate([each.pop("place") for each in of_ranks]))
    return join([GrpoBatch(**each) for each in of_ranks]).where(order)


def join(parts: list[GrpoBatch]) -> GrpoBatch:
    """All of them, in order."""
    return GrpoBatch(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(GrpoBatch)))
