"""The yardstick that every machine has: plain Python, from the rules alone."""

from __future__ import annotations

from tests.reference import sliding

#: Boards of 2x3 that can be solved, and how far the farthest two of them are from the goal.
BOARDS, FARTHEST = 360, 21


def breadth_first() -> tuple[int, int]:
    """All boards of 2x3 and their distances: how many, and the largest distance."""
    table = sliding.distances(2, 3)
    return len(table), max(table.values())
