"""Comparisons of rules in plain Python: intervals of paired differences, and what plans and depths lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.graphs import edge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def interval(
    values: Sequence[float], rooms: Sequence[int], drawn: Sequence[Sequence[int]], over: Sequence[float] | None = None
) -> tuple[float, float, float]:
    """The mean and its 2.5 and 97.5 % ends, where ``drawn`` says how often each room is drawn in each round; a share of
    ``over`` where that is there."""
    below = [1.0] * len(values) if over is None else over
    means = []
    for counts in drawn:
        total = sum(counts[room] * value for value, room in zip(values, rooms, strict=True))
        weight = sum(counts[room] * value for value, room in zip(below, rooms, strict=True))
        if weight > 1e-9:
            means.append(total / weight)
    means.sort()
    return sum(values) / sum(below), quantile(means, 0.025), quantile(means, 0.975)


def quantile(ordered: Sequence[float], level: float) -> float:
    """Between the two nearest, in proportion."""
    place = level * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def crossed(
    task: Any, start: Any, budget: int, plan_of: Callable[[Any], list[int]], depth_of: Callable[[Any], int]
) -> tuple[bool, int, int]:
    """Solved, actions and looks of an episode with the plans of ``plan_of`` and the depths of ``depth_of``."""
    here, actions, looks = start, 0, 0
    for _ in range(budget):
        if task.is_solved(here[None])[0]:
            break
        here, executed, _ = edge(task, here, plan_of(here), depth_of(here))
        actions, looks = actions + executed, looks + 1
    return bool(task.is_solved(here[None])[0]), actions, looks
