"""Levels from anywhere, each with the plan that its puzzle gives."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import recommit
from recommit.puzzles.solver import letters, solve_all, totals

TEXT = "#####\n#@$.#\n#####\n\n######\n#@ $.#\n######\n\n#####\n#@$ #\n#####\n".replace("@$ ", "@$.")


def test_a_file_and_its_text_have_one_answer_per_level(tmp_path):
    (tmp_path / "levels.txt").write_text(TEXT)
    of_file, of_text = recommit.solve(tmp_path / "levels.txt"), recommit.solve(TEXT)
    assert of_file == of_text == recommit.solve(str(tmp_path / "levels.txt"))
    assert [each.letters for each in of_file] == ["R", "rR", "R"]
    assert [each.length for each in of_file] == [1, 2, 1]


@pytest.mark.parametrize("task", [recommit.Sliding(3), recommit.Sokoban(7, 1), recommit.Ice(7)], ids=lambda t: t.task)
def test_instances_batches_lists_and_single_states_agree(task):
    instances = task.generate(4, seed=2)
    answers = recommit.solve(instances)
    plans = task.solve(instances.states)
    assert [list(each.actions) for each in answers] == [plans[i].tolist() for i in range(4)]
    assert [each.title for each in answers] == instances.ids
    for form in (instances.states, list(instances.states), instances.states.tolist()):
        assert [each.actions for each in recommit.solve(form)] == [each.actions for each in answers]
    for single in (instances[1], instances.states[1], instances.states[1].tolist()):
        answer = recommit.solve(single)
        assert (answer.task, answer.actions) == (task.task, answers[1].actions)


def test_grids_of_several_sizes_keep_their_order():
    grids = [recommit.Sliding(n).generate(1, seed=n).states[0] for n in (2, 3, 2)]
    expected = [recommit.Sliding(n).distance(grid) for n, grid in zip((2, 3, 2), grids, strict=True)]
    assert [each.length for each in recommit.solve(grids)] == expected


def test_what_cannot_be_solved_says_so():
    state = np.array([[1, 1, 1, 1, 1, 1], [1, 3, 5, 0, 2, 1], [1, 1, 1, 1, 1, 1]], np.uint8)
    answer = recommit.solve(state)
    assert (answer.status, answer.length, answer.actions) == (recommit.Status.UNSOLVABLE, recommit.UNSOLVABLE, ())


def test_letters_are_upper_case_where_a_box_moves() -> None:
    state = recommit.parse_levels("######\n#@ $.#\n######\n")[0]
    assert letters(recommit.Sokoban(), state, np.array([3, 3], np.uint8)) == "rR"
    done = recommit.parse_levels("#####\n#@* #\n#####\n")[0]
    assert letters(recommit.Sokoban(), done, np.array([], np.uint8)) == ""
    board = np.array([[1, 2], [0, 3]], np.uint8)
    assert letters(recommit.Sliding(2), board, np.array([3], np.uint8)) == "r"


@pytest.mark.parametrize("plan", [[3], [3, 3, 3], [0, 3], []], ids=str)
def test_a_plan_that_does_not_end_at_the_goal_is_noticed(plan: list[int]) -> None:
    state = recommit.parse_levels("######\n#@ $.#\n######\n")[0]
    with pytest.raises(AssertionError, match="goal"):
        letters(recommit.Sokoban(), state, np.array(plan, np.uint8))


LEVELS = """\
#####
#@$.#
#####

#####
#$  #
# @ #
#  .#
#####

######
#    #
# $$ #
# .. #
#  @ #
######

#####
#@*.#
#$  #
#####
"""


def test_answers_come_in_order_while_others_work() -> None:
    levels = recommit.parse_levels(LEVELS)
    told: list[int] = []
    solved = list(solve_all("sokoban", list(levels), levels.titles, threads=4, tell=lambda n, _: told.append(n)))
    assert [level.length for level in solved] == [1, -1, 9, -1]
    assert told == sorted(told)
    assert totals(solved)["exact"] == 2


def test_leaving_the_loop_stops_the_workers() -> None:
    hard, before = recommit.Sliding(5).generate(1, seed=0).states[0], threading.active_count()
    for level in solve_all("sliding", [np.array([[1, 2], [3, 0]], np.uint8), hard], ["", ""], threads=2):
        assert level.length == 0
        break
    assert threading.active_count() <= before, "a search that nobody waits for would go on for hours"
