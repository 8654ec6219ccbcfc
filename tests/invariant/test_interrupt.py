"""Ctrl-C stops long calls at once (M7), and what comes afterwards works as before."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.effort import unit

import recommit

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds until the signal comes: again and again, from the first moments of a call on.
DELAYS = [0.02 + 0.01 * repeat for repeat in range(25)]
#: Units of tests/effort.py between the signal and the exception, half a millisecond or so each.
LIMIT = 600

SOKOBAN = recommit.Sokoban(10, boxes=4)
LONG_CALLS: dict[str, Callable[[int], object]] = {
    "generate": lambda threads: SOKOBAN.generate(1_000_000, seed=1, threads=threads),
    "search": lambda threads: recommit.Sliding(5).solve(BOARDS, threads=threads),
    "solve": lambda threads: SOKOBAN.solve(np.repeat(LEVELS, 400_000, axis=0), threads=threads),
}
BOARDS = recommit.Sliding(5).generate(8, seed=0).states
LEVELS = SOKOBAN.generate(4, seed=0).states


def reaction(call: Callable[[int], object], threads: int, delay: float) -> float:
    """Effort of all threads between the signal and the exception; -1 if the call ended before."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, interrupt)
    try:
        timer.start()  # on a busy machine the signal may come before this returns
        call(threads)
    except KeyboardInterrupt:
        return (time.process_time() - sent[0]) / unit()
    finally:
        timer.cancel()
        timer.join()
    return -1.0


@pytest.mark.skipif(os.name == "nt", reason="signals cannot be sent to one process there")
@pytest.mark.parametrize("name", LONG_CALLS)
@pytest.mark.parametrize("delays", [DELAYS[::4], pytest.param(DELAYS, marks=pytest.mark.nightly)], ids=["some", "all"])
def test_ctrl_c_stops_long_calls(
    name: str, delays: list[float], record_property: Callable[[str, object], None]
) -> None:
    expected = SOKOBAN.solve(LEVELS).length.tolist()
    for repeat, delay in enumerate(delays):
        units = reaction(LONG_CALLS[name], threads=1 + repeat % 3, delay=delay)
        assert 0 <= units < LIMIT, f"{name}, repeat {repeat}: {units:.0f} units"
    assert SOKOBAN.solve(LEVELS).length.tolist() == expected
    record_property("executed", len(delays))


def test_a_deaf_call_is_noticed() -> None:
    """A signal that comes before the call has begun shows nothing. Where every other one did, forty would by a chance
    of 1e-12; the first one that does not ends the test."""

    def deaf(_threads: int) -> None:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 5_000_000)  # without the GIL, and without looking at signals

    assert any(reaction(deaf, threads=1, delay=0.05) > LIMIT for _ in range(40))
