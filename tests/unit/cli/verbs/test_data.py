"""What ``recommit data build`` makes of its flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recommit.cli import main
from recommit.data.options import BuildOptions
from recommit.data.spec import DataSpec, Difficulty
from recommit.puzzles.registry import TASKS

pytest.importorskip("tyro")


def only(**flags: Any) -> DataSpec:
    """The one data set that flags ask for."""
    (spec,), many = BuildOptions(out=Path("data"), **flags).specs()
    assert not many
    return spec


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


def test_more_instances_than_boards_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = TASKS["sliding"].of((2, 3), 0).counts_by_length
    assert counts is not None
    there = sum(counts[1:])
    assert there == 359
    words = [
        "data",
        "build",
        "--task",
        "sliding",
        "--size",
        "2",
        "3",
        "--length",
        "1",
        "40",
        "--out",
        str(tmp_path / "d"),
    ]
    assert main([*words, "--count", str(there + 1)]) == 2
    assert "expected at most 359 instances, as many as there are 2x3 boards" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()
    assert only(task="sliding", size=(2, 3), count=there, length=(1, 40)).count == there
