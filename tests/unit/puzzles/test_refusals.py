"""Wrong arguments of puzzles are refused by name, with both values, before anything happens."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.drawing import levels

import recommit

BOARD = np.array([[[1, 2, 3], [4, 5, 6], [7, 0, 8]]], np.uint8)
LEVEL = np.array([[[1, 1, 1, 1, 1], [1, 5, 3, 2, 1], [1, 1, 1, 1, 1]]], np.uint8)
CAVE = np.array([[[1, 1, 1, 1], [1, 3, 2, 1], [1, 1, 1, 1]]], np.uint8)
SLIDING, SOKOBAN, ICE = recommit.Sliding(3), recommit.Sokoban(5, 1), recommit.Ice()
RIGHT = np.array([3], np.uint8)
FILE = recommit.parse_levels("#####\n#@$.#\n#####\n").states

#: Of every batched call: task, states.
BATCHES = [
    (lambda t, _: t.is_solved("#"), "states: expected a numpy array, got str"),
    (lambda t, _: t.is_solved(t.generate(1)), "states: expected a numpy array, got Instances; take its .states"),
    (lambda t, s: t.is_solved((s / 2).tolist()), "states: expected dtype uint8, got float64"),
    (lambda t, _: t.is_solved([[[256]]]), "states: expected cell codes 0..255, got 256"),
    (lambda t, _: t.is_solved([[1, 2], [3]]), "states: expected grids of one size"),
    (
        lambda t, s: t.is_solved(s.astype(np.int64)),
        "states: expected dtype uint8, got int64; take states.astype(np.uint8)",
    ),
    (lambda t, s: t.is_solved(s[0, 0]), "states: expected 3 dimensions [N, rows, columns]"),
    (lambda t, s: t.is_solved(s[:, :, ::-1]), "states: expected a C-contiguous array"),
    (lambda t, s: t.is_solved(np.ma.masked_array(s, s == 1)), "states: expected an array without a mask"),
    (lambda t, s: t.is_solved(s * 0 + 200), "states: expected"),
    (lambda t, s: t.step(s, np.array([-1])), "actions: expected values 0..3, got -1"),
    (lambda t, s: t.step(s, np.array([2**64 - 1], np.uint64)), "0..3, got 18446744073709551615"),
    (lambda t, s: t.step(s, np.array([np.nan])), "actions: expected an integer dtype, got float64"),
    (lambda t, s: t.step(s, RIGHT.repeat(2)), "actions: expected shape (1,), got (2,)"),
    (lambda t, s: t.step(s, np.array([256], ">i2")), "actions: expected native byte order, got dtype >i2"),
    (lambda t, s: t.step(s, np.zeros(9, np.uint8)[1:].view(np.int64)), "expected an aligned array"),
    (lambda t, s: t.step(s, RIGHT, threads=0), "threads: expected 1..1024 or None, got 0"),
    (lambda t, s: t.step(s, RIGHT, threads=np.float32(1.9)), "1..1024 or None, got float32"),
    (lambda t, s: t.execute(s, RIGHT[None], np.array([2])), "depths: expected values 0..1, got 2"),
    (lambda t, s: t.execute(s, RIGHT[None], np.array([1, 1])), "depths: expected shape (1,), got (2,)"),
    (lambda t, s: t.execute(s, np.array([[3, 4]]), np.array([2])), "got 4 for state 0"),
    (lambda t, s: t.execute(s, RIGHT, np.array([1])), "actions: expected shape (1, any), got (1,)"),
    (lambda t, s: t.render(s, 3), "cell: expected 4..112, got 3"),
    (lambda t, s: t.render(s, 28.0), "cell: expected an integer, got float"),
    (lambda t, s: t.render(s, theme="pink"), "theme: expected light or dark, got pink"),
    (lambda t, s: t.render(s, crop=1), "crop: expected a bool, got int"),
    (lambda t, s: t.render(s, out=np.zeros((1, 1, 1, 4), np.uint8)), "out: expected shape"),
    (lambda t, s: t.render(s, out=t.render(s).astype(np.float32)), "out: expected dtype uint8, got float32"),
    (lambda t, s: t.render(s, out=t.frames(s).images), "out: expected a writable array"),
    (lambda t, s: t.frames(s).update(s.repeat(2, 0)), "states: expected shape (1, "),
    (
        lambda t, _: t.decode(np.zeros((1, 85, 85, 3), np.uint8)),
        "expected shape (N, rows * 28, columns * 28, 3)",
    ),
    (lambda t, s: t.decode(t.render(s), theme="dark"), "in image 0 at row 0, column 0"),
    (lambda t, s: t.patches(s, dtype="float16"), "dtype: expected float32 or bfloat16, got float16"),
    (lambda t, s: t.distance(s, 3), "limit: expected Limits or None, got int"),
    (lambda t, s: t.solve(s, seed=-1), "seed: expected 0..9223372036854775807, got -1"),
    (lambda t, s: t.solve(s, ties="any"), "ties: expected first or random, got any"),
    (lambda t, _: t.generate(2**31), "count: expected 0.."),
    (lambda t, _: t.generate(1, length=(9, 8)), "(shortest, longest) in this order, got (9, 8)"),
    (lambda t, _: t.generate(1, length=(3,)), "length: expected one number or two"),
    (lambda t, _: t.generate(3)[::2], "expected a slice with step 1, got step 2"),
    (lambda t, _: t.prepare("huge"), "database: expected small"),
]
OTHERS = [
    (lambda: recommit.Limits(nodes=0.5), "nodes: expected an integer, got float"),
    (lambda: recommit.Limits(bytes=0), "bytes: expected 1..18446744073709551615, got 0"),
    (lambda: recommit.Limits(seconds=0), "seconds: expected more than 0, got 0"),
    (lambda: recommit.Sliding(6), "rows: expected 2..5, got 6"),
    (lambda: recommit.Sliding("3"), "rows: expected an integer, got str"),
    (lambda: recommit.Sokoban((8, 8, 8)), "size: expected one number or two, got (8, 8, 8)"),
    (lambda: recommit.Sokoban(size=65), "size: expected 4..64, got 65"),
    (lambda: recommit.Sokoban(boxes=0), "boxes: expected 1..1024, got 0"),
    (lambda: recommit.Sokoban(5, 8).generate(1, generator="reverse"), "boxes: expected 1..7 in levels of 5 by 5 cells"),
    (lambda: SOKOBAN.generate(1, generator="x"), "expected rooms, reverse or boxoban, got x"),
    (
        lambda: SOKOBAN.generate(1, length=60),
        "none of 4096 layouts of 5 by 5 cells with 1 box has",
    ),
    (lambda: SLIDING.generate(1, length=32), "32"),
    (lambda: SLIDING.generate(1, generator="walk"), "length: expected one for a generator that walks, got None"),
    (lambda: SLIDING.generate(1, generator="walk", length=(32, 40)), "expected 1..31 for 3x3 boards, got 32..40"),
    (lambda: recommit.Ice(4).generate(1, length=9), "none of 16384 caves of 4 by 4 cells has a start of length 9..9"),
    (lambda: SLIDING.is_solved(np.zeros((1, 4, 4), np.uint8)), "expected boards of 3x3, got 4x4"),
    (lambda: SLIDING.distance(BOARD * 0), "every tile 0..8 exactly once"),
    (lambda: SOKOBAN.step(LEVEL * 0, RIGHT), "expected exactly one player, got 0 in state 0"),
    (lambda: SOKOBAN.step(np.concatenate([LEVEL, LEVEL * 0 + 5]), 0), "expected exactly one player, got 15 in state 1"),
    (lambda: SOKOBAN.is_solved(np.zeros((1, 65, 2), np.uint8)), "levels of 1..64 by 1..64 cells, got 65 by 2"),
    (lambda: ICE.distance(CAVE * (CAVE != 2)), "expected exactly one goal, got 0 in state 0"),
    (lambda: SLIDING.render(BOARD, crop=True), "crop: expected False for sliding boards"),
    (lambda: SOKOBAN.render(levels(7, 7, 1, walled=False), crop=True), "crop: expected an outer ring"),
    (lambda: SOKOBAN.render(LEVEL[:, 1:].copy(), crop=True), "crop: expected at least 3 by 3"),
    (lambda: ICE.render(CAVE * (CAVE != 1), crop=True), "crop: expected an outer ring of rocks, got code"),
    (lambda: SLIDING.decode(recommit.Sliding(4).render(recommit.Sliding(4).legend()[0])), "boards of 3x3, got 4x4"),
    (
        lambda: SOKOBAN.decode(SOKOBAN.render(LEVEL)[:, :, :28].copy()),
        "expected one player, got none in image 0",
    ),
    (lambda: SLIDING.patches(BOARD, out=np.zeros((1, 2), np.float32)), "out: expected shape (36, 1176), got (1, 2)"),
    (lambda: recommit.Sliding(2).patches([[1, 2], [0, 3]], 14), "pictures of 3136..12845056 pixels, which"),
    (lambda: recommit.solve(3), "levels: expected a file, levels, a state or several"),
    (lambda: recommit.puzzles.registry.puzzle("chess"), "task: expected one of sliding, sokoban, ice, got 'chess'"),
    (lambda: recommit.theory.u_star(1.5), "alpha: expected values in (0, 1), got 1.5"),
]
#: What cannot be read back as the same levels: states and options of ``write_levels``.
UNWRITABLE = [
    (FILE.astype(np.int64), {}, "states[0]: expected an array of dtype uint8, got dtype int64"),
    (FILE[0], {}, "states[0]: expected 2 dimensions [rows, columns], got shape (5,)"),
    (FILE[:0], {}, "states: expected at least one level, got none"),
    (np.ones((1, 65, 5), np.uint8), {}, "expected values 0..64, got 65"),
    (np.ones((1, 3, 3), np.uint8), {}, "exactly one player, got 0 in state 0"),
    (FILE * (FILE != 3), {}, "states[0]: expected at least one box and as many goals, got 0 boxes and 1"),
    (FILE * (FILE != 1), {}, "states[0]: expected walls (1) all around, got 0 at row 0, column 0"),
    (np.full((1, 3, 3), 2, np.uint8), {"task": "sliding"}, "every tile 0..8 exactly once"),
    (FILE, {"task": "chess"}, "task: expected one of ice, "),
    (FILE, {"format": "sok"}, "format: expected xsb, boxoban or plain, got 'sok'"),
    (FILE, {"titles": []}, "titles: expected one for each level, 1, got 0"),
    (FILE, {"titles": [3]}, "titles[0]: expected str, got int"),
    (FILE, {"titles": ["a\nb"]}, "titles[0]: expected one line without control characters"),
    (FILE, {"titles": ["\ud800"]}, "titles[0]: expected text, got a lone surrogate"),
    (FILE, {"titles": ["x" * 5000]}, "titles[0]: expected at most 4089 bytes, got 5000"),
    (FILE, {"titles": ["a"], "format": "boxoban"}, "titles[0]: expected a number"),
]


@pytest.mark.parametrize("name", ["sliding", "sokoban", "to_the_end"])
def test_batches(name):
    task, states = (SLIDING, BOARD) if name == "sliding" else (SOKOBAN, LEVEL)
    task = task.to_the_end() if name == "to_the_end" else task
    before = states.copy()
    refused(((lambda call=call: call(task, states)), message) for call, message in BATCHES)
    assert np.array_equal(states, before)


def test_other_arguments():
    refused(OTHERS)


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("kept")
    refused(
        ((lambda s=states, o=options: recommit.write_levels(path, s, **o)), message)
        for states, options, message in UNWRITABLE
    )
    assert path.read_text() == "kept"
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.txt"]
