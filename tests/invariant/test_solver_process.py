"""Solvers inside a process: the interpreter goes on (M4), and nothing is kept (M6)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.growth import growth, leak, needs_proc
from tests.ticks import goes_on, holder

import recommit

if TYPE_CHECKING:
    from collections.abc import Callable

HARD = recommit.Sliding(5).generate(1, seed=0).states


def test_the_interpreter_runs_during_a_search() -> None:
    recommit.Sliding(5).prepare()

    def search(size: int) -> object:
        return recommit.Sliding(5).solve(HARD, recommit.Limits(nodes=200_000 * size), threads=1)

    assert goes_on(search, tries=16)  # the last would search for some four minutes
    assert not goes_on(holder(), tries=3)


def test_two_threads_solve_at_once() -> None:
    levels = recommit.Sokoban(8, boxes=2).generate(40, seed=9)
    boards = recommit.Sliding(4).generate(40, seed=9, length=(16, 30))
    wrong: list[str] = []

    def work() -> None:
        for _ in range(10):
            if not np.array_equal(recommit.Sokoban().distance(levels.states, threads=2), levels.length):
                wrong.append("sokoban")
            if not np.array_equal(recommit.Sliding(4).solve(boards.states, threads=2).length, boards.length):
                wrong.append("sliding")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def one_of_each() -> Callable[[], object]:
    """Each call solves ten states: by table, by pattern search, by Sokoban search, random ties included."""
    levels = recommit.Sokoban(7, boxes=2).generate(4, seed=1).states
    big = recommit.Sokoban((12, 12), 8).generate(1, seed=4, generator="reverse").states
    boards = recommit.Sliding(4).generate(4, seed=1, length=(10, 20)).states
    few = recommit.Limits(nodes=20, bytes=1 << 20)

    def call() -> None:
        recommit.Sokoban().solve(levels, ties="random", threads=1)
        recommit.Sokoban().solve(big, few, threads=1)
        recommit.Sliding(4).solve(boards, threads=2)
        recommit.Sliding(3).distance(boards[:1, :3, :3] * 0 + np.arange(9, dtype=np.uint8).reshape(1, 3, 3), threads=1)

    return call


@needs_proc
@pytest.mark.parametrize("calls", [200, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_solving_keeps_nothing(calls: int, record_property: Callable[[str, object], None]) -> None:
    assert growth(calls, one_of_each(), warm=calls // 10) < 2**20
    record_property("executed", 10 * calls)


@needs_proc
def test_a_leak_is_noticed() -> None:
    assert growth(40, leak(), warm=4) > 2**24
