"""The icy cave: rules, generation, pictures, text, and everything that is played through the common interface."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from tests.reference.ice import IceTwin
from tests.unit.puzzles import lockstep

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


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (cave("%@ %"), "states: expected exactly one goal, got 0 in state 0"),
        (cave("%@.+"), "states: expected exactly one player, got 2 in state 0"),
        (cave("% . "), "states: expected exactly one player, got 0 in state 0"),
        (np.full((1, 3, 3), 5, np.uint8), "states: expected cell codes 0..4, got 5 in state 0"),
        (np.zeros((1, 65, 3), np.uint8), "states: expected icy caves of 1..64 by 1..64 cells, got 65 by 3"),
    ],
)
@pytest.mark.parametrize("call", ["is_solved", "distance", "render"])
def test_what_is_no_state_is_refused(state, message, call):
    with pytest.raises(ValueError, match=message):
        getattr(TASK, call)(state)


def open_caves(count, rows, cols, seed):
    rng = np.random.default_rng(seed)
    states = (rng.random((count, rows, cols)) < 0.2).astype(np.uint8)
    for state in states:
        places = rng.permutation(rows * cols)[:2]
        state.flat[places[0]], state.flat[places[1]] = 2, 3
    return states


@pytest.mark.parametrize("shape", [None, (1, 7), (6, 11), (64, 64)])
def test_the_simulator_agrees_with_its_twin(shape):
    states = recommit.Ice(8).generate(50, seed=5).states if shape is None else open_caves(50, *shape, seed=5)
    twin = IceTwin(*states.shape[1:])
    assert lockstep.check_steps(TASK, twin, states, 60, seed=1) == 3_000
    assert lockstep.check_executes(TASK, twin, states, 6, seed=2) > 0


def test_the_comparison_notices_a_player_that_stops_on_the_goal():
    states = recommit.Ice(8).generate(50, seed=5).states
    with pytest.raises(AssertionError, match="differ"):
        lockstep.check_steps(TASK, IceTwin(8, 8, defect=True), states, 60, seed=1)


@pytest.mark.parametrize("length", [None, 4, (3, 8), (2, 30)])
def test_instances_have_exact_lengths_and_depend_on_their_number_alone(length):
    task = recommit.Ice((8, 11))
    whole = task.generate(300, seed=7, length=length, threads=1)
    assert (whole.length == task.distance(whole.states)).all()
    low, high = (1, 254) if length is None else length if isinstance(length, tuple) else (length, length)
    assert ((whole.length >= low) & (whole.length <= high)).all()
    part = task.generate(80, seed=7, length=length, start=123, threads=3)
    assert (part.states == whole.states[123:203]).all()
    assert part.ids == whole.ids[123:203]
    assert not (task.generate(300, seed=8, length=length).states == whole.states).all(axis=(1, 2)).any()


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


def test_a_length_that_no_cave_has_is_refused():
    with pytest.raises(ValueError, match=r"length: none of 16384 caves of 4 by 4 cells has a start of length 9..9"):
        recommit.Ice(4).generate(1, length=9)
    with pytest.raises(ValueError, match=r"size: expected 4..64, got 65"):
        recommit.Ice(65)


def test_plans_are_optimal_and_ties_are_drawn():
    found = recommit.Ice(10).generate(400, seed=3, length=(2, 9))
    first = TASK.solve(found.states)
    assert (first.length == found.length).all()
    assert (first.status == recommit.Status.EXACT).all()
    width = int(found.length.max())
    plans = np.zeros((400, width), np.uint8)
    for i in range(400):
        plans[i, : found.length[i]] = first[i]
    out = TASK.execute(found.states, plans, found.length)
    assert out.solved.all()
    assert (out.executed == found.length).all()
    optimal = TASK.optimal_actions(found.states)
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
    states = open_caves(40, 6, 7, seed=cell)
    states[:5][states[:5] == 2], states[:5][states[:5] == 3] = 0, 4
    assert (TASK.decode(TASK.render(states, cell, theme=theme), cell, theme=theme) == states).all()
    ringed = recommit.Ice(6).generate(20, seed=cell).states
    cropped = TASK.render(ringed, cell, theme=theme, crop=True)
    assert cropped.shape[1:3] == (4 * cell, 4 * cell)
    assert (TASK.decode(cropped, cell, theme=theme, crop=True) == ringed).all()
    with pytest.raises(ValueError, match="crop: expected an outer ring of rocks, got code"):
        TASK.render(np.zeros_like(ringed) + cave("+     ", *["      "] * 5), cell, theme=theme, crop=True)


def test_images_without_player_or_goal_are_refused():
    ice = np.ascontiguousarray(sprites(28, "light")[0])
    with pytest.raises(ValueError, match="images: expected one player, got none in image 0"):
        TASK.decode(ice[None])
    two = np.concatenate([sprites(28, "light")[i] for i in (2, 3, 4)], axis=1)
    with pytest.raises(ValueError, match="images: expected one player, got a second one in image 0 at row 0, column 2"):
        TASK.decode(two[None])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("%%%%\n%@ %\n%%%%", 1, 1, "expected one goal, got none"),
        ("%%%%\n%@@%\n%%%%", 2, 3, "expected one player, got a second one"),
        ("%%%%\n%@.\n%%%%", 2, 1, "expected as many columns as in the first row, 4, got 3"),
        ("%% %\n%@.%\n%%%%", 1, 3, "expected rocks all around, got an opening here"),
        ("1 2\n3 0\n\n%%%%\n%@.%\n%%%%", 4, 1, "expected levels of one task, got a row of ice among sliding"),
    ],
)
def test_malformed_text_is_refused_with_its_place(text, line, column, message):
    with pytest.raises(recommit.LevelError, match=message) as caught:
        recommit.parse_levels(text)
    assert (caught.value.line, caught.value.column) == (line, column)
