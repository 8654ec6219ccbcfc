"""Row L8: two implementations in lockstep, random and adversarial actions, wrong ones included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.reference.simulate import TWINS
from tests.unit.puzzles import lockstep

import recommit

SLIDING = [(2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (4, 4), (5, 5)]
SOKOBAN = [((6, 6), 1), ((7, 9), 2), ((10, 10), 4), ((12, 5), 2)]


def open_levels(count: int, rows: int, cols: int, seed: int) -> Any:
    """Random cells without any enclosing wall, one player each: the border itself is what stops moves."""
    rng = np.random.default_rng(seed)
    states = rng.choice(np.array([0, 0, 0, 0, 1, 2, 3, 3, 4], np.uint8), (count, rows, cols))
    flat = states.reshape(count, -1)
    flat[np.arange(count), rng.integers(0, rows * cols, count)] = rng.choice(np.array([5, 6], np.uint8), count)
    return states


def cases() -> list[Any]:
    made = [pytest.param(recommit.Sliding(r, c), None, id=f"sliding-{r}x{c}") for r, c in SLIDING]
    made += [pytest.param(recommit.Sokoban(s, b), None, id=f"sokoban-{s[0]}x{s[1]}") for s, b in SOKOBAN]
    shapes = [(1, 1), (1, 7), (3, 5), (4, 4), (9, 2), (6, 11), (1, 64), (16, 16)]
    return made + [pytest.param(recommit.Sokoban(), shape, id=f"open-{shape[0]}x{shape[1]}") for shape in shapes]


def starts_of(task: Any, shape: Any, count: int) -> Any:
    return task.generate(count, seed=5).states if shape is None else open_levels(count, *shape, seed=5)


@pytest.mark.parametrize(("task", "shape"), cases())
def test_a_million_transitions_agree(task: Any, shape: Any) -> None:
    """All cases together: 19 * (200 * 200 + ~200 * 4 * 30) > 1 M."""
    starts = starts_of(task, shape, 200)
    twin = TWINS[task.task](*starts.shape[1:])
    total = lockstep.check_steps(task, twin, starts, 200, seed=1)
    total += lockstep.check_executes(task, twin, starts, 30, seed=2)
    assert total > 55_000


@pytest.mark.parametrize("task", [recommit.Sliding(3), recommit.Sokoban(8, 2)], ids=["sliding", "sokoban"])
def test_a_wrong_rule_is_noticed(task: Any) -> None:
    starts = task.generate(200, seed=5).states
    twin = TWINS[task.task](*starts.shape[1:], defect=True)
    with pytest.raises(AssertionError, match="differ"):
        lockstep.check_steps(task, twin, starts, 200, seed=1)
    with pytest.raises(AssertionError, match="differ"):
        lockstep.check_executes(task, twin, starts, 100, seed=2)


@pytest.mark.nightly
@pytest.mark.parametrize(("task", "shape"), cases())
def test_a_hundred_million_transitions_agree(task: Any, shape: Any) -> None:
    for seed in range(100):
        starts = starts_of(task, shape, 500)
        lockstep.check_steps(task, TWINS[task.task](*starts.shape[1:]), starts, 105, seed=1000 + seed)
