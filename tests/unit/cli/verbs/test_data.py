"""What ``recommit data build`` makes of its flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.refusals import refused

from recommit.cli import main
from recommit.data.options import BuildOptions
from recommit.data.spec import DataSpec, Difficulty
from recommit.puzzles.registry import TASKS
from recommit.storage.errors import WrongDataSpec

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


def test_there_are_no_more_instances_than_boards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = TASKS["sliding"].of((2, 3), 0).counts_by_length
    assert counts is not None
    there = sum(counts[1:])
    assert there == 359
    out, flags = tmp_path / "d", ["--size", "2", "3", "--length", "1", "21"]
    words = ["data", "build", "--task", "sliding", *flags, "--out", str(out)]
    assert main([*words, "--count", str(there + 1)]) == 2
    assert "expected at most 359 instances, as many as there are 2x3 boards" in capsys.readouterr().err
    assert not out.exists()
    assert only(task="sliding", size=(2, 3), count=there, length=(1, 21)).count == there


@pytest.mark.parametrize(("size", "longest"), [((2, 2), 6), ((3, 2), 21), ((3, 3), 31), ((2, 4), 36), ((4, 4), 80)])
def test_no_length_is_longer_than_every_board_has(size: tuple[int, int], longest: int, tmp_path: Path) -> None:
    spec = only(task="sliding", size=size, count=1, length=(longest,))
    assert spec.difficulties == (Difficulty((longest, longest)),)
    rows, cols = size
    said = f"length: expected at most {longest}, the longest of {rows}x{cols} boards, got {longest + 1}"
    (tmp_path / "r.json").write_text(spec.changed(difficulties=(Difficulty((1, 255)),)).to_json())
    wrong = [
        (lambda: only(task="sliding", size=size, count=1, length=(1, longest + 1)), said),
        (lambda: only(recipe=tmp_path / "r.json"), f"length: expected at most {longest}, "),
    ]
    refused(wrong, WrongDataSpec)
    assert only(task="sliding", size=(2, 3), count=1).difficulties == (Difficulty((8, 24)),), "nobody said it"


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
