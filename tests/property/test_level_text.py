"""The level parsers against their plain-Python twin, and what is written against what is read.

Texts come from three sources: packs that are right, the same packs with a few bytes damaged, and random symbols. Both
parsers must accept with equal levels and titles, or refuse at the same line and column.
"""

from __future__ import annotations

import re
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import levels as twin

import recommit

if TYPE_CHECKING:
    from collections.abc import Sequence

FAST = settings(max_examples=200, deadline=None, derandomize=True)
ROUND_TRIPS = settings(max_examples=400, deadline=None, derandomize=True)
SYMBOLS = {"sokoban": " #.$*@+", "ice": " %.@+"}
seeds = st.integers(0, 2**48)


def by_core(data: bytes) -> Any:
    try:
        levels = recommit.parse_levels(data)
    except recommit.LevelError as error:
        return error.line, error.column
    return levels.task, [grid.tolist() for grid in levels], list(levels.titles)


def by_twin(data: bytes) -> Any:
    try:
        parsed = twin.parse(data)
    except twin.RefusedError as error:
        return error.place
    return parsed.task, parsed.grids, parsed.titles


def agree(data: bytes) -> bool:
    """Whether the text is accepted, once both parsers say the same about it."""
    core, reference = by_core(data), by_twin(data)
    assert core == reference, data
    return len(core) == 3


# --- Packs that are right.


def room(random: Random) -> list[list[int]]:
    """Walls around, some inside; one player, one to three boxes and goals."""
    rows, cols = random.randint(3, 9), random.randint(5, 10)
    grid = [[1] * cols for _ in range(rows)]
    inner = [(r, c) for r in range(1, rows - 1) for c in range(1, cols - 1)]
    random.shuffle(inner)
    boxes = random.randint(1, min(3, (len(inner) - 1) // 2))
    cells = [random.choice((5, 5, 6)), *[3] * boxes, *[2] * boxes]
    if cells[0] == 6:
        cells.remove(2)
    if random.random() < 0.3:
        cells[cells.index(3)] = 4
        cells.remove(2) if 2 in cells else cells.__setitem__(0, 5)
    for (r, c), cell in zip(inner, cells, strict=False):
        grid[r][c] = cell
    for r, c in inner[len(cells) :]:
        grid[r][c] = int(random.random() < 0.2)
    return grid


def cave(random: Random) -> list[list[int]]:
    """Rocks around, some inside; one player, one goal."""
    rows, cols = random.randint(3, 9), random.randint(4, 10)
    grid = [[1] * cols for _ in range(rows)]
    inner = [(r, c) for r in range(1, rows - 1) for c in range(1, cols - 1)]
    for r, c in inner:
        grid[r][c] = int(random.random() < 0.2)
    cells = [4] if random.random() < 0.2 else [3, 2]
    for (r, c), cell in zip(random.sample(inner, len(cells)), cells, strict=True):
        grid[r][c] = cell
    return grid


def board(random: Random, rows: int, cols: int) -> list[list[int]]:
    tiles = list(range(rows * cols))
    random.shuffle(tiles)
    return [tiles[r * cols : (r + 1) * cols] for r in range(rows)]


def pack(random: Random) -> tuple[str, list[list[list[int]]]]:
    count, kind = random.randint(1, 3), random.random()
    if kind < 0.7:
        make, task = (room, "sokoban") if kind < 0.45 else (cave, "ice")
        return task, [make(random) for _ in range(count)]
    rows, cols = random.randint(2, 5), random.randint(2, 5)
    return "sliding", [board(random, rows, cols) for _ in range(count)]


def loose_row(random: Random, row: str) -> str:
    """The same row as other programs would write it; the first and last wall may go where nothing leaks."""
    if random.random() < 0.3:
        row = "".join(random.choice(" -_") if symbol == " " else symbol for symbol in row)
    return row + random.choice(["", "", "", " ", "--", "_ "])


BETWEEN = [
    "\n",
    "\n\n",
    " \n",
    "---\n",
    "; a\n",
    "\n; b\n\n",
    "\n;\n",
    "\nTitle: c\n",
    "Title: d\n\n",
    "Author: e\n",
    "\nwords\n",
    "\n; 1\n",
    "; 2 'f'\n",
    ":: aside\n",
    "Comment:\n## @\nTitle: no\nComment-End:\n",
    "\nComment:\n\n",
]


def in_runs(random: Random, row: str) -> str:
    """The same row with some symbols counted."""
    parts = (("".join(group), symbol) for symbol, group in groupby(row.replace(" ", "-")))
    return "".join(f"{len(group)}{symbol}" if random.random() < 0.7 else group for group, symbol in parts)


def loose_text(random: Random) -> bytes:
    """A pack with comments, titles and line ends of all kinds."""
    task, grids = pack(random)
    parts = [random.choice(["", "", "\ufeff", "Title: z\n", "; 0\n", "Levels\n\n", "\n\n"])]
    for grid in grids:
        rolled = task == "sokoban" and random.random() < 0.2
        for row in grid:
            line = " ".join(map(str, row)) if task == "sliding" else "".join(SYMBOLS[task][cell] for cell in row)
            if rolled:
                parts.append(in_runs(random, line) + random.choice("|\n"))
            else:
                parts.append((line if task == "sliding" else loose_row(random, line)) + "\n")
        parts.append("\n" * rolled)
        parts.append(random.choice(BETWEEN))
    text = "".join(parts)
    return (text.replace("\n", "\r\n") if random.random() < 0.2 else text).encode()


PIECES = [
    *"#@$.*+% -_;:\n\r\t\0x0123456789",
    "##",
    "%%",
    "%%%\n",
    "%@.%\n",
    "\n\n",
    "; 1\n",
    "; 2 b\n",
    "::",
    "Comment:\n",
    "Comment-End:\n",
    "4#|",
    "#3-2.#\n",
    "9 #\n",
    "99999#",
    "|",
    "Title: ",
    "1 2\n",
    "\u00e9",
    "#####\n",
    "#@$.#\n",
    "-1",
    "\x7f",
]


def damaged(random: Random, data: bytes) -> bytes:
    """One to three edits: a byte or a line removed, repeated, replaced or put elsewhere."""
    for _ in range(random.randint(1, 3)):
        lines = data.splitlines(keepends=True)
        at = random.randint(0, len(data))
        line = random.randrange(len(lines)) if lines else 0
        match random.randrange(7):
            case 0:
                data = data[:at] + data[at + 1 :]
            case 1:
                data = data[:at] + random.choice(PIECES).encode() + data[at:]
            case 2:
                data = data[:at] + random.choice(PIECES).encode() + data[at + 1 :]
            case 3:
                data = data[:at]
            case 4:
                data = b"".join(lines[:line] + lines[line + 1 :])
            case 5:
                data = b"".join(lines[: line + 1] + lines[line:])
            case _:
                data = data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
    return data


def test_right_packs_are_read_alike() -> None:
    accepted = sum(agree(loose_text(Random(seed))) for seed in range(600))
    assert accepted > 500  # a heading number is the only thing that may be wrong with them


def damaged_packs_agree(numbers: range) -> int:
    accepted = 0
    for seed in numbers:
        random = Random(seed)
        accepted += agree(damaged(random, loose_text(random)))
    return accepted


def test_damaged_packs_are_read_alike() -> None:
    total = 2_500
    assert 0.05 * total < damaged_packs_agree(range(total)) < 0.95 * total  # both verdicts really occur


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_very_many_damaged_packs_are_read_alike(part: int) -> None:
    first = 1_000_000 * (part + 1)
    assert damaged_packs_agree(range(first, first + 50_000)) > 0


def joined(symbols: Sequence[str], most: int) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(symbols), max_size=most).map(lambda parts: "".join(parts).encode())


COMMENTED = st.builds(
    lambda data, at: b"; comment"[:at] + data + b"\n#####\n#@$.#\n#####\n", st.binary(max_size=12), st.integers(0, 8)
)


@settings(FAST, max_examples=600)
@given(st.one_of(joined(PIECES, 60), joined(["0", "1", "2", "3", "12", " ", " ", "\n"], 30), COMMENTED))
def test_random_symbols_numbers_and_bytes_are_read_alike(data: bytes) -> None:
    agree(data)


def test_the_comparison_notices_a_wrong_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted defects: each must turn up among the first few thousand damaged packs."""
    for name, wrong in (
        ("CODES", {**twin.CODES, b"_": 1}),
        ("CAVE_CODES", {**twin.CAVE_CODES, b"-": 1}),
        ("REST", {"sokoban": b"##"}),
        ("cave_row", lambda line: line.startswith(b"%%%")),
        ("SYMBOLS", b"#@+$*"),
        ("MAX_LINE", 20),
        ("title_of", lambda _: ""),
        ("runs", lambda _: ""),
        ("unrolled", lambda number, line: [(number, re.sub(rb"[0-9|]", b"", line), 1)]),
        ("side_of_numbers", lambda *_: "above"),
        ("hidden", lambda kinds, _: kinds),
        ("NUMBER", re.compile("[0-9]+")),
        ("first_bad", lambda line: line.index(b"\0") if b"\0" in line else None),
    ):
        monkeypatch.setattr(twin, name, wrong)
        with pytest.raises((AssertionError, UnicodeDecodeError)):
            damaged_packs_agree(range(5_000))
        monkeypatch.undo()


# --- Round trips.


forms = st.sampled_from(["xsb", "boxoban", "plain"])


@ROUND_TRIPS
@given(seeds, forms)
def test_written_levels_read_back_the_same(seed: int, form: str) -> None:
    task, grids = pack(Random(seed))
    arrays = [np.array(grid, np.uint8) for grid in grids]
    again = recommit.parse_levels(recommit.format_levels(arrays, format=form))
    assert again.task == task
    assert [grid.tolist() for grid in again] == grids
    # Writing what was read changes nothing any more.
    text = recommit.format_levels(again, format=form)
    assert recommit.format_levels(recommit.parse_levels(text), format=form) == text


titles = st.text(max_size=30).map(lambda title: "".join(c for c in title if c.isprintable()).strip(" \t"))


@settings(FAST, max_examples=60)
@given(seeds, st.lists(titles, min_size=3, max_size=3))
def test_written_titles_read_back_the_same(seed: int, words: list[str]) -> None:
    _, grids = pack(Random(seed))
    arrays = [np.array(grid, np.uint8) for grid in grids]
    again = recommit.parse_levels(recommit.format_levels(arrays, words[: len(grids)]))
    assert list(again.titles) == words[: len(grids)]


def test_what_is_accepted_can_be_written() -> None:
    """Whatever a damaged pack turned into: if it was accepted, it is a level."""
    accepted = 0
    for seed in range(1_000):
        random = Random(seed)
        try:
            levels = recommit.parse_levels(damaged(random, loose_text(random)))
        except recommit.LevelError:
            continue
        again = recommit.parse_levels(recommit.format_levels(levels))
        assert [grid.tolist() for grid in again] == [grid.tolist() for grid in levels]
        assert again.titles == levels.titles
        accepted += 1
    assert accepted >= 125
