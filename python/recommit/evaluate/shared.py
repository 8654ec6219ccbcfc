"""Evaluation on several processes: looks are divided among them, and everything else is the same in each.

A pass of the policy is what costs; which states are looked at together decides, on some devices, the last bits of what
comes out. So one process and many divide the states into the same pieces and differ only in who looks at which: the
rows are the same, bit for bit.
"""

from __future__ import annotations

import io
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate.play import Rows
from recommit.train.ranks import Team
from recommit.train.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

#: States per look.
PIECE = 128


class SharedReach(Reach):
    """A graph that every process has and to which each adds what it has looked at."""

    def __init__(self, policy: CommitPolicy, task: Puzzle, depths: tuple[int, ...], team: Team) -> None:
        super().__init__(policy, task, depths)
        self.team = team

    def expand(self, wanted: NDArray[np.int64]) -> None:
        """Look at the nodes that nobody has looked at, pieces in turn by rank."""
        missing = np.unique(wanted[~self.expanded[wanted] & ~self.goal[wanted]])
        pieces = [missing[begin : begin + PIECE] for begin in range(0, len(missing), PIECE)]
        if not pieces:
            return
        mine = [self.policy.plan(self.task, self.states[piece], self.depths)[1:] for piece in self._turn(pieces)]
        empty = self.logits[:0], self.plans[:0]
        logits, plans = (np.concatenate(parts) for parts in zip(empty, *mine, strict=True))
        heard = [from_bytes(one) for one in self.team.gather(to_bytes({"logits": logits, "plans": plans}))]
        used = [0] * self.team.world
        for i, piece in enumerate(pieces):  # in one order everywhere, since it numbers the nodes
            rank = i % self.team.world
            part = slice(used[rank], used[rank] + len(piece))
            self._connect(piece, heard[rank]["logits"][part], heard[rank]["plans"][part])
            used[rank] += len(piece)

    def _turn(self, pieces: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        return pieces[self.team.rank :: self.team.world]


def each(team: Team, count: int, play: Callable[[int], Rows]) -> list[Rows]:
    """``play`` of 0..``count`` - 1, every number by one rank and the rows in all of them."""
    mine = {f"{i}.{f.name}": value for i in range(team.rank, count, team.world) for f, value in _columns(play(i))}
    found: dict[str, NDArray[Any]] = {}
    for content in team.gather(to_bytes(mine)):
        found |= from_bytes(content)
    return [Rows(*(found[f"{i}.{f.name}"] for f in fields(Rows))) for i in range(count)]


def _columns(rows: Rows) -> list[tuple[Any, NDArray[Any]]]:
    return [(f, getattr(rows, f.name)) for f in fields(Rows)]


def to_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Named arrays as bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def from_bytes(content: bytes) -> dict[str, NDArray[Any]]:
    """Named arrays again."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)
