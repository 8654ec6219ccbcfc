"""Every puzzle is known everywhere, because it is in the registry."""

from __future__ import annotations

from importlib.resources import files
from typing import get_args

import numpy as np
import pytest

import recommit
from recommit import _core
from recommit.puzzles import registry

TASKS = sorted(registry.TASKS)


def test_the_lists_agree():
    assert set(get_args(registry.Task)) == set(registry.TASKS)
    assert all(getattr(recommit, kind.__name__) is kind for kind in registry.PUZZLES)


@pytest.mark.parametrize("task", TASKS)
def test_a_puzzle_says_all_that_is_asked_of_it(task):
    kind = registry.puzzle(task)
    puzzle = kind.of(kind.usual.size, 1)
    found = puzzle.generate(20, seed=1, length=kind.usual.length)
    assert kind.of_states(puzzle.shape).is_solved(found.states).sum() == 0
    assert found.states.max() <= puzzle.highest
    assert kind.budgets(puzzle.shape) == kind.usual.budgets
    assert set(kind.usual.budgets) == {"loose", "tight"}
    assert puzzle.pushes(found.states) is not None
    assert (next(iter(kind.images(found.states))) == found.states).all()
    if "layouts" in kind.splits:
        assert (kind.layouts(found.states) == kind.layouts(puzzle.step(found.states, np.zeros(20, np.uint8)))).all()


@pytest.mark.parametrize("task", TASKS)
def test_a_puzzle_has_its_files(task):
    package = files("recommit")
    assert hasattr(_core, task)
    for path in (
        f"policy/prompts/{task}-v1.txt",
        f"zero_shot/prompts/{task}-v1.txt",
        f"report/assets/puzzles/{task}.js",
        f"recipes/laptop-{task}.yaml",
    ):
        assert package.joinpath(path).is_file(), path
