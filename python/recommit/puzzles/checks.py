"""Checks of plain Python arguments; the messages name the argument and both values. What comes as a list, or as a
single state, becomes the batch that the core reads."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    #: A batch of states or a single one, as an array or as lists.
    Grids: TypeAlias = NDArray[np.uint8] | Sequence[Any]
    #: A number per state, or one for all; as an array or as a list.
    Numbers: TypeAlias = NDArray[Any] | Sequence[Any] | int


def integer(name: str, value: object, low: int, high: int) -> int:
    """``value`` as an int between ``low`` and ``high``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: expected {low}..{high}, got {number}")
    return number


def choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """One of the words."""
    if value not in choices:
        raise ValueError(
            f"{name}: expected {' or '.join(filter(None, (', '.join(choices[:-1]), choices[-1])))}, got {value}"
        )


def pair(name: str, value: object) -> tuple[object, object]:
    """Two numbers, or one that stands for both."""
    if not isinstance(value, tuple):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name}: expected one number or two, got {value}")
    return value


#: More bytes of states than this in one call are a mistake; ask in slices instead (``start=``).
MAX_BYTES = 4 << 30
MAX_SEED = 2**63 - 1


def batch(count: object, seed: object, start: object, cells: int) -> tuple[int, int, int]:
    """The three numbers that name a run of instances of ``cells`` bytes each."""
    return (
        integer("count", count, 0, MAX_BYTES // cells),
        integer("seed", seed, 0, MAX_SEED),
        integer("start", start, 0, MAX_SEED),
    )


def window(length: object, shortest: int, longest: int) -> tuple[int, int]:
    """A wanted optimal length, or (shortest, longest), as a window inside what is possible at all."""
    low, high = pair("length", length)
    low, high = integer("length", low, shortest, longest), integer("length", high, shortest, longest)
    if low > high:
        raise ValueError(f"length: expected (shortest, longest) in this order, got ({low}, {high})")
    return low, high


def grids(states: Grids, name: str = "states") -> tuple[NDArray[np.uint8], bool]:
    """A batch, and whether it came as a single state. Arrays stay what they are: the core says what is wrong."""
    array: Any = _cells(states, name) if isinstance(states, list | tuple) else states
    one = isinstance(array, np.ndarray) and array.ndim == 2
    return (array[None] if one else array), one


def _cells(states: Sequence[Any], name: str) -> NDArray[Any]:
    try:
        array = np.asarray(states)
    except ValueError:
        raise ValueError(f"{name}: expected grids of one size, got several sizes") from None
    if array.dtype.kind != "i":
        return array
    if array.size and not (array.min() >= 0 and array.max() <= np.iinfo(np.uint8).max):
        raise ValueError(f"{name}: expected cell codes 0..255, got {array.min()}..{array.max()}")
    return array.astype(np.uint8)


def column(numbers: Numbers, batch: NDArray[Any]) -> Any:
    """A number for each state of a batch, where one stands for all; arrays stay what they are."""
    if isinstance(numbers, list | tuple):
        return np.asarray(numbers)
    if isinstance(numbers, int | np.integer) and not isinstance(numbers, bool):
        return np.full(len(batch), numbers)
    return numbers


def rows(actions: Numbers, one: bool) -> Any:
    """Actions of each state as a row: those of a single state are one."""
    array: Any = np.asarray(actions) if isinstance(actions, list | tuple) else actions
    return array[None] if one and getattr(array, "ndim", 0) == 1 else array
