"""The icy cave: rules, generation, pictures, text, and everything that is played through the common interface."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from tests.unit.puzzles import test_lockstep

import recommit
from recommit.puzzles.frames import MAX_CELL, MIN_CELL, THEMES

TASK = recommit.Ice()
UP, DOWN, LEFT, RIGHT = range(4)
#: All sprites of a theme in all sizes.
GOLDEN = {
    "light": "a991bc69683bc0bb6f7f46438d80e9a56ba0354e36b36e433988ebb5d4017472",
    "dark": "54d1fca8cc7c2d26001c5cc655cec2fc6bbde3aef823e121f4621c98eb4bdb97",
}


def cave(*rows):
    return np.array([[" %.@+".index(symbol) for symbol in row] for row in rows], np.uint8)[None]


def act(state, *actions):
    for action in actions:
        state = TASK.step(state, np.array([action], np.uint8))
    return state


def test_a_slide_ends_at_a_rock_or_at_the_edge():
    state = cave("@  %", "    ", " . %")
    assert (act(state, RIGHT) == cave("  @%", "    ", " . %")).all()
    assert (act(state, DOWN, RIGHT, UP) == cave("  @%", "    ", " . %")).all()
    assert (act(state, UP) == state).all()
    assert TASK.action_masks(state).tolist() == [[False, True, False, True]]


def test_sliding_over_the_goal_does_not_count():
    passing = cave("%%%%%", "%@. %", "%%%%%")
    assert (act(passing, RIGHT) == cave("%%%%%", "% .@%", "%%%%%")).all()
    assert not TASK.is_solved(act(passing, RIGHT))[0]
    assert TASK.distance(passing).tolist() == [recommit.UNSOLVABLE]
    stopping = cave("%%%%%", "%@ .%", "%%%%%")
    assert (act(stopping, RIGHT) == cave("%%%%%", "%  +%", "%%%%%")).all()
    assert TASK.is_solved(act(stopping, RIGHT))[0]
    assert TASK.distance(stopping).tolist() == [1]


def test_a_commitment_stops_at_the_goal_and_blocked_actions_count():
    out = TASK.execute(cave("@ %", "%  ", "% ."), np.array([[UP, RIGHT, DOWN, RIGHT, LEFT]]), np.array([5]))
    assert (out.executed.tolist(), out.moved.tolist(), out.solved.tolist()) == ([4], [3], [True])


def test_lengths_are_drawn_evenly():
    counts = np.bincount(recommit.Ice(8).generate(6_000, seed=1, length=(3, 8)).length, minlength=9)[3:]
    assert (abs(counts - 1_000) < 5 * np.sqrt(6_000 * (1 / 6) * (5 / 6))).all()


def test_with_one_number_of_rocks_all_caves_that_hold_a_length_are_equally_likely():
    """Six inner cells: few enough caves to see each of them often."""
    made = recommit.Ice((4, 5)).generate(20_000, seed=2, length=2).states
    rocks = (made[:, 1:-1, 1:-1] == 1).sum(axis=(1, 2))
    for number in (0, 1, 2):
        layouts = recommit.Ice.layouts(made[rocks == number])
        _, counts = np.unique(layouts.reshape(len(layouts), -1), axis=0, return_counts=True)
        mean = len(layouts) / len(counts)
        assert mean > 50
        assert len(counts) > 3
        assert (abs(counts - mean) < 5 * np.sqrt(mean)).all(), number


def test_ties_are_drawn_and_the_first_plan_begins_with_the_first_optimal_action():
    found = recommit.Ice(10).generate(200, seed=3, length=(2, 9))
    first, optimal = TASK.solve(found.states), TASK.optimal_actions(found.states)
    assert ([plan[0] for plan in first] == optimal.argmax(axis=1)).all()
    seeds = [TASK.solve(found.states, ties="random", seed=seed) for seed in (1, 2, 1)]
    assert (seeds[0].actions == seeds[2].actions).all()
    assert (seeds[0].actions != seeds[1].actions).any()
    dead = TASK.solve(cave("%%%%%", "%@. %", "%%%%%"))
    assert (dead.status[0], len(dead[0])) == (recommit.Status.UNSOLVABLE, 0)


def sprites(cell, theme):
    """The five of them, cut out of pictures."""
    line, goal = (TASK.render(cave(row), cell, theme=theme)[0] for row in (" %.@", "+"))
    return [*np.split(line, 4, axis=1), goal]


@pytest.mark.parametrize("theme", THEMES)
def test_pictures_are_the_golden_ones(theme):
    digest = hashlib.sha256()
    for cell in range(MIN_CELL, MAX_CELL + 1):
        digest.update(b"".join(np.ascontiguousarray(sprite).tobytes() for sprite in sprites(cell, theme)))
    assert digest.hexdigest() == GOLDEN[theme]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("cell", [4, 5, 9, 14, 28, 112])
def test_pictures_are_read_back(theme, cell):
    states = test_lockstep.open_caves(40, 6, 7, seed=cell)
    states[:5][states[:5] == 2], states[:5][states[:5] == 3] = 0, 4
    assert (TASK.decode(TASK.render(states, cell, theme=theme), cell, theme=theme) == states).all()
    ringed = recommit.Ice(6).generate(20, seed=cell).states
    cropped = TASK.render(ringed, cell, theme=theme, crop=True)
    assert cropped.shape[1:3] == (4 * cell, 4 * cell)
    assert (TASK.decode(cropped, cell, theme=theme, crop=True) == ringed).all()
