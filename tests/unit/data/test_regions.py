"""Regions of the sliding puzzle against plain Python: which boards shortest paths pass six actions before the goal."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import sliding

from recommit.data import assignment
from recommit.puzzles.sliding import Sliding


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 4)])
def test_a_board_has_the_buckets_of_all_its_ways(shape):
    puzzle, table = Sliding(*shape), sliding.distances(*shape, levels=14)
    gates = [board for board, distance in table.items() if distance == 6]
    bit = dict(zip(gates, regions(puzzle, gates).tolist(), strict=True))
    boards = [board for board, distance in table.items() if distance >= 6]
    some = np.random.default_rng(0).choice(len(boards), 400, replace=False)
    boards = [boards[i] for i in some]
    expected = [
        int(np.bitwise_or.reduce([bit[way] for way in sliding.ways(board, *shape, table, 6)])) for board in boards
    ]
    assert regions(puzzle, boards).tolist() == expected
    assert max(map(int.bit_count, expected)) > 1  # some come by several
    assert not regions(puzzle, [board for board, distance in table.items() if distance < 6]).any()


@pytest.mark.parametrize("shape", [(3, 3), (4, 4)])
def test_gates_take_turns_and_images_go_together(shape):
    gates = [board for board, distance in sliding.distances(*shape, levels=6).items() if distance == 6]
    states = np.array(gates, np.uint8).reshape(-1, *shape)
    own, images = (regions(Sliding(*shape), image) for image in Sliding.images(states))
    np.testing.assert_array_equal(own, images)
    classes = dict(zip(assignment.keys("sliding", states).tolist(), own.tolist(), strict=True))
    many = np.bincount(np.log2(list(classes.values())).astype(int), minlength=16)
    assert many.max() - many.min() <= 1
    assert many[0] >= 2  # for tests


def regions(puzzle, boards):
    states = np.ascontiguousarray(np.array(boards, np.uint8).reshape(-1, *puzzle.shape))
    return assignment.regions(puzzle, states)
