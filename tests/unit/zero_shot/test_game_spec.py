"""Games by split: those of data sets of the same recipe, alike in every process."""

from __future__ import annotations

import numpy as np
from tests.refusals import refused

from recommit.data import held_out
from recommit.data.spec import SPLITS
from recommit.zero_shot.game_spec import GameSpec

SPEC = GameSpec("sliding", (3,), length=(8, 12), count=16)


def test_the_test_games_are_those_of_evaluations():
    drawn = held_out.starts(SPEC.data, "test", 16, ())
    assert np.array_equal(SPEC.starts("test").states, drawn.states)
    assert SPEC.ids("test")[0] == f"sliding/3x3:8..12/0/{drawn.number[0]}"


def test_splits_share_no_start():
    seen = {split: {state.tobytes() for state in SPEC.starts(split).states} for split in SPLITS}
    assert not seen["train"] & seen["test"]
    assert not seen["validation"] & seen["test"]
    assert len(seen["test"]) == 16


def test_games_begin_where_their_instances_do():
    assert np.array_equal(SPEC.game("test", 3).state, SPEC.starts("test").states[3])
    assert SPEC.of_state([[1, 2], [0, 3]]).distance == 1


def test_what_makes_no_games_is_refused():
    rows = [
        (lambda: GameSpec(task="chess"), "task: expected one of sliding, sokoban, ice, got 'chess'"),
        (lambda: GameSpec(size=(3, 3, 3)), "size: expected one or two numbers, got 3"),
        (lambda: GameSpec(budget=65), "budget: expected 1..64, got 65"),
        (lambda: GameSpec(count=0), "count: expected at least 1, got 0"),
        (lambda: GameSpec(cell=3), "cell: expected 4..112, got 3"),
        (lambda: GameSpec(task="ice", moves="tile"), "moves: expected blank, or tile for sliding, got tile for ice"),
        (lambda: GameSpec(view="sound"), "view: expected one of image, text, got 'sound'"),
        (lambda: SPEC.starts("dev"), "split: expected one of train, validation, test, got 'dev'"),
        (lambda: SPEC.game("test", 16), "index: expected 0..15, got 16"),
        (lambda: SPEC.of_state([1, 2, 3]), "state: expected rows of cells, got 1"),
        *(
            (lambda s=s: SPEC.of_state(s), "state: expected ")
            for s in ([[300]], [[-1]], [[1.5]], [["a"]], [[2**70]], [[]])
        ),
    ]
    refused(rows, ValueError, IndexError)
