"""The keys of a terminal: what they mean, and games that are played with them."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from recommit.storage.terminal_text import repaint, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
#: What a terminal sends -> what the key means.
WORDS = {
    **{f"\x1b{middle}{letter}": word for letter, word in _ARROWS.items() for middle in "[O"},
    **dict(zip("wsad", ("up", "down", "left", "right"), strict=True)),
    **dict(zip("kjhl", ("up", "down", "left", "right"), strict=True)),
    "r": "restart",
    "n": "next",
    "q": "quit",
    **dict.fromkeys(" \r\n", "on"),
    "b": "back",
    "g": "go",
    **{digit: digit for digit in "12345678"},
}
#: A whole key, with Ctrl and others held as ``\x1b[1;5C``, and the beginning of one.
_KEY, _BEGUN = re.compile(r"\x1b\[[0-9;]*[@-~]|\x1bO.|.", re.DOTALL), re.compile(r"\x1b(\[[0-9;]*|O)?")


class Game(Protocol):
    """What is played with keys."""

    over: bool

    def press(self, key: str) -> None:
        """Do what a key says."""

    def screen(self) -> str:
        """All that is shown."""


def keys(descriptor: int) -> Iterator[str]:
    """The keys that are pressed until the input ends."""
    with _at_once(descriptor):
        rest = ""
        while data := os.read(descriptor, 64):
            words, rest = parsed(rest + data.decode("utf-8", "replace"))
            yield from words


def parsed(text: str) -> tuple[list[str], str]:
    """The words of what was typed, and the beginning of a key that is not whole yet."""
    words = list[str]()
    while (key := _KEY.match(text)) and not _BEGUN.fullmatch(text):
        if word := WORDS.get(key[0] if len(key[0]) > 1 else key[0].lower()):
            words.append(word)
        text = text[key.end() :]
    return words, text


@contextmanager
def _at_once(descriptor: int) -> Iterator[None]:
    """Let a terminal send each key as it is pressed, without showing it; afterwards it is as it was."""
    if not os.isatty(descriptor) or sys.platform == "win32":
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)  # what was typed while the level was read counts, too
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def with_keys(game: Game) -> None:
    """Play with the keys of the terminal, if there is one."""
    if sys.stdin is None:  # closed by the process that started this: there are no keys
        run(game, (), live=False)
    else:
        run(game, keys(sys.stdin.fileno()), live=sys.stdin.isatty() and sys.stdout.isatty())


def run(game: Game, pressed: Iterable[str], *, live: bool) -> None:
    """Play until there are no more keys; ``live`` shows every move in place of the last one."""
    if live:
        repaint(game.screen())
    for key in pressed:
        game.press(key)
        if live:
            repaint(game.screen())
        if game.over:
            break
    if not live:
        tell(game.screen())
