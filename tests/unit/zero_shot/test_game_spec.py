"""Games by split: those of data sets of the same recipe, alike in every process."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task": "chess"}, "task: expected one of sliding, sokoban, ice, got 'chess'"),
        ({"size": (3, 3, 3)}, "size: expected one or two numbers, got 3"),
        ({"budget": 65}, "budget: expected 1..64, got 65"),
        ({"count": 0}, "count: expected at least 1, got 0"),
        ({"cell": 3}, "cell: expected 4..112, got 3"),
        ({"task": "ice", "moves": "tile"}, "moves: expected blank, or tile for sliding, got tile for ice"),
    ],
)
def test_what_makes_no_games_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        GameSpec(**fields)


def test_splits_and_places_are_checked():
    with pytest.raises(ValueError, match="split: expected one of train, validation, test, got 'dev'"):
        SPEC.starts("dev")
    with pytest.raises(IndexError, match=r"index: expected 0\.\.15, got 16"):
        SPEC.game("test", 16)
    with pytest.raises(ValueError, match="state: expected rows of cells, got 1"):
        SPEC.of_state([1, 2, 3])
    for strange in ([[300]], [[-1]], [[1.5]], [["a"]], [[2**70]], [[]]):
        with pytest.raises(ValueError, match=r"state: expected (cells 0\.\.255|rows of cells), got"):
            SPEC.of_state(strange)
