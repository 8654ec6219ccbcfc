"""Evaluation on several processes: looks are divided among them, and everything else is the same in each."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from recommit.rollout.episodes import DecisionRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.runs.ranks import Team

#: States per look. Which states are looked at together decides, on some devices, the last bits of what comes out: so
#: one process and many divide them into the same pieces and differ only in who looks at which, and the rows are the
#: same.
PIECE = 128


def each(team: Team, count: int, play: Callable[[int], DecisionRows]) -> list[DecisionRows]:
    """``play`` of 0..``count`` - 1, every number by one rank and the rows in all of them."""
    mine = {f"{i}.{f.name}": value for i in range(team.rank, count, team.world) for f, value in _columns(play(i))}
    columns: dict[str, NDArray[Any]] = {}
    for gathered in team.exchange(mine):
        columns |= gathered
    return [DecisionRows(*(columns[f"{i}.{f.name}"] for f in fields(DecisionRows))) for i in range(count)]


def _columns(rows: DecisionRows) -> list[tuple[Any, NDArray[Any]]]:
    return [(f, getattr(rows, f.name)) for f in fields(DecisionRows)]
