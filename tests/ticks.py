"""Does the interpreter go on during a call? Shared by the tests that ask it."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def goes_on(call: Callable[[int], object], tries: int) -> bool:
    """Whether another thread has a turn during `call(size)`, in one of the tries.

    No thread is made to give the interpreter up meanwhile, so that a turn between two looks at the count means that the
    call itself let go of it: no matter how long anything takes. A busy machine gives the other thread no core for a
    while: each try is twice the size of the one before, until the call outlasts any such while.
    """
    with _patience(), _other_thread() as turns:
        return any(_moves(turns, lambda size=2**doubled: call(size)) for doubled in range(tries))


def holder() -> Callable[[int], object]:
    """The planted defect: a call of a quarter of a second that keeps the GIL."""
    values = np.random.default_rng(0).random(1_000_000).tolist()
    return lambda _size: sorted(values)


def _moves(turns: list[int], call: Callable[[], object]) -> bool:
    before = turns[0]
    call()
    return turns[0] > before


@contextmanager
def _patience() -> Iterator[None]:
    """Threads that begin to wait for the interpreter from here on wait until its holder lets go."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


@contextmanager
def _other_thread() -> Iterator[list[int]]:
    """One that counts its turns, and offers the interpreter to others after each."""
    turns, stop = [0], threading.Event()

    def take() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=take)
    thread.start()
    try:
        yield turns
    finally:
        stop.set()
        thread.join()
