"""Does memory grow with the number of calls? Shared by the tests that ask it, with a leak to be noticed."""

from __future__ import annotations

import gc
import mmap
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

STATM = Path("/proc/self/statm")
needs_proc = pytest.mark.skipif(not STATM.exists(), reason="needs /proc")


def resident() -> int:
    """Bytes of this process that are in memory now."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * resource.getpagesize()


#: In this many parts calls are looked at.
PARTS = 5


def growth(rounds: int, call: Callable[[], object], *, warm: int) -> int:
    """Bytes that the process has grown by over ``rounds`` calls, after ``warm`` others.

    By the part of the calls that is in the middle of five: what leaks does so in each, and an allocator that takes or
    gives back a piece now and then does it in one."""
    for _ in range(warm):
        call()
    gc.collect()
    gc.freeze()  # what is there before the first call is not searched again and again
    return PARTS * sorted(_grown(rounds // PARTS, call) for _ in range(PARTS))[PARTS // 2]


def _grown(rounds: int, call: Callable[[], object]) -> int:
    before = resident()
    for _ in range(rounds):
        call()
    return resident() - before


def leak() -> Callable[[], None]:
    """Keeps a megabyte per call: of new memory, since what an allocator hands out may be memory that the process has
    already."""
    kept: list[mmap.mmap] = []

    def keep() -> None:
        kept.append(mmap.mmap(-1, 2**20))
        kept[-1].write(b"x" * 2**20)

    return keep
