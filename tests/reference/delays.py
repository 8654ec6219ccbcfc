"""Delays and slips in plain Python, from docs/delays.md and nothing else: one episode after the other, every way that
slips may go, nothing merged.

A state is a ``bytes``; ``plan_of`` gives the plan of a state, ``depth_of(state, queue, remaining)`` a depth of a rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLAN = 8


@dataclass
class World:
    """A puzzle with marks: ``moving`` are the codes of the cell that moves. ``defect`` plants a wrong rule."""

    twin: Any
    moving: tuple[int, ...]
    marks: set[int]
    probability: float
    delay: int
    plan_of: Callable[[bytes], list[int]]
    price_action: float = 0.0
    price_observation: float = 0.0
    defect: str = ""
    best_values: dict[Any, float] = field(default_factory=dict)

    def solved(self, state: bytes) -> bool:
        return self.twin.is_solved(bytearray(state))

    def outcomes(self, state: bytes, action: int) -> Iterator[tuple[float, bytes]]:
        """Each way that one action may go."""
        after = bytearray(state)
        self.twin.step(after, action)
        place = next(i for i, code in enumerate(state) if code in self.moving)
        if place not in self.marks and self.defect != "slips everywhere":
            yield 1.0, bytes(after)
            return
        yield 1.0 - self.probability, bytes(after)
        yield self.probability, state

    def run(self, state: bytes, actions: list[int]) -> Iterator[tuple[float, bytes, int]]:
        """Every way of these actions, up to the goal: how likely, where it ends, and how many were executed."""
        if not actions or self.solved(state):
            yield 1.0, state, 0
            return
        for chance, after in self.outcomes(state, actions[0]):
            for rest, end, executed in self.run(after, actions[1:]):
                yield chance * rest, end, executed + 1

    def commit(self, state: bytes, queue: list[int], depth: int) -> tuple[list[int], list[int]]:
        """What runs until the next observation, and what is queued then."""
        skipped = self.delay - 1 if self.defect == "a delay off by one" else self.delay
        line = queue + self.plan_of(state)[skipped:depth]
        return line[: depth - self.delay], line[depth - self.delay :][: self.delay]

    def first(self, state: bytes) -> list[int]:
        """The queue of the first observation."""
        return self.plan_of(state)[: self.delay]

    def ended(self, state: bytes, queue: list[int], remaining: int) -> float | None:
        """The value where nothing is chosen any more."""
        if self.solved(state):
            return 1.0
        if remaining:
            return None
        ways = self.run(state, queue)
        return sum(chance * (self.solved(end) - self.price_action * executed) for chance, end, executed in ways)

    def committed(
        self, value: Callable[..., float], state: bytes, queue: list[int], remaining: int, depth: int
    ) -> float:
        """The value of a commitment, with ``value`` behind it."""
        now, later = self.commit(state, queue, depth)
        return -self.price_observation + sum(
            chance * (value(end, later, remaining - 1) - self.price_action * executed)
            for chance, end, executed in self.run(state, now)
        )

    def best(self, state: bytes, queue: list[int], remaining: int) -> float:
        """Under the best depths."""
        key = state, tuple(queue), remaining
        if key not in self.best_values:
            end = self.ended(state, queue, remaining)
            self.best_values[key] = (
                max(self.committed(self.best, state, queue, remaining, d) for d in range(self.delay + 1, PLAN + 1))
                if end is None
                else end
            )
        return self.best_values[key]

    def of_rule(self, depth_of: Callable[..., int]) -> Callable[..., float]:
        """The value under a rule, of a state, a queue and the observations left."""
        known: dict[Any, float] = {}

        def value(state: bytes, queue: list[int], remaining: int) -> float:
            key = state, tuple(queue), remaining
            if key not in known:
                end = self.ended(state, queue, remaining)
                known[key] = (
                    self.committed(value, state, queue, remaining, depth_of(state, queue, remaining))
                    if end is None
                    else end
                )
            return known[key]

        return value
