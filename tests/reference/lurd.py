"""A slow twin of solutions in letters, written from docs/guides/level-files.md: one character, one cell at a time."""

from __future__ import annotations

import numpy as np
from tests.reference.sokoban import BOX, BOX_ON_GOAL, PLAYER, PLAYER_ON_GOAL, Level

LETTERS = "udlr"
MAX_ACTIONS = 1_000_000


class RefusedError(Exception):
    """The text is malformed at (line, column)."""


def parse(text: str) -> list[tuple[int, str]]:
    """The first line and the letters of each solution."""
    solutions: list[tuple[int, str]] = []
    going_on = False
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        bare = line.strip(" \t")
        key = bare.split(":")[0]
        is_key = ":" in bare and bare[0].isalpha() and all(c.isalnum() or c in " -_" for c in key) and key.isascii()
        if not bare or bare[0] == ";" or bare.startswith("::"):
            going_on = False
            continue
        start = 0
        if is_key:
            going_on = False
            if key.strip(" \t").lower() != "solution":
                continue
            start = line.index(":") + 1
        letters = spelled(line, start, number, len(solutions[-1][1]) if going_on else 0)
        if letters and going_on:
            solutions[-1] = (solutions[-1][0], solutions[-1][1] + letters)
        elif letters:
            solutions.append((number, letters))
            going_on = True
    return solutions


def spelled(line: str, start: int, number: int, before: int) -> str:
    letters, digits, begin = "", "", start
    for column in range(start, len(line) + 1):
        char = line[column] if column < len(line) else ""
        if char and char in "0123456789":
            begin = begin if digits else column
            digits += char
        elif char and char.lower() in LETTERS and char.isascii():
            begin = begin if digits else column
            if digits.startswith("0"):
                raise RefusedError(number, begin + 1)
            count = int(digits[:8] or 1) if len(digits) < 9 else MAX_ACTIONS + 1
            if before + len(letters) + count > MAX_ACTIONS:
                raise RefusedError(number, begin + 1)
            letters, digits = letters + char * count, ""
        elif digits or (char and char not in " \t"):
            raise RefusedError(number, column + 1)
    return letters


def play(grid: np.ndarray, letters: str) -> tuple[int, int, bool, bool]:
    """Actions played, pushes, whether solved, and whether a letter was wrong."""
    level = Level(grid)
    (player,) = [cell for cell in level.floor if grid[cell] in (PLAYER, PLAYER_ON_GOAL)]
    state = (player, frozenset(cell for cell in level.floor if grid[cell] in (BOX, BOX_ON_GOAL)))
    pushes = 0
    for played, letter in enumerate(letters):
        after = level.act(state, LETTERS.index(letter.lower()))
        pushed = after[1] != state[1]
        if after == state or pushed != letter.isupper():
            return played, pushes, False, True
        pushes += pushed
        state = after
    return len(letters), pushes, level.solved(state), False
