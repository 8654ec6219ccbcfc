"""Waiting for what must come, however slow the machine is: the only place where a test sleeps."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

#: Seconds after which something hangs, whatever the machine: only so that a hang ends.
HANG = 600


def until(look: Callable[[], object], process: subprocess.Popen[bytes] | None = None) -> None:
    """Return once ``look()`` holds; ``process``, if any, must live until then."""
    while not look():
        assert process is None or process.poll() is None, f"ended with {process.returncode} before what was waited for"
        time.sleep(0.002)


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is killed where its test gave up waiting; ``with Popen(...)`` waits for it without a limit."""
    with process:
        try:
            yield process
        finally:
            process.kill()
