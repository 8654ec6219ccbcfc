"""Boards and levels of exact length per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.answers import group
from bench.plain import yardstick

import recommit

if TYPE_CHECKING:
    from bench.conftest import Timed

pytestmark, test_plain_python = group("generation"), yardstick
#: Puzzle, shortest and longest plan, how many.
WANTED = {
    "sliding-4x4": (recommit.Sliding(4), (16, 30), 500),
    "sokoban-8x8-2": (recommit.Sokoban(8, 2), (8, 32), 300),
    "sokoban-10x10-4": (recommit.Sokoban(10, 4), (8, 32), 40),
    "ice": (recommit.Ice(), recommit.Ice.usual.length, 300),
}


@pytest.mark.parametrize("name", WANTED)
def test_instances(timed: Timed, name: str) -> None:
    task, window, count = WANTED[name]
    length, states = timed(lambda: _generated(task, count, window), count)
    assert np.array_equal(task.distance(states), length)
    assert window[0] <= length.min() <= length.max() <= window[1]
    assert len(np.unique(states.reshape(count, -1), axis=0)) > count // 2


def _generated(task: recommit.Puzzle, count: int, window: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    instances = task.generate(count, seed=3, length=window, threads=1)
    return instances.length, instances.states
