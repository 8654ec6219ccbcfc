"""Limits and results of the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from recommit import checks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: ``distance`` of a state from which the goal is unreachable.
UNSOLVABLE = -1
#: ``distance`` where a limit was hit.
UNKNOWN = -2


class Status(IntEnum):
    """Outcome of the search for one state."""

    EXACT = 0
    UNSOLVABLE = 1
    NODE_LIMIT = 2
    BYTE_LIMIT = 3
    TIME_LIMIT = 4


@dataclass(frozen=True)
class Limits:
    """Resource limits per state; if one is hit, the answer is ``UNKNOWN``, never a guess.

    Memory is always limited; nodes and seconds are unlimited by default.
    """

    nodes: int | None = None
    bytes: int = 2 << 30
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("nodes", self.nodes), ("bytes", self.bytes)):
            if value is not None:
                checks.integer(name, value, 1, 2**64 - 1)
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds: expected more than 0, got {self.seconds}")

    @staticmethod
    def of(limit: Limits | None) -> dict[str, int | float]:
        """The core's arguments for an optional ``limit``."""
        if not (limit is None or isinstance(limit, Limits)):
            raise TypeError(f"limit: expected Limits or None, got {type(limit).__name__}")
        return (limit or Limits()).arguments()

    def arguments(self) -> dict[str, int | float]:
        """The limits as arguments of the core."""
        return {
            "nodes": 2**64 - 1 if self.nodes is None else int(self.nodes),
            "bytes": int(self.bytes),
            "seconds": float("inf") if self.seconds is None else float(self.seconds),
        }


@dataclass(frozen=True)
class Solutions:
    """Optimal plans of a batch.

    ``solutions[i]`` is ``actions[offsets[i]:offsets[i + 1]]``, empty unless its status is EXACT.
    """

    actions: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    #: Optimal number of actions, or UNSOLVABLE, or UNKNOWN.
    length: NDArray[np.int32]
    #: Search nodes; 0 if a table was used.
    nodes: NDArray[np.uint64]
    #: One ``Status`` per state.
    status: NDArray[np.uint8]
    #: Proven lower bound of the length: equal to it if exact, still valid where a limit was hit.
    bound: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.length)

    def __getitem__(self, i: int) -> NDArray[np.uint8]:
        """The plan of state i."""
        i = range(len(self))[i]
        return self.actions[self.offsets[i] : self.offsets[i + 1]]
