"""Below ``recommit solve``: letters, order and stopping."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import recommit
from recommit.puzzles.solving import SolveRequest, letters, solve_all, totals

LEVELS = """\
#####
#@$.#
#####
Title: one push

#####
#$  #
# @ #
#  .#
#####
Title: never

######
#    #
# $$ #
# .. #
#  @ #
######
Title: nine

#####
#@*.#
#$  #
#####
Title: unsolved corner
"""


def test_letters_are_upper_case_where_a_box_moves() -> None:
    state = recommit.parse_levels("######\n#@ $.#\n######\n")[0]
    assert letters(recommit.Sokoban(), state, np.array([3, 3], np.uint8)) == "rR"
    board = np.array([[1, 2], [0, 3]], np.uint8)
    assert letters(recommit.Sliding(2), board, np.array([3], np.uint8)) == "r"


@pytest.mark.parametrize("plan", [[3], [3, 3, 3], [0, 3], []], ids=str)
def test_a_plan_that_does_not_end_at_the_goal_is_noticed(plan: list[int]) -> None:
    state = recommit.parse_levels("######\n#@ $.#\n######\n")[0]
    with pytest.raises(AssertionError, match="goal"):
        letters(recommit.Sokoban(), state, np.array(plan, np.uint8))


def test_a_solved_level_has_an_empty_plan() -> None:
    state = recommit.parse_levels("#####\n#@* #\n#####\n")[0]
    assert letters(recommit.Sokoban(), state, np.array([], np.uint8)) == ""


def test_answers_come_in_order_while_others_work() -> None:
    levels = recommit.parse_levels(LEVELS)
    told: list[int] = []
    solved = list(
        solve_all("sokoban", list(levels), levels.titles, SolveRequest(threads=4), lambda n, _: told.append(n))
    )
    assert [level.index for level in solved] == [0, 1, 2, 3]
    assert told == sorted(told)
    assert totals(solved)["exact"] == 2


def test_leaving_the_loop_stops_the_workers() -> None:
    easy = recommit.parse_levels("#####\n#@$.#\n#####\n")[0]
    hard, before = recommit.Sliding(5).generate(1, seed=0).states[0], threading.active_count()
    for level in solve_all("sliding", [np.array([[1, 2], [3, 0]], np.uint8), hard], ["", ""], SolveRequest(threads=2)):
        assert level.index == 0
        break
    assert threading.active_count() <= before, "a search that nobody waits for would go on for hours"
    assert solve_all("sokoban", [easy], [""], SolveRequest()).__next__().length == 1
