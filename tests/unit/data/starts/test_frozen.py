"""Frozen sets: their defaults work on every size, and say where a length has fewer starts than its share."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference import sliding as slow

import recommit.data
from recommit.data.spec import DataSpec, Difficulty
from recommit.data.starts import frozen, sampling, symmetry
from recommit.puzzles.registry import TASKS
from recommit.storage import errors

SIZES = [("sliding", size) for size in ((2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (4, 4))]
SIZES += [("sokoban", size) for size in ((6, 6), (7, 7), (6, 8))] + [("ice", (6, 6)), ("ice", (8, 8))]


def classes(size, length):
    """How many boards of a length the test split has, up to symmetry: all boards, looked at one by one."""
    table = slow.distances(*size, length)
    boards = np.array([board for board, distance in table.items() if distance == length], np.uint8).reshape(-1, *size)
    keys = symmetry.keys("sliding", boards)
    return len(np.unique(keys[symmetry.belongs(keys, "test")]))


def quietly(*words, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return recommit.data.freeze(*words, **options)


@settings(max_examples=25, deadline=None)
@given(which=st.sampled_from(SIZES), count=st.integers(1, 60), seed=st.integers(0, 3))
@example(which=("sliding", (2, 3)), count=15, seed=0)
def test_defaults_work_on_every_size(which, count, seed):
    task, size = which
    try:
        chosen = quietly(task, count, size=size, seed=seed)
    except errors.NotEnough:
        assert which == ("sliding", (2, 2))
        return
    keys = symmetry.keys(task, chosen.states)
    assert len(np.unique(keys)) == len(chosen) <= count
    assert symmetry.belongs(keys, "test").all()
    length = chosen.spec.puzzle().distance(chosen.states)
    assert np.array_equal(length, chosen.length)
    assert sum(s.count for s in chosen.strata) == len(chosen)
    assert sum(s.share for s in chosen.strata) == count
    for i, stratum in enumerate(chosen.strata):
        name = chosen.spec.difficulty_names[i]
        own = np.array([f"/{name}/" in id_ for id_ in chosen.ids])
        assert own.sum() == stratum.count
        assert ((length[own] >= stratum.difficulty.length[0]) & (length[own] <= stratum.difficulty.length[1])).all()
    if len(chosen) < count:
        assert len(quietly(task, 2 * count, size=size, seed=seed)) == len(chosen), "all there are"


@pytest.mark.parametrize("size", [(2, 3), (3, 3)])
def test_a_length_with_few_starts_gives_all_of_them(size):
    with pytest.warns(UserWarning, match="freeze: .* instances; these have fewer than an even share"):
        chosen = recommit.data.freeze("sliding", size=size)
    short = [s for s in chosen.strata if s.count < s.share]
    assert short
    for stratum in short:
        assert stratum.count == classes(size, stratum.difficulty.length[0])
    if size == (3, 3):
        assert [(s.share, s.count) for s in chosen.strata] == [
            (205, 139),
            (205, 222),
            (205, 221),
            (205, 221),
            (204, 221),
        ]
        assert len(chosen) == frozen.COUNT


def test_the_defaults_of_every_puzzle():
    for task in TASKS:
        assert len(quietly(task)) == frozen.COUNT


def test_the_manifest_says_what_there_is():
    with pytest.warns(UserWarning, match=r"5 of 300 instances; .*: 2x3:3..3 0 of 150, 2x3:14..15 5 of 150"):
        chosen = recommit.data.freeze(
            "sliding", 300, size=(2, 3), difficulties=(Difficulty((3, 3)), Difficulty((14, 15)))
        )
    assert chosen.manifest["strata"] == [
        {"variant": {"length": (3, 3), "boxes": 0}, "share": 150, "count": 0},
        {"variant": {"length": (14, 15), "boxes": 0}, "share": 150, "count": 5},
    ]
    assert chosen.manifest["instances"] == 5
    assert chosen.manifest["name"] == chosen.name


def test_enough_starts_are_as_before_and_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recommit.data.freeze("sliding", 64).name == "sliding-3x3-64-b8c89eba008f"
        assert recommit.data.freeze("sokoban", 48).name == "sokoban-7x7-48-920dca83c209"


@pytest.mark.parametrize(
    ("task", "generator", "meet", "windows", "boxes"),
    [("sokoban", "reverse", 17, ((8, 17), (17, 32)), (2, 3)), ("sliding", "walk", 20, ((16, 20), (20, 24)), (0,))],
)
def test_difficulties_that_meet_in_a_number_put_the_median_there(task, generator, meet, windows, boxes):
    difficulties = tuple(Difficulty(window, many) for many in boxes for window in windows)
    size = {"sokoban": (7, 7), "sliding": (3, 3)}[task]
    recipe = DataSpec(task, size, difficulties, 200, test=64, generator=generator)
    for split in ("train", "test"):
        length = sampling.starts(recipe, split, 0).length
        assert np.median(length) == meet
        assert (length < meet).sum() > len(length) / 4 < (length > meet).sum()


def test_a_size_without_test_starts_is_an_error():
    with pytest.raises(
        errors.NotEnough, match=r"expected 5 sliding starts in the test split of 2x2:3..3, .*, got none"
    ):
        recommit.data.freeze("sliding", 5, size=(2, 2))
