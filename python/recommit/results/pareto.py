"""The Pareto front of benefit against cost, and what it bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = TypeVar("Key")


def pareto(points: Mapping[Key, tuple[float, float]]) -> list[Key]:
    """Those that no other point dominates, of (benefit, cost), by rising cost: at least as good in both and better in
    one."""
    order = sorted(points, key=lambda key: (points[key][1], -points[key][0]))
    front: list[Key] = []
    for key in order:
        last = points[front[-1]] if front else None
        if last is None or points[key][0] > last[0] or points[key] == last:
            front.append(key)
    return front


def undominated(budget: int, actions: float, depths: tuple[int, ...]) -> list[int]:
    """Fixed depths that an agent with ``actions`` per episode cannot dominate, whatever it solves: they never spend
    more."""
    return [depth for depth in depths if budget * depth < actions]
