"""How far a graph is, while it is built."""

from __future__ import annotations

import sys
import time

from recommit.storage.terminal_text import say


class LookedLine:
    """How many states were looked at, on one line of a terminal, or now and then elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._begin = self._last = time.monotonic()
        self._looked = 0

    def __call__(self, looked: int, nodes: int) -> None:
        """Say it, unless that was just done."""
        now = time.monotonic()
        if looked < self._looked:  # another graph
            self._begin = self._last = now
        self._looked = looked
        if now - self._last < (0.2 if self._live else 20.0) and looked < nodes:
            return
        self._last = now
        rate = looked / max(now - self._begin, 1e-9)
        say(f"looked at {looked:,} of {nodes:,} states so far, {rate:,.0f} per second", over=self._live, end="\n")
