"""Data of rollouts: the proposed commitments, and the decisions with their outcomes."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recommit.puzzles.solutions import UNSOLVABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from recommit.policy.config import PolicyConfig

T = TypeVar("T")


@dataclass(frozen=True)
class Proposals:
    """G commitments for each of N states."""

    depth: NDArray[np.int64]  #: [N, G], how many actions
    choice: NDArray[np.int64]  #: [N, G], index into the policy's depths; 0 where the head did not choose
    actions: NDArray[np.uint8]  #: [N, G, 8], or as many as the policy's plans have
    depth_log: NDArray[np.float32]  #: [N, G]
    action_log: NDArray[np.float32]  #: [N, G, 8]
    logits: NDArray[np.float32]  #: [N, |H|]

    @classmethod
    def none(cls, count: int, policy: PolicyConfig) -> Self:
        """``count`` commitments for each of no states."""
        numbers, logs = np.zeros((0, count), np.int64), np.zeros((0, count), np.float32)
        plans = np.zeros((0, count, policy.plan_length), np.uint8)
        logits = np.zeros((0, len(policy.depths)), np.float32)
        return cls(numbers, numbers, plans, logs, plans.astype(np.float32), logits)


@dataclass(frozen=True)
class Trace:
    """Decisions of episodes, in order."""

    states: NDArray[np.uint8]  #: [N, rows, columns], before the decision
    distance: NDArray[np.int32]  #: [N]
    episode: NDArray[np.int64]  #: [N]: number of the episode
    remaining: NDArray[np.int64]  #: [N]: decisions left, this one included
    proposals: Proposals
    after: NDArray[np.uint8]  #: [N, G, rows, columns]
    after_distance: NDArray[np.int32]  #: [N, G], 0 where solved
    #: [N, G], distance of the last solvable state on the way; UNSOLVABLE if there is none
    last_distance: NDArray[np.int32]
    executed: NDArray[np.int32]  #: [N, G]
    solved: NDArray[np.bool_]  #: [N, G]

    def __len__(self) -> int:
        return len(self.states)

    def progress(self, per: str) -> NDArray[np.int32]:
        """[N, G]: lowered distance. ``per`` action, the step into a state that cannot be solved counts 0, like all
        after it; per commitment, one that ends in such a state counts 0 as a whole."""
        end = self.last_distance if per == "action" else self.after_distance
        both = (self.distance[:, None] >= 0) & (end >= 0)
        return np.where(both, self.distance[:, None] - end, 0)

    @property
    def lost(self) -> NDArray[np.bool_]:
        """[N, G]: commitments that made a puzzle unsolvable."""
        return (self.distance[:, None] >= 0) & (self.after_distance == UNSOLVABLE)


def joined(parts: list[T]) -> T:
    """The rows of one or more dataclasses of columns, in order; a column may be a dataclass of columns itself."""
    return type(parts[0])(*(_column([getattr(part, f.name) for part in parts]) for f in fields(parts[0])))  # type: ignore[arg-type]


def _column(pieces: list[Any]) -> Any:
    return joined(pieces) if is_dataclass(pieces[0]) else np.concatenate(pieces)
