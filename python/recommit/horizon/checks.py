"""Checks of arrays and numbers; the messages name the argument and both values."""

from __future__ import annotations

import operator
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: What an array may hold, by the letters of numpy's kinds.
KINDS = {"iu": "integers", "f": "floats", "iuf": "integers or floats", "b": "booleans"}


def array(name: str, value: Any, kinds: str) -> NDArray[Any]:
    """``value`` as an array, without a copy where it is one."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array without a mask, got {type(value).__name__}")
    result = np.asarray(value)
    if result.dtype.kind not in kinds:
        raise TypeError(f"{name}: expected {KINDS[kinds]}, got {result.dtype}")
    return result


def shape(name: str, values: NDArray[Any], *expected: Sequence[int | str]) -> None:
    """One of the ``expected`` shapes; a letter stands for any length, "..." at the end for any further axes."""
    if not any(_fits(values.shape, each) for each in expected):
        raise ValueError(f"{name}: expected shape {' or '.join(map(_shown, expected))}, got {_shown(values.shape)}")


def _fits(got: tuple[int, ...], expected: Sequence[int | str]) -> bool:
    if expected[-1] == "...":
        expected = expected[:-1]
        got = got[: len(expected)]
    return len(got) == len(expected) and all(isinstance(e, str) or g == e for g, e in zip(got, expected, strict=True))


def _shown(lengths: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, lengths))}]"


def between(name: str, values: NDArray[Any], low: float, high: float, unit: str = "numbers") -> None:
    """Every number lies in low..high; NaN lies nowhere."""
    if values.size and not (values.min() >= low and values.max() <= high):  # both are NaN if anything is
        _refuse(name, values, f"{unit} in {low:g}..{high:g}", lambda part: (part >= low) & (part <= high))


def finite(name: str, values: NDArray[Any]) -> None:
    """Neither NaN nor infinite."""
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        _refuse(name, values, "finite numbers", np.isfinite)


def sums(name: str, values: NDArray[Any], slack: float) -> None:
    """The last axis adds up to 1."""
    total = values.sum(axis=-1, dtype=np.float64)
    if total.size and not np.abs(total - 1.0).max() <= slack:
        _refuse(name, total, "sums of 1 over the last axis", lambda part: np.abs(part - 1.0) <= slack)


def _refuse(name: str, values: NDArray[Any], expected: str, fine: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> None:
    where = tuple(int(i) for i in np.argwhere(~fine(values))[0])
    raise ValueError(f"{name}: expected {expected}, got {values[where]} at {_shown(where)}")


def whole(name: str, value: object, low: int) -> int:
    """``value`` as an int of at least ``low``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if number < low:
        raise ValueError(f"{name}: expected at least {low}, got {number}")
    return number


def number(name: str, value: float, low: float = -np.inf) -> float:
    """``value`` as a float of at least ``low``."""
    result = float(value)
    if isnan(result) or result < low:
        raise ValueError(f"{name}: expected a number{'' if low == -np.inf else f' of at least {low:g}'}, got {value}")
    return result


def choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """One of the words."""
    if value not in choices:
        raise ValueError(f"{name}: expected {', '.join(choices[:-1])} or {choices[-1]}, got {value}")
