"""A slow twin of the level parsers, written from docs/guides/level-files.md and sharing no code with them."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_BYTES = 64 * 2**20
MAX_LINE = 4096
MAX_LEVELS = 2**20
MAX_CELLS = 64 * 2**20

KEY = re.compile(rb"[ \t]*([A-Za-z][A-Za-z0-9 _-]*):(.*)", re.DOTALL)
NUMBERS = re.compile(rb" *[0-9]+( +[0-9]+)+ *")
CODES = {b" ": 0, b"-": 0, b"_": 0, b"#": 1, b".": 2, b"$": 3, b"*": 4, b"@": 5, b"+": 6}
SYMBOLS = b"#@+$*."
CAVE_CODES = {b" ": 0, b"-": 0, b"_": 0, b"%": 1, b".": 2, b"@": 3, b"+": 4}
#: Inside of any other line, this is what is left of a row.
REST = {"sokoban": b"##", "ice": b"%%"}


class RefusedError(Exception):
    """The text is malformed at (line, column)."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(f"{line}:{column}")
        self.place = (line, column)


@dataclass
class Parsed:
    task: str
    grids: list[list[list[int]]]
    titles: list[str]


Row = tuple[int, bytes]


def parse(data: bytes) -> Parsed:
    lines = checked_lines(data)
    kinds = [kind(line) for line in lines]
    task = next((found for line, what in zip(lines, kinds, strict=True) if (found := deciding(line, what))), None)
    if task is None:
        raise RefusedError(0, 0)
    result = Parsed(task, [], [])
    for rows, title, damaged in blocks(lines, kinds, task):
        if task == "sliding":
            grid = sliding_grid(rows, damaged, result.grids[:1])
        else:
            grid = sokoban_grid(rows, damaged) if task == "sokoban" else cave_grid(rows, damaged)
        cells = sum(len(g) * len(g[0]) for g in result.grids)
        if len(result.grids) == MAX_LEVELS or cells + len(grid) * len(grid[0]) > MAX_CELLS:
            raise RefusedError(rows[0][0], 1)
        result.grids.append(grid)
        result.titles.append(title)
    if not result.grids:
        raise RefusedError(0, 0)
    for number, (line, what) in enumerate(zip(lines, kinds, strict=True), 1):
        if task != "ice" and what == "other" and cave_row(line):
            raise RefusedError(number, 1)
    return result


# --- The text.


def checked_lines(data: bytes) -> list[bytes]:
    if len(data) > MAX_BYTES:
        raise RefusedError(0, 0)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    last = lines.pop()
    lines = [line[:-1] if line.endswith(b"\r") else line for line in lines]
    if last:
        lines.append(last)
    for number, line in enumerate(lines, 1):
        bad = first_bad(line)
        if len(line) > MAX_LINE and not (bad is not None and bad < MAX_LINE):
            raise RefusedError(number, MAX_LINE + 1)
        if bad is not None:
            raise RefusedError(number, bad + 1)
    return lines


def first_bad(line: bytes) -> int | None:
    try:
        text, end = line.decode(), None
    except UnicodeDecodeError as error:
        text, end = line[: error.start].decode(), error.start
    for i, char in enumerate(text):
        if (char < " " and char != "\t") or "\x7f" <= char <= "\x9f":
            return len(text[:i].encode())
    return end


# --- The lines.


def first_symbol(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t-_"))


def kind(line: bytes) -> str:
    """What is the same for both tasks: comment, blank, key or other."""
    if line.lstrip(b" \t").startswith(b";"):
        return "comment"
    if first_symbol(line) == len(line):
        return "blank"
    return "key" if KEY.fullmatch(line) else "other"


def looks_sokoban(line: bytes) -> bool:
    return line[first_symbol(line)] in SYMBOLS


def cave_row(line: bytes) -> bool:
    """A whole row of a cave, which no title is."""
    return re.fullmatch(rb"[ \t]*%[-%.@+ _]+%[ \t]*", line) is not None


def deciding(line: bytes, what: str) -> str | None:
    if what != "other":
        return None
    if NUMBERS.fullmatch(line):
        return "sliding"
    if looks_sokoban(line) or b"##" in line:
        return "sokoban"
    return "ice" if cave_row(line) else None


def is_row(line: bytes, task: str) -> bool:
    if task == "sokoban":
        return looks_sokoban(line)
    return line[first_symbol(line)] in (b"%" if task == "ice" else b"0123456789")


def is_foreign(line: bytes, task: str) -> bool:
    numbers = task != "sliding" and NUMBERS.fullmatch(line) is not None
    return numbers or (task != "sokoban" and looks_sokoban(line))


def blocks(lines: list[bytes], kinds: list[str], task: str):
    """Yield each level's rows, its title, and the place of a damaged row right under it or None.

    Raises where a line between levels may not stand.
    """
    kinds = ["row" if what == "other" and is_row(line, task) else what for line, what in zip(lines, kinds, strict=True)]
    words, named, header = "", "", None
    i = 0
    while i < len(lines):
        line, what = lines[i], kinds[i]
        if what == "row":
            rows = []
            while i < len(lines) and kinds[i] == "row":
                rows.append((i + 1, lines[i]))
                i += 1
            title = named or words
            words, named, header = "", "", None
            damaged = (i + 1, first_symbol(lines[i]) + 1) if i < len(lines) and kinds[i] == "other" else None
            below = i
            while below < len(lines) and kinds[below] == "key":
                title = title_of(lines[below]) or title
                below += 1
            yield rows, title, damaged
            i = below
            continue
        if what == "comment":
            said = line.strip(b" \t")[1:].strip(b" \t").decode()
            if re.fullmatch("[0-9]+", said):
                if header:
                    raise RefusedError(*header)
                header = (i + 1, line.index(b";") + 1)
            words = said or words
        elif what == "key":
            named = title_of(line) or named
        elif what == "other":
            if is_foreign(line, task) or (task in REST and REST[task] in line):
                raise RefusedError(i + 1, first_symbol(line) + 1)
            words = line.strip(b" \t").decode()
        i += 1
    if header:
        raise RefusedError(*header)


def title_of(line: bytes) -> str:
    key, said = KEY.fullmatch(line).groups()
    return said.strip(b" \t").decode() if key.strip().lower() == b"title" else ""


# --- Sokoban.


def sokoban_grid(rows: list[Row], damaged: tuple[int, int] | None) -> list[list[int]]:
    if len(rows) > 64:
        raise RefusedError(rows[64][0], 1)
    stripped = [(number, row.rstrip(b" -_")) for number, row in rows]
    for number, row in stripped:
        for i in range(len(row)):
            if i == 64 or row[i : i + 1] not in CODES:
                raise RefusedError(number, i + 1)
    if damaged:
        raise RefusedError(*damaged)
    real = {(r, c): CODES[row[c : c + 1]] for r, (_, row) in enumerate(stripped) for c in range(len(row))}
    height, width = len(rows), max(len(row) for _, row in stripped)

    def refuse(cell: tuple[int, int]) -> None:
        raise RefusedError(rows[cell[0]][0], cell[1] + 1)

    players = sorted(cell for cell, code in real.items() if code in (5, 6))
    boxes = sorted(cell for cell, code in real.items() if code in (3, 4))
    goals = sorted(cell for cell, code in real.items() if code in (2, 4, 6))
    if len(players) != 1:
        refuse(players[1] if players else (0, 0))
    if len(boxes) != len(goals) or not boxes:
        refuse((0, 0))
    # A ring of outside around the level: its edge then needs no rule of its own.
    ring = {(r, c) for r in range(-1, height + 1) for c in range(-1, width + 1)}
    outside = reached((-1, -1), {cell for cell in ring if real.get(cell) != 1})
    if players[0] in outside:
        region = reached(players[0], {cell for cell, code in real.items() if code != 1})
        refuse(min(cell for cell in region if any(n not in real for n in neighbours(cell))))
    strays = [cell for cell in boxes + goals if cell in outside]
    if strays:
        refuse(min(strays))
    return [[1 if (r, c) in outside else real[r, c] for c in range(width)] for r in range(height)]


def neighbours(cell: tuple[int, int]) -> list[tuple[int, int]]:
    r, c = cell
    return [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]


def reached(start: tuple[int, int], free: set[tuple[int, int]]) -> set[tuple[int, int]]:
    seen, layer = {start}, {start}
    while layer:
        layer = {n for cell in layer for n in neighbours(cell) if n in free} - seen
        seen |= layer
    return seen


# --- Icy caves.


def cave_grid(rows: list[Row], damaged: tuple[int, int] | None) -> list[list[int]]:
    if len(rows) > 64:
        raise RefusedError(rows[64][0], 1)
    grid: list[list[int]] = []
    for number, whole in rows:
        row = whole.rstrip(b" -_")
        if len(row) > 64:
            raise RefusedError(number, 65)
        for i in range(len(row)):
            if row[i : i + 1] not in CAVE_CODES:
                raise RefusedError(number, i + 1)
        grid.append([CAVE_CODES[row[i : i + 1]] for i in range(len(row))])
        if len(grid[-1]) != len(grid[0]):
            raise RefusedError(number, 1)
    if damaged:
        raise RefusedError(*damaged)
    cells = [(r, c) for r in range(len(grid)) for c in range(len(grid[0]))]
    for codes in ((3, 4), (2, 4)):
        found = [(r, c) for r, c in cells if grid[r][c] in codes]
        if len(found) != 1:
            r, c = found[1] if found else (0, 0)
            raise RefusedError(rows[r][0], c + 1)
    for r, c in cells:
        if grid[r][c] != 1 and (r in (0, len(grid) - 1) or c in (0, len(grid[0]) - 1)):
            raise RefusedError(rows[r][0], c + 1)
    return grid


# --- Sliding.


def sliding_grid(rows: list[Row], damaged: tuple[int, int] | None, first: list[list[list[int]]]) -> list[list[int]]:
    if len(rows) > 5:
        raise RefusedError(rows[5][0], 1)
    grid: list[list[int]] = []
    places: list[list[tuple[int, int]]] = []
    for number, row in rows:
        tokens = list(re.finditer(rb"[0-9]+|[^ 0-9]", row))
        for i, token in enumerate(tokens):
            if not token.group().isdigit() or len(token.group()) > 2 or i == 5:
                raise RefusedError(number, token.start() + 1)
        grid.append([int(token.group()) for token in tokens])
        places.append([(number, token.start() + 1) for token in tokens])
        if len(grid[-1]) != len(grid[0]):
            raise RefusedError(*places[-1][0])
    if damaged:
        raise RefusedError(*damaged)
    if len(grid) < 2 or len(grid[0]) < 2:
        raise RefusedError(*places[0][0])
    flat = [(value, place) for row in zip(grid, places, strict=True) for value, place in zip(*row, strict=True)]
    for i, (value, place) in enumerate(flat):
        if value >= len(flat) or value in [before for before, _ in flat[:i]]:
            raise RefusedError(*place)
    if first and (len(first[0]), len(first[0][0])) != (len(grid), len(grid[0])):
        raise RefusedError(*places[0][0])
    return grid
