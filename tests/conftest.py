"""For all tests: Ctrl-C means what it means in a terminal."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    # A shell starts background jobs with SIGINT ignored, and children inherit that: tests of Ctrl-C would hang.
    signal.signal(signal.SIGINT, signal.default_int_handler)
