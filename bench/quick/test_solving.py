"""Exact distances and optimal plans per second, against what plain Python, the generator or the source says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.answers import group
from bench.plain import yardstick
from tests.reference import sliding, sokoban

import recommit

if TYPE_CHECKING:
    from bench.conftest import Timed

pytestmark, test_plain_python = group("solving"), yardstick
BENCH = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("RECOMMIT_SHARED", BENCH.parents[1] / "shared"))


def test_distances_of_3x3_boards(timed: Timed) -> None:
    task = recommit.Sliding(3)
    boards = task.generate(100_000, seed=1, length=(1, 10)).states
    lengths = timed(lambda: task.distance(boards, threads=1), len(boards))
    table = sliding.distances(3, 3, 10)
    assert lengths.tolist() == [table[tuple(map(int, board))] for board in boards.reshape(-1, 9)]


def test_plans_of_4x4_boards(timed: Timed) -> None:
    task = recommit.Sliding(4)
    instances = task.generate(200, seed=2, length=(20, 30))
    lengths, actions = timed(lambda: _plans(task, instances.states), len(instances.states))
    assert np.array_equal(lengths, instances.length)
    for board, plan in zip(instances.states, actions, strict=True):
        outcome = task.execute(board[None], plan[None], np.array([len(plan)], np.int32))
        assert outcome.solved.all()


def _plans(task: recommit.Puzzle, states: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    plans = task.solve(states, threads=1)
    return plans.length, [plans[i] for i in range(len(states))]


def test_korf_instances(timed: Timed) -> None:
    """Fifty boards of 4x4 whose lengths were published."""
    path = SHARED / "data" / "korf50.txt"
    if not path.is_file():
        pytest.skip(f"Korf's instances are not in {path.parent}")
    rows = np.loadtxt(path, dtype=np.int64)
    boards = np.ascontiguousarray(rows[:, 2:].astype(np.uint8).reshape(-1, 4, 4))
    task = recommit.Sliding(4)
    assert np.array_equal(timed(lambda: task.solve(boards, threads=1).length, len(boards)), rows[:, 1])


def test_distances_of_levels(timed: Timed) -> None:
    """Every arrangement in one small room, whose table is there."""
    grid = sokoban.random_grid(np.random.default_rng(3), 7, 6, 2, 0.1)
    level = sokoban.Level(grid)
    states = level.states()
    drawn, task = np.tile(level.draw(states), (8, 1, 1)), recommit.Sokoban(6, 2)
    lengths = timed(lambda: task.distance(drawn, threads=1), len(drawn))
    table = sokoban.distances(level, states)
    assert lengths.tolist() == [table.get(state, recommit.UNSOLVABLE) for state in states] * 8


def test_small_levels_by_hand(timed: Timed) -> None:
    """The first of them, whose fewest actions are known; tables and search both."""
    levels = recommit.read_levels(BENCH / "solving" / "sokoban_small.txt")
    rows = [line.split() for line in (BENCH / "solving" / "sokoban_small.moves").read_text("utf-8").splitlines()[1:]]
    optimal = {int(index): int(length) for index, length in rows if int(length) <= 80}
    task, chosen = recommit.Sokoban(), list(optimal)[:12]

    def solved() -> list[int]:
        return [int(task.solve(levels[i][None], threads=1).length[0]) for i in chosen]

    assert timed(solved, len(chosen)) == [optimal[i] for i in chosen]


@pytest.mark.parametrize("how", ["in one call", "cell by cell"])
def test_optimal_actions_everywhere(timed: Timed, how: str) -> None:
    """For the player on every cell of 10x10 levels with four boxes, whose tables are there; items are cells."""
    task = recommit.Sokoban(10, 4)
    states = task.generate(12, seed=1, length=(8, 60), generator="reverse").states
    floor = [np.argwhere((state == 0) | (state == 2) | (state >= 5)) for state in states]
    asked = []
    for state, cells in zip(states, floor, strict=True):
        still = np.where(state == 5, 0, np.where(state == 6, 2, state)).astype(np.uint8)
        moved = np.repeat(still[None], len(cells), axis=0)
        moved[(np.arange(len(cells)), *cells.T)] = np.where(still[tuple(cells.T)] == 0, 5, 6)
        asked.append(moved)
    one_by_one = np.concatenate(asked)
    expected = task.optimal_actions(one_by_one, threads=1)
    if how == "cell by cell":
        found = timed(lambda: task.optimal_actions(one_by_one, threads=1), len(one_by_one))
    else:
        found = timed(lambda: task.optimal_actions_everywhere(states, threads=1), len(one_by_one))
        found = np.concatenate([found[i][tuple(cells.T)] for i, cells in enumerate(floor)])
    assert np.array_equal(found, expected)
