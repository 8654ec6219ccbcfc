"""Big results lie in memory that is used again: never while somebody can still look at it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import recommit

TASK = recommit.Sokoban(8, 2)
STATES = TASK.generate(2048, seed=0).states  # 128 KB, above what numpy keeps itself
Source = Callable[[int], NDArray[Any]]


def sources() -> dict[str, Source]:
    """Ways to a big array, each with something that changes in it."""
    env: Any = gymnasium.make_vec("recommit/Sliding-v0", num_envs=6000, size=4, threads=2)
    env.reset(seed=0)
    rng = np.random.default_rng(0)

    def rolled(step: int) -> NDArray[np.uint8]:
        return np.roll(STATES, step, axis=0)

    return {
        "observations": lambda _: env.step(rng.integers(0, 4, 6000))[0],
        "states": lambda step: TASK.step(rolled(step), np.full(2048, step % 4)),
        "pictures": lambda step: TASK.render(rolled(step)[: 1 + step % 40], 28),
        "patches": lambda step: TASK.patches(rolled(step)[: 1 + step % 40], 28)[0],
    }


def changed(ways: dict[str, Source], steps: int = 25) -> int:
    """How many arrays are not what they were when they were handed out; some are let go of on the way."""
    rng = np.random.default_rng(1)
    held: list[tuple[NDArray[Any], NDArray[Any]]] = []
    wrong = 0
    for step in range(steps):
        for source in ways.values():
            array = source(step)
            held.append((array, array.copy()))
        while len(held) > 12:
            array, before = held.pop(int(rng.integers(len(held))))
            wrong += not np.array_equal(array, before)
    return wrong + sum(not np.array_equal(array, before) for array, before in held)


def test_an_array_never_changes_under_its_owner() -> None:
    assert changed(sources()) == 0


def test_a_shared_array_is_noticed() -> None:
    out = np.empty((2048, 8, 8), np.uint8)

    def same(step: int) -> NDArray[np.uint8]:
        out[:] = step
        return out

    assert changed({"same": same}, 20) > 0


def test_memory_is_used_again() -> None:
    picture = TASK.render(STATES[:64], 28)
    where = picture.ctypes.data
    del picture
    gc.collect()
    assert TASK.render(STATES[64:128], 28).ctypes.data == where


def test_a_view_keeps_its_memory() -> None:
    rows = TASK.render(STATES[:64], 28)[7, 100]
    before = rows.copy()
    others = [TASK.render(STATES[64:128], 28) for _ in range(3)]
    assert np.array_equal(rows, before)
    assert not any(np.shares_memory(rows, other) for other in others)


def test_arrays_are_let_go_of_by_other_threads() -> None:
    expected = TASK.render(STATES[:64], 28)

    def use() -> None:
        for _ in range(30):
            results.append(np.array_equal(TASK.render(STATES[:64], 28), expected))

    results: list[bool] = []
    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 120
