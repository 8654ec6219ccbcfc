"""Rooms of a test set: levels of one layout, wherever it lies and however it is turned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recommit.data import held_out
from recommit.data.spec import DataSpec, Difficulty


def test_rooms_of_a_test_set():
    recipe = DataSpec(
        task="sokoban", size=(6, 6), difficulties=(Difficulty((4, 12), 1),), count=1, test=200, disjoint="layouts"
    )
    drawn = held_out.starts(recipe, "test", 200, ())
    rooms = held_out.rooms(recipe, drawn.states)
    walls = [np.isin(state, (2, 4, 6)).astype(np.uint8) + 2 * (state == 1) for state in drawn.states]
    kept = {}  # what the states say: walls and goals, mirrored and turned
    for wall, room in zip(walls, rooms.tolist(), strict=True):
        kept.setdefault(room, set()).add(min(image.tobytes() for image in _images(wall)))
    assert 20 < len(kept) < 200
    assert rooms.tolist() == held_out.rooms(recipe, drawn.states[:, ::-1]).tolist(), "mirrored, a room is the same"
    shifted = sum(len(images) for images in kept.values())
    assert len(kept) <= shifted, "a room may lie elsewhere in its grid"
    assert len({image for images in kept.values() for image in images}) == shifted, "no layout in two rooms"
    assert held_out.rooms(replace(recipe, disjoint="starts"), drawn.states) is None


def _images(grid):
    for mirrored in (grid, grid[:, ::-1]):
        for turns in range(4):
            yield np.ascontiguousarray(np.rot90(mirrored, turns))
