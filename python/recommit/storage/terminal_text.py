"""Untrusted text for display: file names, level titles and model output must not control the terminal.

All terminal output of the package goes through ``say`` and ``tell``.
"""

from __future__ import annotations

import os
import re
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

#: Characters that a terminal, spreadsheet or parser might interpret, invisible ones, and those that change text
#: direction; line feeds and tabs are allowed.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
#: Characters that end a Markdown table cell, or begin a tag, an entity or a link.
_MARKDOWN = re.compile(r"[|\n<]|&(?=#|\w+;)|\]\(")
_ESCAPES = {"|": "\\|", "\n": " ", "<": "&lt;", "&": "&amp;", "](": "]\\("}
#: Clears the terminal's current line.
_WIPE = "\r\x1b[K"
#: Clears the terminal and moves to its first line.
_CLEAR = "\x1b[H\x1b[J"


def plain(value: object) -> str:
    """Text with control characters replaced by visible placeholders."""
    return _CONTROL.sub("\ufffd", str(value))


def cell(value: object) -> str:
    """Text escaped for a Markdown table that is also readable in a terminal."""
    return _MARKDOWN.sub(lambda match: _ESCAPES[match[0]], plain(value))


def say(text: object = "", *, end: str = "\n", over: bool = False) -> None:
    """Write to standard error; ``over`` first clears the terminal's line."""
    sys.stderr.write((_WIPE if over else "") + plain(text) + end)
    sys.stderr.flush()


def tell(text: object, *, end: str = "\n") -> None:
    """Write to standard output, escaping characters outside its encoding."""
    _lenient()
    sys.stdout.write(plain(text) + end)
    sys.stdout.flush()


def repaint(text: object) -> None:
    """Clear the terminal and write to it."""
    _lenient()
    sys.stdout.write(f"{_CLEAR}{plain(text)}\n")
    sys.stdout.flush()


def _lenient() -> None:
    """Let standard output escape characters outside its encoding, as Python does on standard error."""
    if getattr(sys.stdout, "errors", "") in ("strict", "surrogateescape") and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def unread() -> bool:
    """True if the reader of the output has closed it (as ``head`` does); further output is then discarded."""
    remaining = [stream for stream in (sys.stdout, sys.stderr) if _left(stream)]
    for stream in remaining:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    return bool(remaining)


def _left(stream: TextIO) -> bool:
    """True for a pipe known to have no reader."""
    try:
        pipe = select.poll()
        pipe.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in pipe.poll(0))
    except (AttributeError, OSError, ValueError):
        return False


class StatusLine:
    """A progress line on standard error.

    On a terminal it is rewritten in place; elsewhere each text is a new line, or dropped if ``terminal_only``.
    ``quiet`` drops everything.
    """

    def __init__(self, *, terminal_only: bool = False, quiet: bool = False) -> None:
        self.live, self.terminal_only = sys.stderr.isatty() and not quiet, terminal_only or quiet
        self._shown = False

    def show(self, text: str) -> None:
        """Show a new text."""
        if self.live or not self.terminal_only:
            say(text, over=self.live, end="" if self.live else "\n")
            self._shown = self.live

    def clear(self) -> None:
        """Clear the line."""
        if self._shown:
            say(over=True, end="")
            self._shown = False

    def end(self) -> None:
        """Keep the line and begin a new one."""
        if self._shown:
            say()
            self._shown = False
