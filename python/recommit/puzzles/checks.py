"""Checks of plain Python arguments; the messages name the argument and both values."""

from __future__ import annotations

import operator


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
