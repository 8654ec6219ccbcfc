"""Argument checks, with messages that name the argument, the expected and the actual value; and conversion of lists and
single states to batches."""

from __future__ import annotations

import operator
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    #: A batch of states or a single state, as an array or nested lists.
    Grids: TypeAlias = NDArray[np.uint8] | Sequence[Any]
    #: One number per state, or one for all, as an array or a list.
    Numbers: TypeAlias = NDArray[Any] | Sequence[Any] | int

#: Descriptions of numpy dtype kinds.
KINDS = {"iu": "integers", "f": "floats", "iuf": "integers or floats", "b": "booleans"}
#: Limit on the bytes of states per call; larger requests must be split (``start=``).
MAX_BYTES = 4 << 30
MAX_SEED = 2**63 - 1


def integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """``value`` as an int in ``low``..``high``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name}: expected {f'at least {low}' if high is None else f'{low}..{high}'}, got {number}")
    return number


def number(name: str, value: float, low: float = -np.inf) -> float:
    """``value`` as a float of at least ``low``."""
    result = float(value)
    if isnan(result) or result < low:
        raise ValueError(f"{name}: expected a number{'' if low == -np.inf else f' of at least {low:g}'}, got {value}")
    return result


def choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Check that ``value`` is one of ``choices``."""
    if value not in choices:
        *first, last = choices
        raise ValueError(f"{name}: expected {', '.join(first)}{' or ' * bool(first)}{last}, got {value}")


def pair(name: str, value: object) -> tuple[object, object]:
    """A pair of numbers; a single one is repeated."""
    if not isinstance(value, tuple):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name}: expected one number or two, got {value}")
    return value


def array(name: str, value: Any, kinds: str) -> NDArray[Any]:
    """``value`` as an array of these kinds, without copying arrays."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array without a mask, got {type(value).__name__}")
    result = np.asarray(value)
    if result.dtype.kind not in kinds:
        raise TypeError(f"{name}: expected {KINDS[kinds]}, got {result.dtype}")
    return result


def shape(name: str, values: NDArray[Any], *expected: Sequence[int | str]) -> None:
    """Check for one of the ``expected`` shapes; a letter stands for any length, "..." at the end for further axes."""
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
    """Check that all values lie in ``low``..``high``; NaN does not."""
    if values.size and not (values.min() >= low and values.max() <= high):  # both are NaN if any value is
        _refuse(name, values, f"{unit} in {low:g}..{high:g}", lambda part: (part >= low) & (part <= high))


def finite(name: str, values: NDArray[Any]) -> None:
    """Check that all values are finite."""
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        _refuse(name, values, "finite numbers", np.isfinite)


def sums(name: str, values: NDArray[Any], slack: float) -> None:
    """Check that the last axis sums to 1."""
    total = values.sum(axis=-1, dtype=np.float64)
    if total.size and not np.abs(total - 1.0).max() <= slack:
        _refuse(name, total, "sums of 1 over the last axis", lambda part: np.abs(part - 1.0) <= slack)


def _refuse(name: str, values: NDArray[Any], expected: str, fine: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> None:
    where = tuple(int(i) for i in np.argwhere(~fine(values))[0])
    raise ValueError(f"{name}: expected {expected}, got {values[where]} at {_shown(where)}")


def batch(count: object, seed: object, start: object, cells: int) -> tuple[int, int, int]:
    """Check count, seed and start of generated instances of ``cells`` bytes each."""
    return (
        integer("count", count, 0, MAX_BYTES // cells),
        integer("seed", seed, 0, MAX_SEED),
        integer("start", start, 0, MAX_SEED),
    )


def window(length: object, shortest: int, longest: int) -> tuple[int, int]:
    """An optimal length, or (shortest, longest), as a window within ``shortest``..``longest``."""
    low, high = pair("length", length)
    low, high = integer("length", low, shortest, longest), integer("length", high, shortest, longest)
    if low > high:
        raise ValueError(f"length: expected (shortest, longest) in this order, got ({low}, {high})")
    return low, high


def grids(states: Grids, name: str = "states") -> tuple[NDArray[np.uint8], bool]:
    """The states as a batch, and True if they were a single state. The core checks shape and content of arrays."""
    array: Any = _cells(states, name) if isinstance(states, list | tuple) else states
    if not isinstance(array, np.ndarray):
        has = "; env.reset()[0] is a state where observation='grid'" if hasattr(array, "reset") else ""
        has = next((f"; take its .{own}" for own in ("states", "state") if hasattr(array, own)), has)
        raise TypeError(f"{name}: expected a numpy array, got {type(array).__name__}{has}")
    if array.dtype.kind in "iu" and array.dtype != np.uint8:
        raise TypeError(f"{name}: expected dtype uint8, got {array.dtype}; take {name}.astype(np.uint8)")
    return (array[None] if array.ndim == 2 else array), array.ndim == 2


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
    """One number per state of a batch, repeating a single one; arrays are passed through."""
    if isinstance(numbers, list | tuple):
        return np.asarray(numbers)
    if isinstance(numbers, int | np.integer) and not isinstance(numbers, bool):
        return np.full(len(batch), numbers)
    return numbers


def rows(actions: Numbers, one: bool) -> Any:
    """Actions as one row per state; those of a single state become one row."""
    array: Any = np.asarray(actions) if isinstance(actions, list | tuple) else actions
    return array[None] if one and getattr(array, "ndim", 0) == 1 else array
