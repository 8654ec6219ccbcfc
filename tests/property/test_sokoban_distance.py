"""The compiled Sokoban solver against the plain-Python search, state by state."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import sokoban as reference

from recommit import _core

LIMITS = {"nodes": 2**64 - 1, "bytes": 1 << 30, "seconds": float("inf")}
UNSOLVABLE = -1
#: States of a level, at most.
MOST = 8_000

CORRIDOR = ["##########", "#@ $    .#", "####### ##", "##########"]
SOLVED = ["######", "#@ * #", "#  * #", "######"]
DEAD = ["######", "#$ @.#", "#    #", "######"]
OUT_OF_REACH = ["#######", "#@$ #.#", "#   # #", "#######"]


def grid_of(rows):
    return np.array([[" #.$*@+".index(c) for c in row] for row in rows], np.uint8)


def levels():
    rng = np.random.default_rng(7)
    yield from (grid_of(rows) for rows in (CORRIDOR, SOLVED, DEAD, OUT_OF_REACH))
    for boxes, rows, cols, walls, count in (
        (1, 8, 8, 0.15, 3),
        (1, 8, 8, 0.4, 3),
        (2, 6, 7, 0.1, 4),
        (2, 7, 7, 0.35, 4),
        (3, 6, 6, 0.2, 3),
        (3, 5, 7, 0.1, 1),
        (2, 8, 8, 0.02, 2),
        (1, 8, 8, 0.0, 2),
    ):
        for _ in range(count):
            yield reference.random_grid(rng, rows, cols, boxes, walls)


def differences(level, distance):
    """Number of states compared, how many of them are dead, and those whose distance differs."""
    states = level.states()
    expected = reference.distances(level, states)
    found = distance(level.draw(states))
    wrong = [state for state, d in zip(states, found.tolist(), strict=True) if d != expected.get(state, UNSOLVABLE)]
    return len(states), len(states) - len(expected), wrong


def core_distance(grids):
    return _core.sokoban.distance(grids, **LIMITS)


def test_every_state_of_every_level():
    total = dead = 0
    for grid in levels():
        count, unsolvable, wrong = differences(reference.Level(grid), core_distance)
        assert wrong == [], grid
        total += count
        dead += unsolvable
    assert total >= 20_000
    assert 1_000 < dead < total - 10_000
    print(f"{total} states, {dead} of them dead")


def random_level(rng):
    """Up to 8x8 with three boxes; open halls, corridors and pockets, goals within reach or not."""
    while True:
        rows, cols = rng.integers(4, 9, 2)
        boxes = int(rng.integers(1, 4))
        room = (rows - 2) * (cols - 2)
        if room < boxes + 2 or room**boxes * room > 40 * MOST:
            continue
        walls = float(rng.choice((0, 0.1, 0.3, 0.5)))
        level = reference.Level(reference.random_grid(rng, int(rows), int(cols), boxes, walls))
        if len(level.floor) > boxes and 0 < len(level.states()) <= MOST:
            return level


@pytest.mark.nightly
def test_every_state_of_many_levels(record_property):
    rng, number, total = np.random.default_rng(303), 0, 0
    while number < 5_000 or total < 1_000_000:
        level = random_level(rng)
        count, _, wrong = differences(level, core_distance)
        assert wrong == [], f"level {number}: goals {sorted(level.goals)}, floor {sorted(level.floor)}: {wrong[0]}"
        number, total = number + 1, total + count
    record_property("executed", total)


def test_the_comparison_catches_one_wrong_state():
    def off_by_one(grids):
        out = core_distance(grids)
        out[17] += 1
        return out

    _, _, wrong = differences(reference.Level(grid_of(CORRIDOR)), off_by_one)
    assert len(wrong) == 1


def test_the_comparison_catches_a_wrong_rule():
    class TwoBoxes(reference.Level):
        """Pushing a row of two boxes, which the rules forbid."""

        def act(self, state, action):
            after = super().act(state, action)
            (row, col), boxes = state
            down, right = reference.STEPS[action]
            line = [(row + i * down, col + i * right) for i in (1, 2, 3)]
            if after == state and line[0] in boxes and line[1] in boxes and line[2] in self.floor - boxes:
                return line[0], boxes - {line[0]} | {line[2]}
            return after

    grid = reference.random_grid(np.random.default_rng(3), 6, 7, 2, 0.05)
    assert differences(reference.Level(grid), core_distance)[2] == []
    assert len(differences(TwoBoxes(grid), core_distance)[2]) > 0


@pytest.mark.parametrize("random", [False, True])
def test_plans_are_as_long_as_the_distance_and_solve(random):
    rng = np.random.default_rng(11)
    grids = np.stack([reference.random_grid(rng, 7, 7, 2, 0.15) for _ in range(200)])
    actions, offsets, length, nodes, status, bound = _core.sokoban.solve(grids, random=random, seed=5, **LIMITS)
    assert (length == core_distance(grids)).all()
    assert (bound == length).all()
    assert (nodes == 0).all()
    assert (status == (length < 0)).all()
    masks = _core.sokoban.optimal_actions(grids, **LIMITS)
    for i, grid in enumerate(grids):
        plan = actions[offsets[i] : offsets[i + 1]]
        assert len(plan) == max(length[i], 0)
        assert masks[i].any() == (length[i] > 0)
        level = reference.Level(grid)
        state = state_of(grid)
        if len(plan):
            assert masks[i, plan[0]]
            if not random:
                assert plan[0] == masks[i].argmax()
        for action in plan:
            assert not level.solved(state)
            state = level.act(state, int(action))
        assert level.solved(state) == (length[i] >= 0)


def state_of(grid):
    player = tuple(int(x) for x in np.argwhere(grid >= reference.PLAYER)[0])
    boxes = np.argwhere((grid == reference.BOX) | (grid == reference.BOX_ON_GOAL)).tolist()
    return player, frozenset((r, c) for r, c in boxes)


def reached(level, player):
    """Cells that a player can come to, boxes aside."""
    found, edge = {player}, [player]
    while edge:
        row, col = edge.pop()
        for down, right in reference.STEPS:
            cell = row + down, col + right
            if cell in level.floor and cell not in found:
                found.add(cell)
                edge.append(cell)
    return found


def everywhere(level, expected, state):
    """Of a state with its player on every cell: which actions lower the distance by one."""
    masks = np.zeros((*level.shape, 4), bool)
    for cell in reached(level, state[0]) - state[1]:
        here = cell, state[1]
        for action in range(4):
            after = level.act(here, action)
            masks[(*cell, action)] = expected.get(here, 0) > 0 and expected.get(after) == expected[here] - 1
    return masks


@pytest.mark.parametrize("limits", [LIMITS, LIMITS | {"nodes": 1 << 11}], ids=["by table", "by search"])
def test_optimal_actions_with_the_player_everywhere(limits):
    """From every cell: the answers of a box set are those of its region. All searches of a state
    share its limits, and a cell after they are used up is left without an answer."""
    compared = some = whole = 0
    tabled = limits is LIMITS
    for grid in levels():
        level = reference.Level(grid)
        states = level.states()
        expected = reference.distances(level, states)
        chosen = states[:: 29 if tabled else 997]
        found = _core.sokoban.optimal_actions_everywhere(level.draw(chosen), **limits)
        for state, masks in zip(chosen, found, strict=True):
            right = everywhere(level, expected, state)
            answered = masks.any(axis=-1, keepdims=True) | tabled
            assert np.array_equal(masks, right & answered), (grid, state)
            whole += np.array_equal(masks, right)
            compared += 1
            some += masks.any()
    assert compared > (500 if tabled else 20)
    assert 0 < some < compared
    assert compared * 9 // 10 < whole <= compared
