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
NUMBER = re.compile("[0-9]+([ \t].*)?", re.DOTALL)
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


#: A line's number, its text and, where the row was written as runs, the column at which it begins.
Row = tuple[int, bytes, int]


def parse(data: bytes) -> Parsed:
    lines = checked_lines(data)
    kinds = hidden([kind(line) for line in lines], lines)
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
            raise RefusedError(rows[0][0], rows[0][2] or 1)
        result.grids.append(grid)
        result.titles.append(title)
    if not result.grids:
        raise RefusedError(0, 0)
    for number, (line, what) in enumerate(zip(lines, kinds, strict=True), 1):
        if what == "other" and ((task != "ice" and cave_row(line)) or (task != "sokoban" and runs(line) == "runs")):
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
    if line.lstrip(b" \t").startswith(b"::"):
        return "aside"
    if first_symbol(line) == len(line):
        return "blank"
    return "key" if KEY.fullmatch(line) else "other"


def is_key(line: bytes, *names: bytes) -> bool:
    key = KEY.fullmatch(line)
    return key is not None and key[1].strip(b" \t").lower() in names


def hidden(kinds: list[str], lines: list[bytes]) -> list[str]:
    """The kinds, with `Comment:` blocks with an end turned into `aside`."""
    result, i = list(kinds), 0
    while i < len(lines):
        if kinds[i] == "key" and is_key(lines[i], b"comment") and not KEY.fullmatch(lines[i])[2].strip(b" \t"):
            ends = [j for j in range(i + 1, len(lines)) if is_key(lines[j], b"comment-end", b"comment_end")]
            if ends:
                result[i : ends[0] + 1] = ["aside"] * (ends[0] + 1 - i)
                i = ends[0]
        i += 1
    return result


def runs(line: bytes) -> str:
    """`runs`, `spaced` where that hangs on a number before a space, or nothing."""
    text = line.rstrip(b" \t").decode(errors="replace")
    pieces = text.removesuffix("|").split("|")
    piece = "(?:(?:[1-9][0-9]*)?[-_ #.$*@+])+"
    if "#" not in text or not re.search("[0-9|]", text) or not all(re.fullmatch(piece, each) for each in pieces):
        return ""
    return "spaced" if re.search("[0-9] ", text) else "runs"


def unrolled(number: int, line: bytes) -> list[Row]:
    rows, begin = [], 1
    for piece in line.rstrip(b" \t").removesuffix(b"|").split(b"|"):
        tokens = re.findall(rb"([0-9]*)([^0-9])", piece)
        if sum(int(count[:9] or 1) if len(count) < 9 else MAX_LINE + 1 for count, _ in tokens) > MAX_LINE:
            row = b"#" * (MAX_LINE + 1)
        else:
            row = b"".join(symbol * int(count or 1) for count, symbol in tokens)
        rows.append((number, row, begin))
        begin += len(piece) + 1
    return rows


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
    if looks_sokoban(line) or b"##" in line or runs(line):
        return "sokoban"
    return "ice" if cave_row(line) else None


def is_row(line: bytes, task: str) -> bool:
    if task == "sokoban":
        return looks_sokoban(line) or runs(line) == "runs"
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
    side = side_of_numbers(lines, kinds)
    i = 0
    while i < len(lines):
        line, what = lines[i], kinds[i]
        if what == "row":
            rows = []
            while i < len(lines) and kinds[i] == "row":
                rolled = task == "sokoban" and runs(lines[i]) == "runs"
                rows += unrolled(i + 1, lines[i]) if rolled else [(i + 1, lines[i], 0)]
                i += 1
            title, titled = named or words, bool(named)
            words, named, header = "", "", None
            damaged = (i + 1, first_symbol(lines[i]) + 1) if i < len(lines) and kinds[i] == "other" else None
            while i < len(lines) and kinds[i] in ("key", "aside"):
                late = title_of(lines[i]) if kinds[i] == "key" else ""
                title, titled, i = late or title, titled or bool(late), i + 1
            if side == "below" and not damaged:
                gap = i
                while (
                    gap < len(lines)
                    and kinds[gap] != "row"
                    and not (kinds[gap] == "other" and refused(lines[gap], task))
                ):
                    gap += 1
                numbers = [(j, said(lines[j])) for j in range(i, gap) if kinds[j] == "comment"]
                numbers = [(j, text) for j, text in numbers if NUMBER.fullmatch(text)]
                alone = [(j, text) for j, text in numbers if text.isdigit()]
                if numbers and not titled:
                    title = numbers[0][1]
                if alone:
                    j, text = alone[0]
                    lasts = [title_of(lines[k]) for k in range(i, j) if kinds[k] == "key" and title_of(lines[k])]
                    title = lasts[-1] if lasts else title if titled else text
                    i = j + 1
                else:
                    numbered = {j for j, _ in numbers}
                    kinds = ["aside" if j in numbered else what for j, what in enumerate(kinds)]
            yield rows, title, damaged
            continue
        if what == "comment":
            if re.fullmatch("[0-9]+", said(line)):
                if header or side == "either":
                    raise RefusedError(*(header or (i + 1, line.index(b";") + 1)))
                header = (i + 1, line.index(b";") + 1)
            words = said(line) or words
        elif what == "key":
            named = title_of(line) or named
        elif what == "other":
            if refused(line, task):
                raise RefusedError(i + 1, first_symbol(line) + 1)
            words = line.strip(b" \t").decode()
        i += 1
    if header:
        raise RefusedError(*header)


def refused(line: bytes, task: str) -> bool:
    return is_foreign(line, task) or (task in REST and REST[task] in line) or (task == "sokoban" and runs(line) != "")


def said(comment: bytes) -> str:
    return comment.strip(b" \t")[1:].strip(b" \t").decode()


def side_of_numbers(lines: list[bytes], kinds: list[str]) -> str:
    """Where the numbers stand: each reading is tried on a string of L (level), N (number), W (number and words)."""
    story = ""
    for line, what, before in zip(lines, kinds, ["", *kinds], strict=False):
        if what == "row" and before != "row":
            story += "L"
        if what == "comment" and NUMBER.fullmatch(said(line)):
            story += "N" if said(line).isdigit() else "W"
    if "N" not in story:
        return "above"
    strict, loose = (readings(letters) for letters in (story.replace("W", ""), story.replace("W", "N")))
    if strict != {"above", "below"}:
        return "below" if strict == {"below"} else "above"
    return loose.pop() if len(loose) == 1 else "either"


def readings(letters: str) -> set[str]:
    return {side for side, form in (("above", "(L|NL)*"), ("below", "(L|LN)*")) if re.fullmatch(form, letters)}


def title_of(line: bytes) -> str:
    key, said = KEY.fullmatch(line).groups()
    return said.strip(b" \t").decode() if key.strip().lower() == b"title" else ""


# --- Sokoban.


def sokoban_grid(rows: list[Row], damaged: tuple[int, int] | None) -> list[list[int]]:
    if len(rows) > 64:
        raise RefusedError(rows[64][0], rows[64][2] or 1)
    stripped = [(number, row.rstrip(b" -_"), begin) for number, row, begin in rows]
    for number, row, begin in stripped:
        for i in range(len(row)):
            if i == 64 or row[i : i + 1] not in CODES:
                raise RefusedError(number, begin or i + 1)
    if damaged:
        raise RefusedError(*damaged)
    real = {(r, c): CODES[row[c : c + 1]] for r, (_, row, _) in enumerate(stripped) for c in range(len(row))}
    height, width = len(rows), max(len(row) for _, row, _ in stripped)

    def refuse(cell: tuple[int, int]) -> None:
        raise RefusedError(rows[cell[0]][0], rows[cell[0]][2] or cell[1] + 1)

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
    for number, whole, _ in rows:
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
    for number, row, _ in rows:
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
