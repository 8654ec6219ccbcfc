"""Commitments that may end in several nodes: where, and how likely.

A landing of a graph is a node, or, from the number of nodes on, one of these chances. So a backup reads the values of
landings from one table, the nodes' own values with the expectations over the chances behind them, and a graph whose
commitments have one end each is the case without any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Probabilities of a chance may miss 1 by this.
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Chances:
    """``nodes[offsets[i]:offsets[i + 1]]`` are the ends of chance i, ``probs`` how likely each is; at least one."""

    offsets: NDArray[np.int64]
    nodes: NDArray[np.integer]
    probs: NDArray[np.float64]

    def __post_init__(self) -> None:
        if len(self.nodes) != len(self.probs) or self.offsets[0] != 0 or self.offsets[-1] != len(self.nodes):
            raise ValueError(
                f"offsets: expected those of {len(self.nodes)} nodes and {len(self.probs)} probabilities, "
                f"got {self.offsets[0]}..{self.offsets[-1]}"
            )
        if len(self) and (np.diff(self.offsets) < 1).any():
            raise ValueError("offsets: expected at least one end of each chance, got none of some")
        if len(self) and (np.abs(self.expected(np.ones(self.nodes.max() + 1)) - 1) > SLACK).any():
            raise ValueError("probs: expected sums of 1 for each chance, got others")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def expected(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """[chances, ...] expectations of ``values`` [nodes, ...]."""
        weights = self.probs.reshape(-1, *[1] * (values.ndim - 1))
        result: NDArray[np.float64] = np.add.reduceat(values[self.nodes] * weights, self.offsets[:-1], axis=0)
        return result

    def spread(self, mass: NDArray[np.float64], nodes: int) -> NDArray[np.float64]:
        """[nodes] where so much ``mass`` [chances] goes."""
        result: NDArray[np.float64] = np.bincount(
            self.nodes, np.repeat(mass, np.diff(self.offsets)) * self.probs, nodes
        ).astype(np.float64)
        return result

    def ends(self, which: NDArray[np.integer]) -> NDArray[np.integer]:
        """All ends of some of the chances, in no order."""
        chosen = np.zeros(len(self), np.bool_)
        chosen[which] = True
        result: NDArray[np.integer] = self.nodes[np.repeat(chosen, np.diff(self.offsets))]
        return result
