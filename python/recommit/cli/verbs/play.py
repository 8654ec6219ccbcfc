"""``recommit play``: a level played by hand, with the keys of a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.cli.boards import LevelOptions
from recommit.cli.flags import WrongCall
from recommit.storage.terminal_text import plain, repaint, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recommit.cli.boards import ChosenLevel
    from recommit.puzzles.levels import Grid

ACTIONS = ("up", "down", "left", "right")
#: Search nodes of a hint, and of the fewest actions that are named at the end.
NODES = 2_000_000


class BoardGame:
    """One level after another; ``level`` gives the one of a number."""

    def __init__(self, level: Callable[[int], ChosenLevel], index: int = 0) -> None:
        self.level, self.index = level, index
        self.note, self.over = "", False
        self._begin()

    @property
    def state(self) -> Grid:
        """The board as it is now."""
        return self.path[-1]

    @property
    def solved(self) -> bool:
        """Is every box, or tile, where it belongs?"""
        return bool(self.chosen.task.is_solved(self.state[None])[0])

    def press(self, key: str) -> None:
        """Do what a key says; words that are no key do nothing."""
        self.note = ""
        if key in ACTIONS:
            self._move(ACTIONS.index(key))
        elif key in ("undo", "restart"):
            del self.path[1 if key == "restart" else max(1, len(self.path) - 1) :]
        elif key == "hint":
            self.note = self._hint()
        elif key == "next":
            self._next()
        elif key == "quit":
            self.over = True

    def summary(self) -> str:
        """How many actions so far; at the end, how few would have done."""
        count = len(self.path) - 1
        words = f"{count} action{'s' * (count != 1)}"
        return f"solved with {words}{self._fewest()}" if self.solved else words

    def board(self) -> str:
        """The board in letters, as level files have it."""
        import recommit

        return recommit.format_levels(self.state[None], task=self.chosen.task.task, format="plain").strip("\n")

    def _begin(self) -> None:
        self.chosen = self.level(self.index)
        self.path = [self.chosen.state]

    def _next(self) -> None:
        """The next level, if there is one: the game goes on where there is none."""
        self.index += 1
        try:
            self._begin()
        except WrongCall:
            self.index -= 1
            self.note = "this is the last level"

    def _move(self, action: int) -> None:
        after = self.chosen.task.step(self.state[None], np.array([action], np.uint8))[0]
        if not self.solved and not np.array_equal(after, self.state):
            self.path.append(after)

    def _solutions(self, state: Grid) -> Any:
        import recommit

        return self.chosen.task.solve(state[None], recommit.Limits(nodes=NODES), threads=1)

    def _hint(self) -> str:
        if self.solved:
            return "it is solved"
        solutions = self._solutions(self.state)
        if int(solutions.length[0]) == -1:
            return "nothing solves it from here: undo"
        plan = solutions[0]
        return f"{ACTIONS[plan[0]]}, then {len(plan) - 1} more" if len(plan) else "too hard for a hint"

    def _fewest(self) -> str:
        least = int(self._solutions(self.path[0]).length[0])
        return f"; the fewest are {least}" if least >= 0 else ""


_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
#: What a terminal sends -> what the key means.
WORDS = {
    **{f"\x1b{middle}{letter}": word for letter, word in _ARROWS.items() for middle in "[O"},
    **dict(zip("wsad", ("up", "down", "left", "right"), strict=True)),
    **dict(zip("kjhl", ("up", "down", "left", "right"), strict=True)),
    "u": "undo",
    "r": "restart",
    "?": "hint",
    "n": "next",
    "q": "quit",
}
#: Shown below the board.
HELP = "arrows, wasd or hjkl move   u undo   r restart   ? hint   n next level   q quit"


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
    while text:
        if text in ("\x1b", "\x1b[", "\x1bO"):
            return words, text
        length = 3 if text[:2] in ("\x1b[", "\x1bO") else 1
        if word := WORDS.get(text[:length].lower() if length == 1 else text[:length]):
            words.append(word)
        text = text[length:]
    return words, ""


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


def play(options: LevelOptions) -> None:
    """Play levels with the keys of the terminal.

    Arrows, wasd or hjkl move; u takes back, r begins again, ? gives a hint, n goes on to the next level, q ends.
    """
    game = BoardGame(options.level, options.index)
    if sys.stdin is None:  # closed by whoever started this: there are no keys
        run(game, (), live=False)
    else:
        run(game, keys(sys.stdin.fileno()), live=sys.stdin.isatty() and sys.stdout.isatty())


def run(game: BoardGame, pressed: Iterable[str], *, live: bool) -> None:
    """Play until there are no more keys; ``live`` shows every move in place of the last one."""
    if live:
        repaint(screen(game))
    for key in pressed:
        game.press(key)
        if live:
            repaint(screen(game))
        if game.over:
            break
    if not live:
        tell(screen(game))


def screen(game: BoardGame) -> str:
    """Title, board, how it stands, and the keys."""
    return "\n".join([plain(game.chosen.title), "", game.board(), "", game.summary(), game.note, HELP])
