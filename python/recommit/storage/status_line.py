"""One line on standard error that says how far long work is."""

from __future__ import annotations

import sys

from recommit.storage.terminal_text import say


class StatusLine:
    """Stays one line on a terminal; elsewhere each text is a line of its own, or nothing where ``terminal_only``; and
    ``quiet`` says nothing at all."""

    def __init__(self, *, terminal_only: bool = False, quiet: bool = False) -> None:
        self.live, self.terminal_only = sys.stderr.isatty() and not quiet, terminal_only or quiet
        self._shown = False

    def show(self, text: str) -> None:
        """Say how far it is now."""
        if self.live or not self.terminal_only:
            say(text, over=self.live, end="" if self.live else "\n")
            self._shown = self.live

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            say(over=True, end="")
            self._shown = False

    def end(self) -> None:
        """Leave the line where it is; what is written next begins another one."""
        if self._shown:
            say()
            self._shown = False
