"""Levels from anywhere, each with the plan that its puzzle gives."""

from __future__ import annotations

import numpy as np
import pytest

import recommit
from recommit.puzzles import solver

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


@pytest.mark.parametrize("wrong", [3, None, np.zeros((2, 2, 2, 2), np.uint8)], ids=["number", "nothing", "too deep"])
def test_what_is_no_level_is_refused(wrong):
    with pytest.raises(TypeError, match="levels: expected a file, levels, a state or several"):
        recommit.solve(wrong)


def test_a_plan_in_letters_is_replayed_first():
    state = np.array([[1, 2, 3], [4, 5, 6], [7, 0, 8]], np.uint8)
    assert solver.letters(recommit.Sliding(3), state, np.array([3], np.uint8)) == "r"
    with pytest.raises(AssertionError, match="does not end at the goal"):
        solver.letters(recommit.Sliding(3), state, np.array([2], np.uint8))
