"""Answers of benchmarks: how they are grouped and timed, and how one is spoiled to see that somebody looks at it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from bench.conftest import Timed


def group(name: str) -> pytest.MarkDecorator:
    """Benchmarks of one table: CPU time of this process, because other programs share the machine."""
    return pytest.mark.benchmark(group=name, timer=time.process_time, max_time=0.5, min_rounds=3)


def copied(timed: Timed, source: Any, items: int = 0) -> None:
    """A yardstick: numpy copies the array, whose rows are the items unless it says otherwise."""
    target = np.zeros_like(source)

    def copy() -> np.ndarray:
        np.copyto(target, source)
        return target

    assert np.array_equal(timed(copy, items or len(source), yardstick=True), source)


def spoiled(answer: Any) -> Any:
    """The same with its first number changed."""
    if isinstance(answer, tuple):
        return (spoiled(answer[0]), *answer[1:])
    if isinstance(answer, list):
        return [spoiled(answer[0]), *answer[1:]]
    if isinstance(answer, np.ndarray):
        return _other_array(answer)
    return answer + 1


def _other_array(array: np.ndarray) -> np.ndarray:
    other = array.copy()
    first = other.flat[0]
    other.flat[0] = first + 1 if other.dtype.kind == "f" else not first
    return other
