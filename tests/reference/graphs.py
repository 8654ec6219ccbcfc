"""Commitment graphs, values and regret in plain Python: one state, one depth, one look at a time, by definition."""

from __future__ import annotations

from itertools import product
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


def episode(edges: Edges, start: Key, depths: list[int], action: float, look: float) -> float:
    """What these depths in turn bring: 1 for the goal, less what is paid."""
    here, worth = start, 0.0
    for depth in depths:
        if here not in edges:
            break
        here, executed, solved = edges[here][depth]
        worth += solved - action * executed - look
    return worth


def best(edges: Edges, start: Key, budget: int, allowed: tuple[int, ...], action: float, look: float) -> float:
    """The most that any sequence of depths brings, by trying them all."""
    if start not in edges:
        return 1.0
    return max(episode(edges, start, list(depths), action, look) for depths in product(allowed, repeat=budget))


def cost(edges: Edges, start: Key, allowed: tuple[int, ...], action: float, look: float) -> float:
    """The least cost to the goal, by relaxing every edge as often as there are states."""
    least = {state: float("inf") for state in edges}
    for _ in range(len(edges)):
        for state, ways in edges.items():
            for depth in allowed:
                after, executed, solved = ways[depth]
                onward = 0.0 if solved else least[after]
                least[state] = min(least[state], action * executed + look + onward)
    return least[start]


def lost(
    edges: Edges,
    start: Key,
    rule: Callable[[Key], int],
    budget: int,
    allowed: tuple[int, ...],
    action: float,
    look: float,
) -> list[float]:
    """What each commitment of a rule's episode gives away."""
    here, each = start, []
    for remaining in range(budget, 0, -1):
        if here not in edges:
            break
        after, executed, solved = edges[here][rule(here)]
        rest = 1.0 if solved else best(edges, after, remaining - 1, allowed, action, look) if remaining > 1 else 0.0
        each.append(best(edges, here, remaining, allowed, action, look) - (rest - action * executed - look))
        here = after
    return each
