"""Waiting for what must come, however slow the machine is: the only place where a test sleeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

#: Seconds after which something hangs, whatever the machine: only so that a hang ends.
HANG = 900


def until(look: Callable[[], object], process: subprocess.Popen[bytes] | None = None) -> None:
    """Return once ``look()`` holds; ``process``, if any, must live until then."""
    while not look():
        assert process is None or process.poll() is None, f"ended with {process.returncode} before what was waited for"
        time.sleep(0.002)
