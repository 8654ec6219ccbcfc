"""Rewards in plain Python, from the page's formula: r = solved + discount * P(after) - P(before)."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

from tests.reference.ice import IceTwin
from tests.reference.simulate import TWINS

if TYPE_CHECKING:
    from tests.reference.simulate import Twin

ALL = {**TWINS, "ice": IceTwin}


@cache
def distance(task: str, shape: tuple[int, int], state: bytes) -> int:
    """Fewest actions to the goal by trying everything, -1 where there is no way."""
    twin: Twin = ALL[task](*shape)
    seen, layer, steps = {state}, [state], 0
    while layer:
        if any(twin.is_solved(bytearray(each)) for each in layer):
            return steps
        following = []
        for each in layer:
            for action in range(4):
                after = bytearray(each)
                twin.step(after, action)
                if bytes(after) not in seen:
                    seen.add(bytes(after))
                    following.append(bytes(after))
        layer, steps = following, steps + 1
    return -1


def potential(kind: str, remaining: int, start: int, farthest: int) -> float:
    """P of a state that is ``left`` actions from the goal, in an episode that began at ``start``."""
    remaining, start = (min(each, farthest) if each >= 0 else farthest for each in (remaining, start))
    return {"sparse": 0.0, "progress": -remaining / start, "distance": -float(remaining)}[kind]


def reward(
    kind: str, discount: float, before: int, after: int, start: int, farthest: int, *, defect: bool = False
) -> float:
    """Of one action, rounded to the four bytes that environments return. The defect forgets the discount."""
    discount = 1.0 if defect else discount
    solved = float(after == 0)
    exact = solved + discount * potential(kind, after, start, farthest) - potential(kind, before, start, farthest)
    return struct.unpack("f", struct.pack("f", exact))[0]
