"""The yardstick that every machine has: plain Python, from the rules alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference import sliding

if TYPE_CHECKING:
    from bench.conftest import Timed

#: Boards of 2x3 that can be solved, and how far the farthest two of them are from the goal.
BOARDS, FARTHEST = 360, 21


def yardstick(timed: Timed) -> None:
    """All boards of 2x3 and their distances: how many, and the largest distance."""
    assert timed(_breadth_first, BOARDS, yardstick=True) == (BOARDS, FARTHEST)


def _breadth_first() -> tuple[int, int]:
    table = sliding.distances(2, 3)
    return len(table), max(table.values())
