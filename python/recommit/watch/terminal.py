"""A match in a terminal: both boards as text, the policy's plans, the regret of every commitment, and the keys."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from recommit import ACTIONS
from recommit.puzzles.levels import format_levels
from recommit.puzzles.solutions import UNSOLVABLE
from recommit.storage.terminal_text import plain, repaint, tell
from recommit.watch import match as match_of
from recommit.watch.match import USUAL, Commitment, Level, Played

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recommit.puzzles.levels import Grid
    from recommit.watch.match import Match

#: Width of each board, and of the bar of a probability of 1, in characters.
WIDE, BAR = 40, 16
#: Shown below the boards.
HELP = (
    "regret: the value that the best depth would have added, under the same plans\n"
    "space or right one observation on   left or b back   1 to 8 the fixed depth\n"
    "n next level   r from the start   q quit"
)
#: Input of a terminal -> command.
WORDS = {
    **{f"\x1b{middle}{letter}": word for letter, word in {"C": "on", "D": "back"}.items() for middle in "[O"},
    **dict.fromkeys(" \r\n", "on"),
    "b": "back",
    "r": "restart",
    "n": "next",
    "q": "quit",
    **{digit: digit for digit in "12345678"},
}
#: A complete key sequence, with modifiers such as ``\x1b[1;5C``, and the beginning of one.
_KEY, _BEGUN = re.compile(r"\x1b\[[0-9;]*[@-~]|\x1bO.|.", re.DOTALL), re.compile(r"\x1b(\[[0-9;]*|O)?")


@dataclass(frozen=True, eq=False)
class Lane:
    """One of the two episodes, with the boards at every observation."""

    name: str
    played: Played
    boards: tuple[Grid, ...]


class MatchGame:
    """State of a match in a terminal, level by level."""

    def __init__(self, match: Match, number: int = 0) -> None:
        self.match, self.number, self.depth = match, number, USUAL
        self.note, self.over = "", False
        self._begin(match.level(number))

    def _begin(self, level: Level) -> None:
        self.level, self.turn = level, 0
        self.lanes = self._lane("its own depths", 0), self._lane(f"always {self.depth}", self.depth)

    def _lane(self, name: str, depth: int) -> Lane:
        played = self.match.episode(self.level, depth)
        return Lane(name, played, tuple(match_of.ends(self.level, played)))

    def press(self, key: str) -> None:
        """Execute the command of a key; unknown words do nothing."""
        self.note = ""
        if key in ("on", "back", "restart"):
            longest = max(len(lane.played.commitments) for lane in self.lanes)
            self.turn = min(max({"on": self.turn + 1, "back": self.turn - 1, "restart": 0}[key], 0), longest)
        elif key.isdigit() and int(key) in self.match.about.fixed:
            self.depth = int(key)
            self.lanes = self.lanes[0], self._lane(f"always {key}", self.depth)
        elif key == "next":
            self._next()
        elif key == "quit":
            self.over = True

    def _next(self) -> None:
        try:
            self._begin(self.match.level(self.number + 1))
            self.number += 1
        except (LookupError, ValueError) as error:
            self.note = f"this is the last level ({error})"

    def screen(self) -> str:
        """Text of the screen: title, both boards with their state, and the keys."""
        about = self.match.about
        title = f"{about.policy}: {self.level.title}; {about.budget} observations; value: {about.value}"
        left, right = (self._column(lane) for lane in self.lanes)
        lines = [f"{a:<{WIDE}}{b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]
        return "\n".join([plain(title), "", *lines, "", self.note, HELP])

    def _column(self, lane: Lane) -> list[str]:
        turn = min(self.turn, len(lane.played.commitments))
        text = format_levels(lane.boards[turn][None], task=self.level.task.task, format="plain").strip("\n")
        return [lane.name, "", *text.split("\n"), "", *self._about(lane, turn)]

    def _about(self, lane: Lane, turn: int) -> list[str]:
        every, distances = lane.played.commitments, lane.played.distances
        spent = sum(each.executed for each in every[:turn])
        dead = ["deadlocked: nothing solves it from here"] if distances[turn] == UNSOLVABLE else []
        if turn == len(every):
            end = "solved" if lane.played.solved else "not solved"
            lost = [each.regret for each in every if each.regret is not None]
            total = [f"regret in all: {sum(lost):.3f}"] if lost else []
            return [f"{end} after {turn} observations, {spent} actions", *dead, *total]
        one = every[turn]
        plan = "".join(ACTIONS[action][0] for action in one.plan)
        return [
            f"observation {turn + 1}: commits to {one.depth}",
            f"plan: [{plan[: one.depth]}] {plan[one.depth :]}",
            f"distance {_said(distances[turn])} to {_said(distances[turn + 1])}; {spent} actions so far",
            *dead,
            *_cost(one),
            *(_bars(self.match.about.depths, one) if lane.name.startswith("its") else []),
        ]


def _said(distance: int) -> str:
    return "out of reach" if distance == UNSOLVABLE else "unknown" if distance < 0 else str(distance)


def _cost(one: Commitment) -> list[str]:
    """Regret of a commitment, with the best depth on a second line."""
    if one.regret is None:
        return ["regret: unknown"]
    lost, _, best = match_of.cost(one.regret, one.best, one.cause).partition(", ")
    return [f"regret: {lost}", *([best] if best else [])]


def _bars(depths: tuple[int, ...], one: Commitment) -> list[str]:
    total = max(sum(one.chances), 1)
    shares = [(depth, chance / total) for depth, chance in zip(depths, one.chances, strict=True)]
    return [f"h = {depth} {'#' * round(BAR * share):<{BAR}} {share:4.0%}" for depth, share in shares]


def with_keys(game: MatchGame) -> None:
    """Play a match with the keys of the terminal; without a terminal, print the last screen."""
    typed = sys.stdin is not None and sys.stdin.isatty()  # None: closed by the parent
    live = typed and sys.stdout.isatty()
    pressed: Iterable[str] = () if sys.stdin is None or typed != live else keys(sys.stdin.fileno())
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


def keys(descriptor: int) -> Iterator[str]:
    """Yield the commands of pressed keys until the input ends."""
    with _at_once(descriptor):
        rest = ""
        while data := os.read(descriptor, 64):
            words, rest = parsed(rest + data.decode("utf-8", "replace"))
            yield from words


def parsed(text: str) -> tuple[list[str], str]:
    """Commands of the typed text, and the rest, which begins an incomplete key."""
    words = list[str]()
    while (key := _KEY.match(text)) and not _BEGUN.fullmatch(text):
        if word := WORDS.get(key[0] if len(key[0]) > 1 else key[0].lower()):
            words.append(word)
        text = text[key.end() :]
    return words, text


@contextmanager
def _at_once(descriptor: int) -> Iterator[None]:
    """Put a terminal into cbreak mode, without echo, and restore it afterwards."""
    if not os.isatty(descriptor) or sys.platform == "win32":
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)  # keeps keys that were typed before
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
