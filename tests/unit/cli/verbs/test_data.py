"""What ``recommit data build`` makes of its flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recommit.data.options import BuildOptions
from recommit.data.spec import DataSpec, Difficulty

pytest.importorskip("tyro")


def only(**flags: Any) -> DataSpec:
    """The data set that flags ask for."""
    return BuildOptions(out=Path("data"), **flags).spec()


@pytest.mark.parametrize(
    ("task", "size", "difficulty"),
    [
        ("sliding", (3, 3), Difficulty((8, 24))),
        ("sokoban", (8, 8), Difficulty((8, 32), 2)),
        ("ice", (8, 8), Difficulty((3, 8))),
    ],
)
def test_every_puzzle_has_a_usual_data_set(task: str, size: tuple[int, int], difficulty: Difficulty) -> None:
    spec = only(task=task, count=4)
    assert (spec.size, spec.difficulties) == (size, (difficulty,))


def test_flags_keep_what_they_do_not_say_of_a_recipe_with_several_lengths(tmp_path: Path) -> None:
    short, long = (8, 17), (17, 32)
    recipe = tmp_path / "r.json"
    spec = only(task="sokoban", size=(7,), boxes=(2, 1), length=short, count=4)
    every = tuple(Difficulty(length, boxes) for boxes in (2, 1) for length in (short, long))
    recipe.write_text(spec.changed(difficulties=every).to_json())
    assert only(recipe=recipe, count=8).difficulties == every
    assert only(recipe=recipe, boxes=(3,)).difficulties == (Difficulty(short, 3), Difficulty(long, 3))
    assert only(recipe=recipe, length=(8, 20)).difficulties == (Difficulty((8, 20), 2), Difficulty((8, 20), 1))
    assert only(recipe=recipe, length=(9,), boxes=(3,)).difficulties == (Difficulty((9, 9), 3),)
