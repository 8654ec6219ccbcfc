"""The sliding solver against breadth-first search in plain Python, and its promises about limits, ties and batches."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from tests.reference import sliding as reference

import recommit

SHAPES = [(2, 2), (2, 3), (3, 2), (2, 4), pytest.param((3, 3), marks=pytest.mark.nightly)]
#: Too few bytes for the complete table of 3x3, enough for the search that takes its place.
SEARCH_ONLY = recommit.Limits(bytes=1_060_000)


def grids(boards: list[reference.Board], rows: int, cols: int) -> np.ndarray:
    return np.array(boards, np.uint8).reshape(-1, rows, cols)


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def known(request: pytest.FixtureRequest) -> tuple[int, int, dict[reference.Board, int]]:
    rows, cols = request.param
    return rows, cols, reference.distances(rows, cols)


@pytest.fixture(scope="module")
def near() -> dict[reference.Board, int]:
    """Every 4x4 board within ten actions of the goal."""
    return reference.distances(4, 4, 10)


def test_every_distance(known: tuple[int, int, dict[reference.Board, int]]) -> None:
    """By table and, where there is one beside the table, by search; of boards without a way to the goal, too."""
    rows, cols, table = known
    boards = list(permutations(range(rows * cols)))
    expected = [table.get(board, recommit.UNSOLVABLE) for board in boards]
    for limits in (recommit.Limits(), SEARCH_ONLY) if (rows, cols) == (3, 3) else (recommit.Limits(),):
        found = recommit.Sliding(rows, cols).distance(grids(boards, rows, cols), limits)
        assert found.dtype == np.int32
        assert found.tolist() == expected
    sizes = recommit._core.sliding.layer_sizes(rows, cols)
    assert sizes == np.bincount(list(table.values())).tolist()


def test_first_plans_and_optimal_actions(known: tuple[int, int, dict[reference.Board, int]]) -> None:
    rows, cols, table = known
    boards = list(table)[:: 1 + len(table) // 500]
    task, states = recommit.Sliding(rows, cols), grids(boards, rows, cols)
    solutions = task.solve(states)
    for i, board in enumerate(boards):
        assert solutions[i].tolist() == reference.first_plan(board, rows, cols, table)
    masks = task.optimal_actions(states)
    assert masks.tolist() == [list(reference.optimal_actions(board, rows, cols, table)) for board in boards]


def test_4x4_near_the_goal(near: dict[reference.Board, int]) -> None:
    boards = [board for board, distance in near.items() if distance < 10]
    task, states = recommit.Sliding(4), grids(boards, 4, 4)
    solutions = task.solve(states)
    assert solutions.length.tolist() == [near[board] for board in boards]
    assert (solutions.bound == solutions.length).all()
    for i, board in enumerate(boards):
        assert solutions[i].tolist() == reference.first_plan(board, 4, 4, near)
    masks = task.optimal_actions(states)
    assert masks.tolist() == [list(reference.optimal_actions(board, 4, 4, near)) for board in boards]


@pytest.mark.parametrize("size", [3, 4])
def test_random_ties_are_optimal_and_vary(size: int) -> None:
    task = recommit.Sliding(size)
    states = task.generate(40, seed=3, length=(16, 22)).states
    plans = [task.solve(states, ties="random", seed=seed) for seed in (1, 1, 2)]
    assert np.array_equal(plans[0].actions, plans[1].actions)
    assert not np.array_equal(plans[0].actions, plans[2].actions)
    for each in plans:
        assert np.array_equal(each.length, task.distance(states))
        for i, state in enumerate(states):
            plan = each[i]
            outcome = task.execute(state[None], plan[None], np.array([len(plan)]))
            assert outcome.solved.all()
            assert outcome.moved[0] == len(plan) == each.length[i]


def test_unsolvable() -> None:
    for size in (3, 4, 5):
        board = np.roll(np.arange(size * size, dtype=np.uint8), -1).reshape(1, size, size)
        board[0, 0, :2] = board[0, 0, 1::-1].copy()
        task = recommit.Sliding(size)
        assert task.distance(board).tolist() == [recommit.UNSOLVABLE]
        assert task.solve(board).status.tolist() == [recommit.Status.UNSOLVABLE]
        assert not task.optimal_actions(board).any()


def test_a_limit_gives_unknown_with_a_proven_bound() -> None:
    task = recommit.Sliding(4)
    states = task.generate(20, seed=2).states
    exact = task.distance(states)
    some = task.solve(states, recommit.Limits(nodes=500))
    hit = some.length == recommit.UNKNOWN
    assert hit.any()
    assert (some.nodes <= 500).all()
    assert (some.bound <= exact).all()
    assert np.array_equal(some.length[~hit], exact[~hit])
    assert set(some.status[hit].tolist()) == {recommit.Status.NODE_LIMIT}
