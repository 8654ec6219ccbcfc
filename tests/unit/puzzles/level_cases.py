"""Named nasty level texts: (name, text, what must come of it).

What must come is the accepted result, every level as its rows joined by "/" with " | title" behind it if it has one,
or the exact error as (line, column, message).
"""

from __future__ import annotations

Expected = list[str] | tuple[int, int, str]
Case = tuple[str, str | bytes, Expected]

L = "#####\n#@$.#\n#####\n"
A = "#####/#@$.#/#####"
B = "1 2 3\n4 0 6\n7 5 8\n"
S = "1 2 3/4 0 6/7 5 8"
NONE = (0, 0, "expected at least one level, got none")
HEADER = "expected a level under this numbered header, got none"
NUMBERS = (
    "two readings: this numbers the level above it or the level below it "
    "(begin the file with a number, or end it with one)"
)
SPACED = (
    "two readings: a row in which a number repeats a space, or words (write '-' for floor, or start the line with ';')"
)
CR = "a carriage return stands only before a line feed"
OPEN = "expected the player's region to be enclosed by walls, got an opening here"
BOX_OUT = "expected a box inside the walls, got one outside"
GOAL_OUT = "expected a goal inside the walls, got one outside"
NO_PLAYER = "expected one player, got none"
TWO_PLAYERS = "expected one player, got a second one"
NO_BOX = "expected at least one box, got none"
TAB = "a tab in a row has no defined width; use spaces"
TAB_TILES = "a tab in a row is not allowed; use spaces"
TILES = "a row of numbers among Sokoban levels"


def unknown(char: str) -> str:
    return f"unknown character {char}"


def stray(char: str) -> str:
    return f"unknown character {char} in a row (a text line starts with ';' or stands after a blank line)"


def foreign(what: str) -> str:
    return f"expected levels of one task, got {what}"


def control(code: str) -> str:
    return f"the control character {code} is not allowed"


def byte(value: str) -> str:
    return f"expected UTF-8, got the byte 0x{value}"


def counts(boxes: int, goals: int) -> str:
    return f"expected as many boxes as goals, got {boxes} boxes and {goals} goals"


def each(largest: int, got: str) -> str:
    return f"expected each of 0..{largest} once, got {got}"


def sizes(rows: int, cols: int) -> str:
    return f"expected 2..5 rows and 2..5 columns, got {rows} and {cols}"


def width(columns: int) -> str:
    return f"expected at most 64 columns, got {columns}"


TEXT: list[Case] = [
    ("empty", "", NONE),
    ("one line feed", "\n", NONE),
    ("byte order mark", "\ufeff" + L, [A]),
    ("byte order mark counts no column", "\ufeff#x\n", (1, 2, unknown("'x'"))),
    ("byte order mark twice", "\ufeff\ufeff" + L, (1, 1, stray("U+FEFF"))),
    ("byte order mark cut off", b"\xef\xbb", (1, 1, byte("EF"))),
    ("utf-16 without a mark", L.encode("utf-16-le"), (1, 2, control("U+0000"))),
    ("no line end at the end", L.rstrip("\n"), [A]),
    ("carriage returns alone", L.replace("\n", "\r"), (1, 6, CR)),
    ("line of 4097 bytes", ";" + "x" * 4096 + "\n" + L, (1, 4097, "expected a line of at most 4096 bytes, got 4097")),
    ("run before a space, words or a row", "12 #\n\n" + L, (1, 1, SPACED)),
    ("fault in runs: where the row begins", "5#|#@-.#|5#\n", (1, 1, counts(0, 1))),
    ("second player in runs", "6#|#2@$.#|6#\n", (1, 4, TWO_PLAYERS)),
    ("run of 64", "64#|#@$.60-#|64#\n", (1, 5, width(65))),
    ("a thousand rows in a line", "9#|" * 1000, (1, 1, "expected at most 64 rows, got 1000")),
    ("too many rows in a second line", "9#\n" + "9#|" * 99, (2, 1, "expected at most 64 rows, got 100")),
]

PACKS: list[Case] = [
    ("two levels", L + "\n" + L, [A, A]),
    ("title under a level", L + "Title: One\n\n" + L + "Title: Two\n", [A + " | One", A + " | Two"]),
    ("title below wins over above", "Title: above\n" + L + "Title: below\n", [A + " | below"]),
    ("title that looks like a row", L + "Title: #####\n", [A + " | #####"]),
    ("text of dots", "...\n\n" + L, (1, 1, NO_PLAYER)),
    ("boxoban, cut off behind a header", "; 0\n" + L + "\n; 1\n", (6, 1, HEADER)),
    ("numbers above or below", L + "\n; 1\n\n" + L, (5, 1, NUMBERS)),
    ("boxoban, cut off inside the last row", "; 0\n#####\n#@$.#\n##", (3, 3, OPEN)),
    ("numbers behind a level", L + "\n1 2\n3 0\n", (5, 1, foreign(TILES))),
]

SOKOBAN: list[Case] = [
    ("player on goal", "####\n#+$#\n####\n", ["####/#+$#/####"]),
    ("unsolvable level", "#####\n#$ .#\n#@ ##\n#####\n", ["#####/#$ .#/#@ ##/#####"]),
    ("ragged rows", "####\n#  ###\n# $ .#\n#@####\n###\n", ["######/#  ###/# $ .#/#@####/######"]),
    ("hole in the middle of walls", "#######\n#@$.###\n##### #\n", ["#######/#@$.###/#######"]),
    ("one cell: player", "@\n", (1, 1, NO_BOX)),
    ("box outside", "#####  $\n#@$.# .\n#####\n", (1, 8, BOX_OUT)),
    ("goal outside", "#####  .\n#@$ # $\n#####\n".replace("$ #", "* #"), (1, 8, GOAL_OUT)),
    ("tab inside a row", "#####\n#@\t.#\n#####\n", (2, 3, TAB)),
]

SLIDING: list[Case] = [
    ("3 by 3", B, [S]),
    ("boards with titles", B + "Title: a\n\n; b\n" + B, [S + " | a", S + " | b"]),
    ("board with crlf and a mark", "\ufeff" + B.replace("\n", "\r\n"), [S]),
    ("tab between numbers", "1 2\n3\t0\n", (2, 2, TAB_TILES)),
    ("three digits", "1 2\n3 100\n", (2, 3, "expected a number of one or two digits, got 3 digits")),
    ("number too large", "1 2\n3 4\n", (2, 3, each(3, "4"))),
    ("short row", "1 2 3\n4 0\n5 6 7\n", (2, 1, "expected as many numbers as in the first row, 3, got 2")),
    ("six columns", "1 2 3 4 5 0\n", (1, 11, "expected at most 5 numbers in a row, got more")),
    ("one row", "0 1\n", (1, 1, sizes(1, 2))),
    ("two sizes", B + "\n0 1\n2 3\n", (5, 1, "expected boards of one size in a text, got 2 by 2 after 3 by 3")),
    ("15-puzzle", "15 14 8 12\n10 11 9 13\n2 6 5 1\n3 7 4 0\n", ["15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0"]),
]

CASES: list[Case] = [
    (f"{part}: {name}", text, expected)
    for part, cases in (("text", TEXT), ("packs", PACKS), ("sokoban", SOKOBAN), ("sliding", SLIDING))
    for name, text, expected in cases
]
