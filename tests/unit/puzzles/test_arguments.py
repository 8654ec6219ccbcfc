"""Every wrong argument of a batched call is refused by name, with both values, before anything happens."""

from __future__ import annotations

import numpy as np
import pytest

import recommit

BOARD = np.array([[[1, 2, 3], [4, 5, 6], [7, 0, 8]]], np.uint8)
LEVEL = np.array([[[1, 1, 1, 1, 1], [1, 5, 3, 2, 1], [1, 1, 1, 1, 1]]], np.uint8)
SLIDING = recommit.Sliding(3)
SOKOBAN = recommit.Sokoban(5, 1)
RIGHT = np.array([3], np.uint8)

WRONG = [
    (lambda t, _: t.is_solved("#"), TypeError, "states: expected a numpy array, got str"),
    (lambda t, s: t.is_solved((s / 2).tolist()), TypeError, "states: expected dtype uint8, got float64"),
    (lambda t, _: t.is_solved([[[256]]]), ValueError, "states: expected cell codes 0..255, got 256"),
    (lambda t, _: t.is_solved([[1, 2], [3]]), ValueError, "states: expected grids of one size"),
    (lambda t, s: t.is_solved(s.astype(np.int64)), TypeError, "states: expected dtype uint8, got int64"),
    (lambda t, s: t.is_solved(s[0, 0]), ValueError, "states: expected 3 dimensions [N, rows, columns]"),
    (lambda t, s: t.is_solved(s[:, :, ::-1]), ValueError, "states: expected a C-contiguous array"),
    (lambda t, s: t.is_solved(np.ma.masked_array(s, s == 1)), TypeError, "states: expected an array without a mask"),
    (lambda t, s: t.step(s, np.array([-1])), ValueError, "actions: expected values 0..3, got -1"),
    (lambda t, s: t.step(s, np.array([2**64 - 1], np.uint64)), ValueError, "0..3, got 18446744073709551615"),
    (lambda t, s: t.step(s, np.array([np.nan])), TypeError, "actions: expected an integer dtype, got float64"),
    (lambda t, s: t.step(s, RIGHT.repeat(2)), ValueError, "actions: expected shape (1,), got (2,)"),
    (lambda t, s: t.step(s, np.ma.masked_array(RIGHT)), TypeError, "actions: expected an array without a mask"),
    (lambda t, s: t.step(s, np.array([256], ">i2")), TypeError, "actions: expected native byte order, got dtype >i2"),
    (lambda t, s: t.step(s, np.zeros(9, np.uint8)[1:].view(np.int64)), ValueError, "expected an aligned array"),
    (lambda t, s: t.step(s, RIGHT, threads=0), ValueError, "threads: expected 1..1024 or None, got 0"),
    (lambda t, s: t.step(s, RIGHT, threads=np.float32(1.9)), TypeError, "1..1024 or None, got float32"),
    (lambda t, s: t.step(s, RIGHT, threads=2**70), ValueError, "1..1024 or None, got 1180591620717411303424"),
    (lambda t, s: t.execute(s, RIGHT[None], np.array([2])), ValueError, "depths: expected values 0..1, got 2"),
    (lambda t, s: t.execute(s, RIGHT[None], np.array([-1])), ValueError, "depths: expected values 0..1, got -1"),
    (lambda t, s: t.execute(s, RIGHT[None], np.array([1.0])), TypeError, "depths: expected an integer dtype"),
    (lambda t, s: t.execute(s, RIGHT[None], np.array([1, 1])), ValueError, "depths: expected shape (1,), got (2,)"),
    (lambda t, s: t.execute(s, np.array([[3, 4]]), np.array([2])), ValueError, "got 4 for state 0"),
    (lambda t, s: t.execute(s, RIGHT, np.array([1])), ValueError, "actions: expected shape (1, any), got (1,)"),
]


OTHER = [
    (lambda: SOKOBAN.distance(LEVEL, 3), TypeError, "limit: expected Limits or None, got int"),
    (lambda: recommit.Limits(nodes=0.5), TypeError, "nodes: expected an integer, got float"),
    (lambda: recommit.Limits(bytes=0), ValueError, "bytes: expected 1..18446744073709551615, got 0"),
    (lambda: recommit.Limits(seconds=0), ValueError, "seconds: expected more than 0, got 0"),
    (lambda: SLIDING.solve(BOARD, seed=-1), ValueError, "seed: expected 0..9223372036854775807, got -1"),
    (lambda: recommit.Sokoban((8, 8, 8)), ValueError, "size: expected one number or two, got (8, 8, 8)"),
    (lambda: SLIDING.generate(1, length=(3,)), ValueError, "length: expected one number or two"),
    (lambda: recommit.Sliding(6), ValueError, "rows: expected 2..5, got 6"),
    (lambda: recommit.Sliding(3, 1), ValueError, "cols: expected 2..5, got 1"),
    (lambda: recommit.Sliding("3"), TypeError, "rows: expected an integer, got str"),
    (lambda: recommit.Sokoban(size=65), ValueError, "size: expected 4..64, got 65"),
    (lambda: recommit.Sokoban(boxes=0), ValueError, "boxes: expected 1..1024, got 0"),
    (lambda: SLIDING.generate(2**31), ValueError, "count: expected 0..477218588, got 2147483648"),
    (lambda: SLIDING.generate(1, length=(9, 8)), ValueError, "(shortest, longest) in this order, got (9, 8)"),
    (lambda: SOKOBAN.generate(1, length=0), ValueError, "length: expected 1..254, got 0"),
    (lambda: SOKOBAN.generate(1, generator="x"), ValueError, "expected rooms, reverse or boxoban, got x"),
    (lambda: SLIDING.generate(3)[::2], ValueError, "expected a slice with step 1, got step 2"),
]


@pytest.mark.parametrize(("call", "kind", "message"), OTHER)
def test_plain_arguments_are_named(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("task", "states"),
    [(SLIDING, BOARD), (SOKOBAN, LEVEL), (SOKOBAN.to_the_end(), LEVEL)],
    ids=["sliding", "sokoban", "to_the_end"],
)
@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_wrong_argument(task, states, call, error, message):
    before = states.copy()
    with pytest.raises(error) as caught:
        call(task, states)
    assert message in str(caught.value)
    assert np.array_equal(states, before)


def test_other_kinds_of_arrays_are_taken(tmp_path):
    kept = np.memmap(tmp_path / "level", np.uint8, "w+", shape=LEVEL.shape)
    kept[:] = LEVEL
    assert SOKOBAN.is_solved(kept).tolist() == SOKOBAN.is_solved(LEVEL.view(np.recarray)).tolist() == [False]


def test_padding_behind_a_depth_is_not_judged():
    outcome = SOKOBAN.execute(LEVEL, np.array([[3, 255, 255]], np.uint8), np.array([1]))
    assert outcome.solved.tolist() == [True]
    assert outcome.executed.tolist() == [1]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (np.zeros((1, 3, 3), np.uint8), "every tile 0..8 exactly once"),
        (np.full((1, 3, 3), 200, np.uint8), "every tile 0..8 exactly once"),
        (np.zeros((1, 4, 4), np.uint8), "expected boards of 3x3, got 4x4"),
    ],
)
def test_boards_that_are_none(states, message):
    with pytest.raises(ValueError, match=message):
        SLIDING.is_solved(states)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[0, 0], [0, 0]], "expected exactly one player, got 0 in state 1"),
        ([[5, 6], [0, 0]], "expected exactly one player, got 2 in state 1"),
        ([[5, 7], [0, 0]], "expected cell codes 0..6, got 7 in state 1"),
        ([[5, 255], [0, 0]], "expected cell codes 0..6, got 255 in state 1"),
    ],
)
def test_levels_that_are_none(cells, message):
    fine = [[5, 0], [0, 0]]
    with pytest.raises(ValueError, match=message):
        SOKOBAN.step(np.array([fine, cells], np.uint8), np.array([0, 0]))


def test_levels_up_to_64_and_no_further():
    level = np.zeros((1, 64, 64), np.uint8)
    level[0, 63, 63] = 5
    assert SOKOBAN.step(level, np.array([3])).tolist() == level.tolist()
    with pytest.raises(ValueError, match=r"levels of 1..64 by 1..64 cells, got 65 by 2"):
        SOKOBAN.is_solved(np.zeros((1, 65, 2), np.uint8))


def test_empty_batches_are_fine():
    nothing = np.zeros((0, 3, 3), np.uint8)
    assert SLIDING.step(nothing, np.zeros(0, np.uint8)).shape == (0, 3, 3)
    assert len(SLIDING.generate(0)) == 0
