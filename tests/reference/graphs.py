"""Commitment graphs and episodes in them in plain Python: one state, one depth, one observation at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Key = bytes
    #: By state and depth: where that lands, the actions executed, whether the goal was reached.
    Edges = dict[Key, dict[int, tuple[Key, int, bool]]]


def key(state: Any) -> Key:
    return np.asarray(state, np.uint8).tobytes()


def edge(task: Any, state: Any, plan: list[int], depth: int) -> tuple[Any, int, bool]:
    """Execute the first actions of a plan, one after the other, until the goal."""
    for executed, action in enumerate(plan[:depth], start=1):
        state = task.step(state[None], np.array([action], np.uint8))[0]
        if task.is_solved(state[None])[0]:
            return state, executed, True
    return state, depth, False


def explore(task: Any, starts: Any, plan_of: Callable[[Any], list[int]]) -> Edges:
    """All edges of every state that any depths lead to."""
    edges: Edges = {}
    waiting = list(starts)
    while waiting:
        state = waiting.pop()
        if key(state) in edges or task.is_solved(state[None])[0]:
            continue
        edges[key(state)] = {}
        for depth in range(1, 9):
            after, executed, solved = edge(task, state, plan_of(state), depth)
            edges[key(state)][depth] = key(after), executed, solved
            waiting.append(after)
    return edges


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
