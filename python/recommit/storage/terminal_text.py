"""Foreign text for people: names in files, titles of levels and words of models are shown and never obeyed.

All that the package writes to a terminal goes through ``say`` and ``tell``.
"""

from __future__ import annotations

import os
import re
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

#: What a terminal, a spreadsheet or a parser might take for an order, and what is not seen or turns what is around it;
#: line feeds and tabs are text.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
#: What ends a cell of a Markdown table, and what begins a tag, an entity or a link in one.
_MARKDOWN = re.compile(r"[|\n<]|&(?=#|\w+;)|\]\(")
_ESCAPES = {"|": "\\|", "\n": " ", "<": "&lt;", "&": "&amp;", "](": "]\\("}
#: Takes away what a terminal shows on the line.
_WIPE = "\r\x1b[K"
#: Takes away all that a terminal shows, and goes to its first line.
_CLEAR = "\x1b[H\x1b[J"


def plain(value: object) -> str:
    """Text without control characters, whose places stay visible."""
    return _CONTROL.sub("\ufffd", str(value))


def cell(value: object) -> str:
    """Text for a table in Markdown that is read in a terminal too."""
    return _MARKDOWN.sub(lambda match: _ESCAPES[match[0]], plain(value))


def say(text: object = "", *, end: str = "\n", over: bool = False) -> None:
    """Write to standard error; ``over`` what is on the terminal's line."""
    sys.stderr.write((_WIPE if over else "") + plain(text) + end)
    sys.stderr.flush()


def tell(text: object, *, end: str = "\n") -> None:
    """Write to standard output, by characters that it can write."""
    _lenient()
    sys.stdout.write(plain(text) + end)
    sys.stdout.flush()


def repaint(text: object) -> None:
    """Write to a terminal in the place of all that it shows."""
    _lenient()
    sys.stdout.write(f"{_CLEAR}{plain(text)}\n")
    sys.stdout.flush()


def _lenient() -> None:
    """A character that is not in the output's encoding is written by its number, as Python does on standard error."""
    if getattr(sys.stdout, "errors", "") in ("strict", "surrogateescape") and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def unread() -> bool:
    """True if the reader of the output has gone, as ``head`` does; then the rest goes nowhere."""
    remaining = [stream for stream in (sys.stdout, sys.stderr) if _left(stream)]
    for stream in remaining:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    return bool(remaining)


def _left(stream: TextIO) -> bool:
    """True for a pipe that is known to have no reader."""
    try:
        pipe = select.poll()
        pipe.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in pipe.poll(0))
    except (AttributeError, OSError, ValueError):
        return False


class StatusLine:
    """One line on standard error with the progress of long work.

    It stays one line on a terminal; elsewhere each text is a line of its own, or nothing where ``terminal_only``; and
    ``quiet`` says nothing at all.
    """

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
