"""What decides about splits: keys that all images of a state share, and regions of the sliding
puzzle against plain Python: which boards shortest paths pass six actions before the goal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.reference import sliding

import recommit
from recommit.data import assignment
from recommit.data.spec import DataSpec, Difficulty
from recommit.puzzles.sliding import Sliding


def transposed(boards):
    """A board mirrored at its diagonal, every tile renamed by where its goal goes."""
    n = boards.shape[1]
    names = {0: 0, **{r * n + c + 1: c * n + r + 1 for r in range(n) for c in range(n)}}
    return np.array([[[names[int(b[c][r])] for c in range(n)] for r in range(n)] for b in boards], np.uint8)


def test_sliding_keys():
    boards = recommit.Sliding(3).generate(3000, seed=1).states
    keys = assignment.keys("sliding", boards)
    assert np.array_equal(keys, assignment.keys("sliding", transposed(boards)))
    classes = {min(b.tobytes(), m.tobytes()) for b, m in zip(boards, transposed(boards), strict=True)}
    assert len(set(keys.tolist())) == len(classes)
    share = np.bincount(assignment.buckets(np.unique(keys)), minlength=16) / len(classes)
    assert (abs(share - 1 / 16) < 0.02).all()


def test_sokoban_keys():
    levels = recommit.Sokoban(7, 2).generate(500, seed=1).states
    keys = assignment.keys("sokoban", levels)
    for image in (levels[:, ::-1], levels[:, :, ::-1], levels.transpose(0, 2, 1), np.rot90(levels, axes=(1, 2))):
        assert np.array_equal(keys, assignment.keys("sokoban", np.ascontiguousarray(image)))
    padded = np.ones((500, 9, 10), np.uint8)
    padded[:, 1:8, 2:9] = levels
    assert np.array_equal(keys, assignment.keys("sokoban", padded))
    assert len(set(keys.tolist())) > 490
    apart = DataSpec("sokoban", (9, 10), (Difficulty((2, 9), 2),), count=1, disjoint="layouts")
    turned = np.ones((500, 9, 10), np.uint8)
    turned[:, 1:8, 2:9] = levels.transpose(0, 2, 1)
    assert np.array_equal(assignment.split_keys(apart, padded), assignment.split_keys(apart, turned)), "in any grid"


@pytest.fixture(params=[1 << 16, 200], ids=["from the goal", "walked"])
def few(request, monkeypatch):
    """All boards of the test are in the table, or those near the goal."""
    monkeypatch.setattr(assignment, "_FEW", request.param)
    assignment._table.cache_clear()
    yield
    assignment._table.cache_clear()


@pytest.mark.usefixtures("few")
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
    near = [board for board, distance in table.items() if distance < 6]
    assert not regions(puzzle, near).any()
    lost = [(*board[:2][::-1], *board[2:]) for board in boards if 0 not in board[:2]]
    spec = DataSpec("sliding", shape, (Difficulty((6, 7)),), count=1, disjoint="regions")
    states = np.array(boards + near + lost, np.uint8).reshape(-1, *shape)
    # Buckets 0 and 1 are for testing and validation.
    trained = [bits & 0b11 == 0 and table[board] <= 7 + 6 for board, bits in zip(boards, expected, strict=True)]
    assert assignment.learnable(spec, states).tolist() == trained + [True] * len(near) + [False] * len(lost)
    assert 0 < sum(trained) < len(boards)
    assert assignment.learnable(replace(spec, disjoint="starts"), states).all()


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
