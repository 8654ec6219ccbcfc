"""Targets are optimal, whatever path is drawn, and a function of the run's seed and the row's number alone."""

from __future__ import annotations

import numpy as np
import pytest

import recommit
from recommit.data.labels import label
from recommit.data.rows import position_weights
from recommit.train import symmetry
from recommit.train.config import TargetConfig
from recommit.train.sft import loss, targets

TASKS = [recommit.Sliding(3), recommit.Sokoban(6, 1)]


def rows_of(task, count=40):
    return label(task, task.generate(count, seed=3, length=(1, 20)).states, ties="random", seed=1)


@pytest.mark.parametrize("task", TASKS, ids=repr)
@pytest.mark.parametrize("paths", ["resample", "dataset"])
def test_paths_are_optimal_and_so_is_every_marked_action(task, paths):
    rows = rows_of(task)
    made = targets.make(task, rows, TargetConfig(paths=paths), seed=0, first=0)
    here = made.states
    for i in range(8):
        live = made.distance > i
        assert np.array_equal(made.optimal[:, i].any(axis=1), live)
        assert made.optimal[live, i, made.actions[live, i]].all()
        for action in range(4):
            after = task.step(here, np.full(len(here), action, np.uint8))
            closer = task.distance(after) == made.distance - i - 1
            assert np.array_equal(made.optimal[live, i, action], closer[live])
        here = np.where(live[:, None, None], task.step(here, made.actions[:, i].astype(np.uint8)), here)
    assert task.is_solved(here[made.distance <= 8]).all()
    if paths == "dataset":
        assert np.array_equal(np.where(rows.actions == 255, 0, rows.actions), made.actions)


def test_choices_belong_to_row_numbers():
    task = TASKS[0]
    rows = rows_of(task)
    whole = targets.make(task, rows, TargetConfig(), seed=5, first=100)
    part = targets.make(task, rows[10:20], TargetConfig(), seed=5, first=110)
    assert np.array_equal(part.actions, whole.actions[10:20])
    several = targets.make(task, rows, TargetConfig(), seed=5, first=100, threads=3)
    assert np.array_equal(several.actions, whole.actions)
    other = targets.make(task, rows, TargetConfig(), seed=6, first=100)
    assert not np.array_equal(other.actions, whole.actions)


def test_turned_levels_keep_their_distance():
    task = TASKS[1]
    rows = rows_of(task)
    made = targets.make(task, rows, TargetConfig(augment=True), seed=0, first=0)
    assert not np.array_equal(made.states, rows.states)
    assert np.array_equal(task.distance(made.states), rows.distance)
    images = symmetry.turned(np.repeat(rows.states[:1], 8, axis=0), np.arange(8))
    assert len({image.tobytes() for image in images}) == 8


def test_weights_count_samples():
    distance = np.array([0, 1, 2, 3, 5, 8, 30], np.int32)
    assert loss.weights(np.array([8], np.int32)).tolist() == [[4, 3, 2, 2, 1, 1, 1, 1]]
    counted = [[sum(j < depth <= d for depth in (1, 2, 4, 8)) for j in range(8)] for d in distance]
    assert loss.weights(distance).tolist() == position_weights(distance.astype(np.int16)).tolist() == counted
    deep = [[sum(j < depth <= d for depth in (2, 12)) for j in range(12)] for d in distance]
    assert loss.weights(distance, (2, 12), length=12).tolist() == deep
    assert loss.weights(distance, (4,)).tolist()[3:5] == [[0] * 8, [1, 1, 1, 1, 0, 0, 0, 0]]
    assert loss.weights(np.array([8], np.int32), weighting="sample").sum() == pytest.approx(4)


def test_plans_elsewhere_are_those_of_levels_with_the_player_there():
    """On other cells, each once, where there is something to do; the rows of a batch are those of its parts."""
    task = recommit.Sokoban(7, 2)
    rows = rows_of(task)
    made = targets.make(task, rows, TargetConfig(dense=3, augment=True), seed=4, first=50)
    others, drawn = made.elsewhere, 0
    for i, state in enumerate(made.states):
        still = np.where(state == 5, 0, np.where(state == 6, 2, state)).astype(np.uint8)
        cells = others.cells[i][others.distance[i] > 0].tolist()
        assert len(set(cells)) == len(cells)
        assert np.flatnonzero(state >= 5)[0] not in cells
        for j, cell in enumerate(others.cells[i].tolist()):
            if not others.distance[i, j]:
                continue
            here = still.copy()
            here.flat[cell] = {0: 5, 2: 6}[here.flat[cell]]
            assert task.distance(here) == others.distance[i, j]
            for step in range(min(8, others.distance[i, j])):
                optimal = task.optimal_actions(here)
                assert np.array_equal(optimal, others.optimal[i, j, step])
                assert optimal[others.actions[i, j, step]]
                here = task.step(here, int(others.actions[i, j, step]))
            drawn += 1
    assert drawn > 100
    part = targets.make(task, rows[7:12], TargetConfig(dense=3, augment=True), seed=4, first=57).elsewhere
    for name in ("cells", "actions", "optimal", "distance"):
        assert np.array_equal(getattr(part, name), getattr(others[7:12], name))
    assert targets.make(TASKS[0], rows_of(TASKS[0]), TargetConfig(dense=3), seed=4, first=0).elsewhere is None
