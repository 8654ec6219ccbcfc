"""Solutions in letters, as collections on the web have them: read, checked against their level, written.

``lurdLURD``: left, up, right, down, in capitals where a box is pushed. A number repeats the letter behind it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from recommit import _core
from recommit.puzzles.levels import MAX_FILE_BYTES, level_error
from recommit.puzzles.solver import puzzle_of
from recommit.storage import safe_open

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.puzzles.levels import Grid

#: Longer solutions are refused before they are written out.
MAX_ACTIONS = 1_000_000
#: All solutions of a text together.
MAX_LETTERS = 2**24
#: More lines are refused before any is looked at: one of them costs far more than its byte.
MAX_LINES = 1_000_000
_ACTIONS = "udlr"
_TOKEN = re.compile(r"([0-9]*)([lurdLURD])|[ \t]+")
_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9 _-]*):(.*)")
_NO_LETTERS = re.compile(r"[ \t]*(;.*|::.*)?")


@dataclass(frozen=True)
class Written:
    """One solution of a file."""

    #: One letter per action, numbers written out.
    letters: str
    #: The line of its first letter.
    line: int


@dataclass(frozen=True)
class Replay:
    """What came of playing a solution."""

    #: Actions that were played: all of them, or those before the fault.
    actions: int
    pushes: int
    #: Does the last state solve the level?
    solves: bool
    #: What is wrong with the next letter; empty where nothing is.
    fault: str = ""

    @property
    def right(self) -> bool:
        """Every letter is what it says, and the level is solved."""
        return self.solves and not self.fault


def parse_solutions(text: str) -> list[Written]:
    """The solutions of a text in their order; ``LevelError`` with line and column where it is malformed.

    Blank lines, comments (``;``, ``::``) and key lines stand between solutions; one may begin behind ``Solution:``.
    """
    if text.count("\n") >= MAX_LINES:
        raise level_error(f"expected at most {MAX_LINES} lines, got {text.count(chr(10)) + 1}")
    solutions: list[Written] = []
    first, parts, length, total = 0, list[str](), 0, 0
    for number, line in enumerate([*re.split(r"\r?\n", text), ""], 1):
        key = _KEY.fullmatch(line)
        if (key or _NO_LETTERS.fullmatch(line)) and parts:
            solutions.append(Written("".join(parts), first))
            parts, length = [], 0
        words, column = line, 1
        if key:
            named = key[1].strip().lower() == "solution"
            words, column = (key[2] if named else ""), key.start(2) + 1
        elif _NO_LETTERS.fullmatch(line):
            continue
        letters = _written_out(words, number, column, min(MAX_ACTIONS - length, MAX_LETTERS - total))
        if letters:
            first = first if parts else number
            parts.append(letters)
            length, total = length + len(letters), total + len(letters)
    return solutions


def read_solutions(path: str | os.PathLike[str]) -> list[Written]:
    """The solutions of a file, whose size is checked before it is read."""
    try:
        with safe_open.reading(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise level_error(f"expected at most {MAX_FILE_BYTES} bytes of text, got more")
        return parse_solutions(_decoded(data))
    except _core.LevelError as error:
        raise level_error(f"{os.fspath(path)}: {error}", error.line, error.column) from None


def format_solution(letters: str, runs: bool = False) -> str:
    """The letters as ``parse_solutions`` reads them back, with numbers where ``runs`` and they are shorter."""
    for i, letter in enumerate(letters):
        if letter.lower() not in _ACTIONS:
            raise ValueError(f"letters[{i}]: expected one of lurdLURD, got {letter!r}")
    groups = ((letter, len(list(group))) for letter, group in groupby(letters))
    return "".join(f"{count}{letter}" if runs and count > 2 else letter * count for letter, count in groups)


def check_solution(state: Grid, letters: str, task: str | None = None) -> Replay:
    """Play the letters: each must move, be a capital where it pushes and only there, and the last must solve."""
    puzzle = puzzle_of(state, task)
    pushes = 0
    for played, letter in enumerate(letters):
        after = np.asarray(puzzle.step(state, _ACTIONS.index(letter.lower())))
        fault = _fault(letter, played, bool((after == state).all()), puzzle.pushes(np.stack([state, after]))[0])
        if fault:
            return Replay(played, pushes, False, fault)
        pushes += letter.isupper()
        state = after
    return Replay(len(letters), pushes, bool(puzzle.is_solved(state)))


def check_solutions(levels: Sequence[Grid], solutions: Sequence[Written], task: str | None = None) -> list[Replay]:
    """Play solution i in level i; another number of them is an error, since it could be read in several ways."""
    if len(levels) != len(solutions):
        raise ValueError(
            f"solutions: expected {len(levels)}, one for each level, got {len(solutions)}: which belongs to "
            "which level can be read in several ways"
        )
    return [check_solution(state, each.letters, task) for state, each in zip(levels, solutions, strict=True)]


def _fault(letter: str, played: int, blocked: bool, pushes: bool) -> str:
    place = f"action {played + 1}: "
    if blocked:
        return f"{place}expected a move, got {letter!r} into something that does not give way"
    if pushes and letter.islower():
        return f"{place}expected a capital letter for a push, got {letter!r}"
    if not pushes and letter.isupper():
        return f"{place}expected a small letter for a move without a push, got {letter!r}"
    return ""


def _written_out(words: str, number: int, column: int, room: int) -> str:
    """The letters of a line; its numbers are summed up before anything is written out."""
    tokens, at = [], 0
    while at < len(words):
        token = _TOKEN.match(words, at)
        if token is None:
            raise _unreadable(words, at, number, column)
        if token[2]:
            tokens.append((_count(token[1], number, column + at), token[2]))
            room -= tokens[-1][0]
        if room < 0:
            limits = f"{MAX_ACTIONS} actions in a solution and {MAX_LETTERS} in all"
            raise _error(f"expected at most {limits}, got more", number, column + at)
        at = token.end()
    return "".join(letter * count for count, letter in tokens)


def _count(digits: str, number: int, column: int) -> int:
    if digits.startswith("0"):
        raise _error(f"expected a number from 1 before a letter, got {digits[:9]}", number, column)
    return MAX_ACTIONS + 1 if len(digits) > 9 else int(digits or 1)


def _unreadable(words: str, at: int, number: int, column: int) -> _core.LevelError:
    digits = re.compile("[0-9]*").match(words, at)
    at = digits.end() if digits else at
    got = "the end of the line" if at == len(words) else ascii(words[at])
    return _error(f"expected one of lurdLURD, got {got}", number, column + at)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise _error(f"expected UTF-8, got the byte 0x{data[error.start]:02X}", line, column) from None


def _error(message: str, line: int, column: int) -> _core.LevelError:
    return level_error(f"line {line}, column {column}: {message}", line, column)
