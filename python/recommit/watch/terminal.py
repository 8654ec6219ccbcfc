"""A match in a terminal: both boards as text, what the policy planned, and what every commitment cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from recommit import ACTIONS
from recommit.puzzles.levels import format_levels
from recommit.puzzles.solutions import UNSOLVABLE
from recommit.storage.terminal_text import plain
from recommit.watch import match as match_of
from recommit.watch.match import USUAL, Commitment, Level, Played

if TYPE_CHECKING:
    from recommit.puzzles.levels import Grid
    from recommit.watch.match import Match

#: Columns of each board, and of a probability of 1.
WIDE, BAR = 40, 16
#: Shown below the boards.
HELP = (
    "space one observation on   b back   arrows, wasd or hjkl move the left board   g let it go on\n"
    "1 to 8 the fixed depth   n next level   r from the start   q quit"
)
DEAD = "deadlocked: nothing solves it from here"


@dataclass(frozen=True, eq=False)
class Lane:
    """One of the two episodes: what was played, and the boards in between."""

    name: str
    played: Played
    boards: tuple[Grid, ...]
    #: The boards of moves by hand, the one where they began first.
    hand: tuple[Grid, ...] = ()

    @classmethod
    def of(cls, name: str, level: Level, played: Played) -> Lane:
        """An episode from its start."""
        return cls(name, played, tuple(match_of.ends(level, played)))

    def until(self, turn: int) -> Lane:
        """The same up to an observation."""
        played = self.played
        cut = Played(played.commitments[:turn], played.distances[: turn + 1], False)
        return replace(self, played=cut, boards=self.boards[: turn + 1])

    def board(self, turn: int) -> Grid:
        """Where it stands at an observation, or at the end."""
        return self.hand[-1] if self.hand else self.boards[min(turn, len(self.boards) - 1)]


class MatchGame:
    """One level after another of a match."""

    def __init__(self, match: Match, number: int = 0) -> None:
        self.match, self.number, self.depth = match, number, USUAL
        self.note, self.over = "", False
        self._begin(match.level(number))

    def _begin(self, level: Level) -> None:
        budget = self.match.about.budget
        self.lanes = (
            Lane.of("its own depths", level, self.match.episode(level, budget, 0)),
            self._fixed(level),
        )
        self.level, self.turn = level, 0

    def _fixed(self, level: Level) -> Lane:
        played = self.match.episode(level, self.match.about.budget, self.depth)
        return Lane.of(f"always {self.depth}", level, played)

    def press(self, key: str) -> None:
        """Do what a key says; words that are no key do nothing."""
        self.note = ""
        if key in ACTIONS:
            self._move(ACTIONS.index(key))
        elif key in ("on", "go") and self.lanes[0].hand:
            self._let_go()
        elif key in ("on", "back", "restart"):
            self._turn({"on": self.turn + 1, "back": self.turn - 1, "restart": 0}[key], key)
        elif key.isdigit() and int(key) in self.match.about.fixed:
            self.depth = int(key)
            self.lanes = (self.lanes[0], self._fixed(self.level))
        elif key == "next":
            self._next()
        elif key == "quit":
            self.over = True

    def _turn(self, turn: int, key: str) -> None:
        if key != "on" and self.lanes[0].hand:  # back to before the moves by hand, which are forgotten
            self._begin(self.level)
        longest = max(len(lane.played.commitments) for lane in self.lanes)
        self.turn = min(max(turn, 0), longest)

    def _next(self) -> None:
        try:
            self._begin(self.match.level(self.number + 1))
            self.number += 1
        except (LookupError, ValueError) as error:
            self.note = f"this is the last level ({error})"

    def _move(self, action: int) -> None:
        own = self.lanes[0]
        turn = min(self.turn, len(own.played.commitments))
        here, task = own.board(turn), self.level.task
        if bool(task.is_solved(here)):
            return
        after = task.step(here[None], np.array([action], np.uint8))[0]
        hand = (*(own.hand or (here,)), *([] if np.array_equal(after, here) else [after]))
        own = own if own.hand else own.until(turn)
        self.lanes = (replace(own, hand=hand), self.lanes[1])

    def _let_go(self) -> None:
        """The policy observes the board that is there, with the observations that are left."""
        own, number = self.lanes[0], len(self.lanes[0].played.commitments)
        left, level = self.match.about.budget - number, Level(self.level.task, self.lanes[0].hand[-1], "")
        if left < 1:
            self.note = f"no observations are left of {self.match.about.budget}"
            return
        try:
            more = self.match.episode(level, left, 0)
        except ValueError as error:
            self.note = str(error)
            return
        played = Played(
            own.played.commitments + more.commitments, own.played.distances[:-1] + more.distances, more.solved
        )
        boards = (*own.boards[:-1], *match_of.ends(level, more))
        self.lanes, self.turn = (Lane(own.name, played, boards), self.lanes[1]), number

    def screen(self) -> str:
        """Title, both boards, how they stand, and the keys."""
        about = self.match.about
        title = f"{about.policy}: {self.level.title}; {about.budget} observations; value: {about.value}"
        left, right = (self._column(lane) for lane in self.lanes)
        lines = [f"{a:<{WIDE}}{b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]
        return "\n".join([plain(title), "", *lines, "", self.note, HELP])

    def _column(self, lane: Lane) -> list[str]:
        turn, commitments = min(self.turn, len(lane.played.commitments)), lane.played.commitments
        board = lane.board(turn)
        text = format_levels(board[None], task=self.level.task.task, format="plain").strip("\n")
        return [lane.name, "", *text.split("\n"), "", *self._about(lane, turn, commitments[turn : turn + 1])]

    def _about(self, lane: Lane, turn: int, now: tuple[Commitment, ...]) -> list[str]:
        spent = sum(each.executed for each in lane.played.commitments[:turn])
        if lane.hand:
            return self._by_hand(lane)
        distance = lane.played.distances[turn]
        dead = [DEAD] if distance == UNSOLVABLE else []
        if not now:
            end = "solved" if lane.played.solved else "not solved"
            lost = [each.regret for each in lane.played.commitments if each.regret is not None]
            total = [f"regret in all: {sum(lost):.3f}"] if lost else []
            return [f"{end} after {turn} observations, {spent} actions", *dead, *total]
        (one,) = now
        plan = "".join(ACTIONS[action][0] for action in one.plan)
        after = lane.played.distances[turn + 1]
        return [
            f"observation {turn + 1}: commits to {one.depth}",
            f"plan: [{plan[: one.depth]}] {plan[one.depth :]}",
            f"distance {_said(distance)} to {_said(after)}; {spent} actions so far",
            *dead,
            *_cost(one),
            *(_bars(self.match.about.depths, one) if lane.name.startswith("its") else []),
        ]

    def _by_hand(self, lane: Lane) -> list[str]:
        distance = match_of.distance(Level(self.level.task, lane.hand[-1], ""))
        left = self.match.about.budget - len(lane.played.commitments)
        solved = ["solved by hand"] if distance == 0 else []
        return [
            f"by hand: {len(lane.hand) - 1} actions",
            f"distance {_said(distance)}; {left} observations left",
            *([DEAD] if distance == UNSOLVABLE else solved),
        ]


def _said(distance: int) -> str:
    return "out of reach" if distance == UNSOLVABLE else "unknown" if distance < 0 else str(distance)


def _cost(one: Commitment) -> list[str]:
    """In two lines where there is much to say."""
    if one.regret is None:
        return ["regret: unknown"]
    lost, _, best = match_of.cost(one.regret, one.best, one.cause).partition(", ")
    return [f"regret: {lost}", *([best] if best else [])]


def _bars(depths: tuple[int, ...], one: Commitment) -> list[str]:
    total = max(sum(one.chances), 1)
    shares = [(depth, chance / total) for depth, chance in zip(depths, one.chances, strict=True)]
    return [f"h = {depth} {'#' * round(BAR * share):<{BAR}} {share:4.0%}" for depth, share in shares]
