"""Named nasty level texts: (name, text, what must come of it).

What must come is the accepted result, every level as its rows joined by "/" with " | title" behind it if it has one,
or the exact error as (line, column, message).
"""

from __future__ import annotations

Expected = list[str] | tuple[int, int, str]
Case = tuple[str, str | bytes, Expected]

TOP = "#####\n"
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
SYMBOLS = "a row of Sokoban symbols among sliding boards"


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


def room(rows: int, cols: int) -> str:
    """The largest thing that must be read: all floor inside, one player, one box, one goal."""
    inner = cols - 2
    body = ["#@$." + " " * (inner - 3) + "#"] + ["#" + " " * inner + "#"] * (rows - 3)
    return "\n".join(["#" * cols, *body, "#" * cols]) + "\n"


def canonical(text: str) -> str:
    return text.rstrip("\n").replace("\n", "/")


TEXT: list[Case] = [
    ("empty", "", NONE),
    ("one line feed", "\n", NONE),
    ("many blank lines", "\n\n \n\t\n\r\n", NONE),
    ("only spaces", "     ", NONE),
    ("only floor symbols", "---\n___\n", NONE),
    ("only a comment", "; nothing here\n", NONE),
    ("only words", "nothing here\n", NONE),
    ("only key lines", "Title: a\nAuthor: b\n", NONE),
    ("only a byte order mark", "\ufeff", NONE),
    ("only one number", "7\n", NONE),
    ("byte order mark", "\ufeff" + L, [A]),
    ("byte order mark counts no column", "\ufeff#x\n", (1, 2, unknown("'x'"))),
    ("byte order mark twice", "\ufeff\ufeff" + L, (1, 1, stray("U+FEFF"))),
    ("byte order mark before the second level", L + "\n\ufeff" + L, (5, 1, stray("U+FEFF"))),
    ("byte order mark cut off", b"\xef\xbb", (1, 1, byte("EF"))),
    ("utf-16, little endian", ("\ufeff" + L).encode("utf-16-le"), (1, 1, byte("FF"))),
    ("utf-16, big endian", ("\ufeff" + L).encode("utf-16-be"), (1, 1, byte("FE"))),
    ("utf-16 without a mark", L.encode("utf-16-le"), (1, 2, control("U+0000"))),
    ("crlf", L.replace("\n", "\r\n"), [A]),
    ("crlf after a text line", ("Title: a\n\n" + L).replace("\n", "\r\n"), [A + " | a"]),
    ("crlf and lf mixed", "#####\r\n#@$.#\n#####\r\n", [A]),
    ("no line end at the end", L.rstrip("\n"), [A]),
    ("carriage returns alone", L.replace("\n", "\r"), (1, 6, CR)),
    ("carriage return at the end of the file", "#####\n#@$.#\n#####\r", (3, 6, CR)),
    ("two carriage returns", "#####\r\r\n", (1, 6, CR)),
    ("carriage return inside a row", "##\r##\n", (1, 3, CR)),
    ("carriage return in a comment", "; a\rb\n" + L, (1, 4, CR)),
    ("nul in a row", "#####\n#@\0.#\n", (2, 3, control("U+0000"))),
    ("nul in a comment", "; \0\n" + L, (1, 3, control("U+0000"))),
    ("nul behind the last level", L + "\0", (4, 1, control("U+0000"))),
    ("only a nul", "\0", (1, 1, control("U+0000"))),
    ("end-of-file mark of old systems", L + "\x1a", (4, 1, control("U+001A"))),
    ("escape sequence in a title", L + "Title: \x1b[31m\n", (4, 8, control("U+001B"))),
    ("bell in a comment", ";\a\n" + L, (1, 2, control("U+0007"))),
    ("form feed between levels", L + "\f\n" + L, (4, 1, control("U+000C"))),
    ("vertical tab", "\v" + L, (1, 1, control("U+000B"))),
    ("delete", ";\x7f\n" + L, (1, 2, control("U+007F"))),
    ("eight-bit control", ";\x9b\n" + L, (1, 2, control("U+009B"))),
    ("next line is no line end", ";\x85\n" + L, (1, 2, control("U+0085"))),
    ("line separator is text", "; a\u2028b\n" + L, [A + " | a\u2028b"]),
    ("latin-1 in a comment", b"; caf\xe9\n" + L.encode(), (1, 6, byte("E9"))),
    ("latin-1 in a row", b"##\xe9##\n", (1, 3, byte("E9"))),
    ("lone continuation byte", b";\x80\n", (1, 2, byte("80"))),
    ("overlong slash", b";\xc0\xaf\n", (1, 2, byte("C0"))),
    ("overlong nul", b";\xe0\x80\x80\n", (1, 2, byte("E0"))),
    ("surrogate in utf-8", b";\xed\xa0\x80\n", (1, 2, byte("ED"))),
    ("lone surrogate in str", ";\ud800\n" + L, (1, 2, byte("ED"))),
    ("beyond unicode", b";\xf4\x90\x80\x80\n", (1, 2, byte("F4"))),
    ("five-byte sequence", b";\xf8\x88\x80\x80\x80\n", (1, 2, byte("F8"))),
    ("character cut off by the line end", b";\xe9\x96\n" + L.encode(), (1, 2, byte("E9"))),
    ("character cut off by the end", L.encode() + b";\xe9\x96", (4, 2, byte("E9"))),
    ("columns count bytes", ";\u00e9\u95a2\U0001f4e6\0\n", (1, 11, control("U+0000"))),
    ("line of 4096 bytes", ";" + "x" * 4095 + "\n" + L, [A + " | " + "x" * 4095]),
    ("line of 4096 bytes and crlf", ";" + "x" * 4095 + "\r\n" + L, [A + " | " + "x" * 4095]),
    ("line of 4097 bytes", ";" + "x" * 4096 + "\n" + L, (1, 4097, "expected a line of at most 4096 bytes, got 4097")),
    ("a million columns", "#" * 10**6, (1, 4097, "expected a line of at most 4096 bytes, got 1000000")),
    ("a million spaces", L + " " * 10**6, (4, 4097, "expected a line of at most 4096 bytes, got 1000000")),
    ("bad byte before the line limit", b";\xff" + b"x" * 5000, (1, 2, byte("FF"))),
    (
        "bad byte behind the line limit",
        b";" + b"x" * 5000 + b"\xff",
        (1, 4097, "expected a line of at most 4096 bytes, got 5002"),
    ),
    ("text is checked before levels", "#x#\n;\0\n", (2, 2, control("U+0000"))),
    ("negative numbers alone", "-1 -2\n", NONE),
    ("decimal numbers alone", "1.5 2.5\n", NONE),
    ("digits of another script", "\u0661 \u0662\n\u0663 \u0660\n", NONE),
    ("full-width number signs", "\uff03\uff03\uff03\n", NONE),
    ("runs in one line", "5#|#@$.#|5#\n", [A]),
    ("runs with a row end behind the last row", "5#|#@$.#|5#|\n", [A]),
    ("runs, one row a line", "5#\n#@$.#\n5#\n", [A]),
    ("runs, leading floor", "2-5#|2-#@$.#|2-5#\n", ["#######/###@$.#/#######"]),
    ("runs of floor at the end", "5#40_|#@$.#9-|5#\n", [A]),
    ("row of floor only", "5-|5#|#@$.#|5#\n", ["#####/#####/#@$.#/#####"]),
    ("runs of boxes", "6#\n#@2*-#\n6#\n", ["######/#@** #/######"]),
    ("runs below a header", "; 0\n5#|#@$.#|5#\n", [A + " | 0"]),
    ("runs as a title of words", "; 5#|#@$.#\n" + L, [A + " | 5#|#@$.#"]),
    ("run before a space, words or a row", "12 #\n\n" + L, (1, 1, SPACED)),
    ("run before a space right under a level", L + "2 #\n", (4, 1, SPACED)),
    ("run before a space in a row", "#3 #\n", (1, 2, unknown("'3'"))),
    ("run that is no run", "5#|#@$.0#|5#\n", NONE),
    ("run with nothing behind it", "##|#3\n", (1, 3, unknown("'|'"))),
    ("empty row among runs", "5##||5#\n", (1, 1, stray("'5'"))),
    ("letter among runs", "5#|#@$x##\n", (1, 1, stray("'5'"))),
    ("fault in runs: where the row begins", "5#|#@-.#|5#\n", (1, 1, counts(0, 1))),
    ("second player in runs", "6#|#2@$.#|6#\n", (1, 4, TWO_PLAYERS)),
    ("run of 64", "64#|#@$.60-#|64#\n", (1, 5, width(65))),
    ("run of a thousand million", "5#|999999999#|5#\n", (1, 4, width(4096))),
    ("run of a thousand million boxes", "5#\n999999999$#\n", (2, 1, width(4096))),
    ("run of a thousand digits", "9" * 1000 + "#\n", (1, 1, width(4096))),
    ("run of floor without end", "5#99999-\n", (1, 1, width(4096))),
    ("a thousand rows in a line", "9#|" * 1000, (1, 1, "expected at most 64 rows, got 1000")),
    ("too many rows in a second line", "9#\n" + "9#|" * 99, (2, 1, "expected at most 64 rows, got 100")),
    ("runs in a sliding file", B + "\n5##\n", (5, 2, unknown("'#'"))),
    ("json", '{"levels": []}\n', NONE),
    ("html", "<html>\n<body>\n", NONE),
]

PACKS: list[Case] = [
    ("two levels", L + "\n" + L, [A, A]),
    ("levels divided by dashes", L + "-----\n" + L, [A, A]),
    ("levels divided by a comment", L + "; next\n" + L, [A, A + " | next"]),
    ("levels divided by a key line", L + "Author: me\n" + L, [A, A]),
    ("levels without anything between", L + L, (5, 2, TWO_PLAYERS)),
    ("blank line with spaces and tabs", L + " \t \n" + L, [A, A]),
    ("title under a level", L + "Title: One\n\n" + L + "Title: Two\n", [A + " | One", A + " | Two"]),
    ("title above a level", "Title: One\n\n" + L + "\nTitle: Two\n" + L, [A + " | One", A + " | Two"]),
    ("title below wins over above", "Title: above\n" + L + "Title: below\n", [A + " | below"]),
    ("last of two titles", L + "Title: a\nTitle: b\n", [A + " | b"]),
    ("empty title is none", "; c\n" + L + "Title:\nTitle: \t\n", [A + " | c"]),
    ("title in capitals", L + "TITLE:x\n", [A + " | x"]),
    ("title with spaces around the key", L + " \tTitle : x \t\n", [A + " | x"]),
    ("title with a tab inside", L + "Title: a\tb\n", [A + " | a\tb"]),
    ("title with a colon", L + "Title: a: b\n", [A + " | a: b"]),
    ("title that looks like a row", L + "Title: #####\n", [A + " | #####"]),
    ("title with walls in a comment", "; ####\n" + L, [A + " | ####"]),
    ("title in another script", L + "Title: \u5009\u5eab\u756a\n", [A + " | \u5009\u5eab\u756a"]),
    ("title wins over a comment", "Title: t\n; c\n" + L, [A + " | t"]),
    ("other keys are no titles", "Titles: t\nSubtitle: s\n" + L + "Author: a\nDate: 2001\n", [A]),
    ("key with digits and dashes", "Comment-End: x\nlevel_2 b: y\n" + L, [A]),
    ("key between a title and the end", L + "Author: a\nTitle: t\nEmail: e\n", [A + " | t"]),
    ("title behind a blank line belongs below", L + "\nTitle: t\n" + L, [A, A + " | t"]),
    ("title behind the last level is nobody's", L + "\nTitle: t\n", [A]),
    ("last of two comments", "; a\n; b\n" + L, [A + " | b"]),
    ("empty comment is no title", "; a\n;\n" + L, [A + " | a"]),
    ("comment with two semicolons", ";; a\n" + L, [A + " | ; a"]),
    ("indented comment", " \t; a\n" + L, [A + " | a"]),
    ("comment directly under a level", L + "; a\n\n" + L, [A, A + " | a"]),
    ("comment at the end", L + "; the end\n", [A]),
    ("free text above", "Level 1\n\n" + L + "\nLevel 2\n" + L, [A + " | Level 1", A + " | Level 2"]),
    ("free text without a blank line", "Level 1\n" + L, [A + " | Level 1"]),
    ("number as text", "1\n\n" + L + "\n2\n" + L, [A + " | 1", A + " | 2"]),
    ("quoted text", "'Cosmos'\n" + L, [A + " | 'Cosmos'"]),
    ("text with one number sign", "Microban #12\n" + L, [A + " | Microban #12"]),
    ("text with two number signs", "A ## B\n" + L, (1, 1, stray("'A'"))),
    ("text in another script", "\u7b2c\u4e00\n" + L, [A + " | \u7b2c\u4e00"]),
    ("text at the end", L + "\nThe end\n", [A]),
    ("text directly under a level", L + "Level 2\n" + L, (4, 1, stray("'L'"))),
    ("text under a key line", L + "Author: me\nLevel 2\n" + L, [A, A + " | Level 2"]),
    ("address as text", "http://example.org/?a=1\n" + L, [A]),
    ("text that starts with a symbol", "* best levels *\n\n" + L, (1, 3, unknown("'b'"))),
    ("text that starts with dashes", "-- best --\n\n" + L, [A + " | -- best --"]),
    ("text of dots", "...\n\n" + L, (1, 1, NO_PLAYER)),
    ("money as text", "$5\n\n" + L, (1, 2, unknown("'5'"))),
    ("name as text", "@author\n\n" + L, (1, 2, unknown("'a'"))),
    ("heading of a markup language", "# Levels\n\n" + L, (1, 3, unknown("'L'"))),
    ("boxoban", "; 0\n" + L + "\n; 1\n" + L + "\n", [A + " | 0", A + " | 1"]),
    ("boxoban without blank lines", "; 0\n" + L + "; 1\n" + L, [A + " | 0", A + " | 1"]),
    ("boxoban, blank line under the header", "; 0\n\n" + L, [A + " | 0"]),
    ("boxoban numbers need no order", "; 7\n" + L + "\n; 007\n" + L, [A + " | 7", A + " | 007"]),
    ("boxoban with a title", "; 0\n" + L + "Title: t\n", [A + " | t"]),
    ("boxoban without a space", ";0\n" + L, [A + " | 0"]),
    ("boxoban, cut off behind a header", "; 0\n" + L + "\n; 1\n", (6, 1, HEADER)),
    ("boxoban, cut off inside a header", "; 0\n" + L + "\n; 1", (6, 1, HEADER)),
    ("boxoban, cut off before the number", "; 0\n" + L + "\n;", [A + " | 0"]),
    ("boxoban, header twice", "; 0\n; 1\n" + L, (1, 1, HEADER)),
    ("boxoban, header of an empty level", "; 0\n\n  ; 1\n" + L, (1, 1, HEADER)),
    ("number below, indented", L + "\n  ; 1\n", [A + " | 1"]),
    ("numbers below", L + "\n; 1\n\n" + L + "\n; 2\n", [A + " | 1", A + " | 2"]),
    ("numbers below, the second collection begins again", (L + "\n; 1\n\n") * 2, [A + " | 1", A + " | 1"]),
    ("numbers below, one missing", L + "\n" + L + "; 2\n", [A, A + " | 2"]),
    ("numbers below, words behind one", L + "; 1\n" + L + "; 2 'Duh!'\n", [A + " | 1", A + " | 2 'Duh!'"]),
    ("numbers below, words above", "; of 2000\n" + L + "; 1\n; next\n\n" + L + "; 2\n", [A + " | 1", A + " | 2"]),
    ("numbers below, a title says more", L + "Title: t\n\n; 1\n" + L + "; 2\n", [A + " | t", A + " | 2"]),
    ("numbers below, words between", L + "\nby me\n; 1\n" + L + "; 2\n", [A + " | 1", A + " | 2"]),
    ("numbers above or below", L + "\n; 1\n\n" + L, (5, 1, NUMBERS)),
    ("numbers above or below, three levels", (L + "; 1\n") * 2 + L, (4, 1, NUMBERS)),
    ("numbers neither above nor below", L + "; 1\n; 2\n" + L, (4, 1, HEADER)),
    ("two collections, numbers above and below", "; 1\n" + L + "\n" + L + "; 1\n", (9, 1, HEADER)),
    ("a comment's block", L + "Comment:\n## @ ;\n1 2\nTitle: no\nComment-End:\nTitle: t\n", [A + " | t"]),
    ("a comment's block above", "COMMENT:\n#@$.#\ncomment_end: x\n" + L, [A]),
    ("a comment's block without an end", "Comment:\n## x\n" + L, (2, 4, unknown("'x'"))),
    ("a comment of one line", "Comment: see\n" + L + "Comment-End:\n", [A]),
    ("two blocks", ("Comment:\n##\nComment-End:\n\n" + L) * 2, [A, A]),
    ("lines of colons", ":: Collection ##\n::\n" + L + ":: end\n; 1\n", [A + " | 1"]),
    ("boxoban, cut off behind the first row", "; 0\n#####\n", (2, 1, NO_PLAYER)),
    ("boxoban, cut off inside the last row", "; 0\n#####\n#@$.#\n##", (3, 3, OPEN)),
    ("boxoban, header of words", "; zero\n" + L, [A + " | zero"]),
    ("boxoban, negative header at the end", L + "; -1\n", [A]),
    ("numbers behind a level", L + "\n1 2\n3 0\n", (5, 1, foreign(TILES))),
    ("indented numbers behind a level", L + "\n  1 2\n", (5, 3, foreign(TILES))),
    ("numbers directly under a level", L + "1 2\n", (4, 1, foreign(TILES))),
    ("error in the second level", L + "\n#####\n#@$x#\n", (6, 4, unknown("'x'"))),
    ("first of two errors", "#####\n# $.#\n#####\n\n#x\n", (1, 1, NO_PLAYER)),
]

SOKOBAN: list[Case] = [
    ("all symbols", "########\n#@+$*. #\n", (2, 3, TWO_PLAYERS)),
    ("player on goal", "####\n#+$#\n####\n", ["####/#+$#/####"]),
    ("box on goal", "####\n#@*#\n####\n", ["####/#@*#/####"]),
    ("already solved, more floor", "#####\n#@ *#\n#####\n", ["#####/#@ *#/#####"]),
    ("floor as dashes", "######\n#@$.-#\n######\n", ["######/#@$. #/######"]),
    ("floor as underscores", "######\n#@$._#\n######\n", ["######/#@$. #/######"]),
    ("three kinds of floor", "########\n#@$.-_ #\n########\n", ["########/#@$.   #/########"]),
    ("unsolvable level", "#####\n#$ .#\n#@ ##\n#####\n", ["#####/#$ .#/#@ ##/#####"]),
    ("goal that nobody reaches", "#######\n#@$ #.#\n#######\n", ["#######/#@$ #.#/#######"]),
    ("box in a closed room", "########\n#@ #$ .#\n########\n", ["########/#@ #$ .#/########"]),
    ("closed empty room", "########\n#@$.#  #\n########\n", ["########/#@$.#  #/########"]),
    ("boxes as part of the border", "#####\n#@$.$\n#####\n", (1, 1, counts(2, 1))),
    ("box in the border", "#####\n#@.$\n#####\n", (2, 4, OPEN)),
    ("wall of boxes keeps nothing in", "#######\n#@***  \n#######\n", (2, 5, OPEN)),
    ("ragged rows", "####\n#  ###\n# $ .#\n#@####\n###\n", ["######/#  ###/# $ .#/#@####/######"]),
    ("ragged rows, left side", "  ####\n###  #\n#@$ .#\n######\n", ["######/###  #/#@$ .#/######"]),
    ("dashes outside", "--####\n###--#\n#@$-.#\n######\n", ["######/###  #/#@$ .#/######"]),
    ("spaces behind the rows", "#####   \n#@$.# \n#####\n", [A]),
    ("dashes behind the rows", "#####--\n#@$.#_-\n#####\n", [A]),
    ("a thousand spaces behind a row", "#####" + " " * 1000 + "\n#@$.#\n#####\n", [A]),
    ("indented level", "  #####\n  #@$.#\n  #####\n", ["#######/###@$.#/#######"]),
    ("hole in the middle of walls", "#######\n#@$.###\n##### #\n", ["#######/#@$.###/#######"]),
    ("outside floor in a bay", "########\n#@$.#   \n########\n", ["########/#@$.####/########"]),
    ("walls around nothing", TOP + "#   #\n" + TOP, (1, 1, NO_PLAYER)),
    ("detached wall", "#####  #\n#@$.#\n#####\n", ["########/#@$.####/########"]),
    ("row of walls only", "#\n", (1, 1, NO_PLAYER)),
    ("one cell: player", "@\n", (1, 1, NO_BOX)),
    ("one cell: box", "$\n", (1, 1, NO_PLAYER)),
    ("one cell: box on goal", "*\n", (1, 1, NO_PLAYER)),
    ("one row", "@$.\n", (1, 1, OPEN)),
    ("one row with walls", "#@$.#\n", (1, 2, OPEN)),
    ("one column", "#\n@\n$\n.\n#\n", (2, 1, OPEN)),
    ("no player", "#####\n# $.#\n#####\n", (1, 1, NO_PLAYER)),
    ("no player in the second level", L + "\n\n#####\n# $.#\n#####\n", (6, 1, NO_PLAYER)),
    ("two players", "######\n#@@$.#\n######\n", (2, 3, TWO_PLAYERS)),
    ("two players, one on a goal", "######\n#+ $@#\n######\n", (2, 5, TWO_PLAYERS)),
    ("three players", "#######\n#@@@$.#\n#######\n", (2, 3, TWO_PLAYERS)),
    ("second player outside", "#####  @\n#@$.#\n#####\n", (2, 2, TWO_PLAYERS)),
    ("no box, no goal", "###\n#@#\n###\n", (1, 1, NO_BOX)),
    ("no box, one goal", "####\n#@.#\n####\n", (1, 1, counts(0, 1))),
    ("player on the only goal, no box", "###\n#+#\n###\n", (1, 1, counts(0, 1))),
    ("one box, no goal", "####\n#@$#\n####\n", (1, 1, counts(1, 0))),
    ("more boxes than goals", "#######\n#@$$*.#\n#######\n", (1, 1, counts(3, 2))),
    ("more goals than boxes", "######\n#+$.*#\n######\n", (1, 1, counts(2, 3))),
    ("counts before enclosure", "#####\n#@$$.\n#####\n", (1, 1, counts(2, 1))),
    ("open at the right", "#####\n#@$. \n#####\n", (2, 4, OPEN)),
    ("open at the left", "#####\n @$.#\n#####\n", (2, 1, OPEN)),
    ("open at the top", "## ##\n#@$.#\n#####\n", (1, 3, OPEN)),
    ("open at the bottom", "#####\n#@$.#\n# ###\n", (3, 2, OPEN)),
    ("corner missing at the bottom", "#####\n#@$.#\n ### \n", [A]),
    ("open below the last row", "#####\n#@$.#\n", (2, 2, OPEN)),
    ("open below a short row", "###\n#@$.#\n#####\n", (2, 4, OPEN)),
    ("corner missing at the top", "####\n#@$.#\n#####\n", [A]),
    ("open beside a short row", "#####\n#@$\n# .##\n#####\n", (2, 3, OPEN)),
    ("open far from the player", "#######\n#@$.  #\n#     #\n#     \n#######\n", (3, 2, OPEN)),
    ("no walls at all", "@ $ .\n", (1, 1, OPEN)),
    ("open room of 64 by 64", ("@$." + " " * 60 + "#\n") + ("#" + " " * 62 + "#\n") * 63, (1, 1, OPEN)),
    ("box outside", "#####  $\n#@$.# .\n#####\n", (1, 8, BOX_OUT)),
    ("goal outside", "#####  .\n#@$ # $\n#####\n".replace("$ #", "* #"), (1, 8, GOAL_OUT)),
    ("box on goal outside", "#####\n#@$.#\n#####*\n", (3, 6, BOX_OUT)),
    ("box outside, before a bay", "#####\n#@$.# *#\n#####\n", (2, 7, BOX_OUT)),
    ("letter", "#####\n#@$x#\n#####\n", (2, 4, unknown("'x'"))),
    ("digit", "#####\n#@$0#\n#####\n", (2, 4, unknown("'0'"))),
    ("comma", "#####\n#@$,#\n#####\n", (2, 4, unknown("','"))),
    ("capital letters of other dialects", "#####\n#PBG#\n#####\n", (2, 2, unknown("'P'"))),
    ("comment behind a row", "##### ; top\n#@$.#\n", (1, 7, unknown("';'"))),
    ("title behind a row", "##### Title\n", (1, 7, unknown("'T'"))),
    ("accented letter", "#####\n#@$\u00e9#\n", (2, 4, unknown("U+00E9"))),
    ("no-break space", "#####\n#@\u00a0$.#\n", (2, 3, unknown("U+00A0"))),
    ("ideographic space behind a row", "#####\u3000\n", (1, 6, unknown("U+3000"))),
    ("box drawing", "#\u2588#\n", (1, 2, unknown("U+2588"))),
    ("emoji", "#####\n#\U0001f9cd$.#\n", (2, 2, unknown("U+1F9CD"))),
    ("last plane", "#\U0010fffd#\n", (1, 2, unknown("U+10FFFD"))),
    ("damaged first row", "x####\n#@$.#\n#####\n", (1, 1, stray("'x'"))),
    ("damaged middle row", "#####\nx@$.#\n#####\n", (2, 1, stray("'x'"))),
    ("damaged last row", "#####\n#@$.#\nx####\n", (3, 1, stray("'x'"))),
    ("damaged last row of a closed level", L + "x####\n", (4, 1, stray("'x'"))),
    ("quoted rows", '"#####"\n"#@$.#"\n"#####"\n', (1, 1, stray("'\"'"))),
    ("tab inside a row", "#####\n#@\t.#\n#####\n", (2, 3, TAB)),
    ("tab before a row", "\t#####\n", (1, 1, TAB)),
    ("tab behind a row", "#####\t\n", (1, 6, TAB)),
    ("tab and spaces behind a row", "##### \t \n", (1, 7, TAB)),
    ("tab after an unknown character", "#x\t#\n", (1, 2, unknown("'x'"))),
    ("blank line inside a level", "#####\n\n#@$.#\n#####\n", (1, 1, NO_PLAYER)),
    ("dashes inside a level", "#####\n#@$.#\n-----\n#####\n", (2, 2, OPEN)),
    ("comment inside a level", "#####\n#@$.#\n; half\n#####\n", (2, 2, OPEN)),
    ("64 by 64", room(64, 64), [canonical(room(64, 64))]),
    ("64 by 5", room(64, 5), [canonical(room(64, 5))]),
    ("3 by 64", room(3, 64), [canonical(room(3, 64))]),
    ("65 columns", room(4, 65), (1, 65, width(65))),
    ("65 columns in one row", "#####\n#@$.#\n" + "#" * 65 + "\n", (3, 65, width(65))),
    ("65 columns, spaces behind", "#" * 65 + "  \n", (1, 65, width(65))),
    ("4096 columns", "#" * 4096, (1, 65, width(4096))),
    ("indented too far", " " * 60 + "#####\n", (1, 65, width(65))),
    ("unknown character before column 65", "#" * 63 + "x" + "#" * 5 + "\n", (1, 64, unknown("'x'"))),
    ("unknown character at column 65", "#" * 64 + "x\n", (1, 65, width(65))),
    ("65 rows", room(65, 5), (65, 1, "expected at most 64 rows, got 65")),
    ("65 rows in the second level", L + "\n" + room(65, 5), (69, 1, "expected at most 64 rows, got 65")),
    ("100,000 rows", "#\n" * 100_000, (65, 1, "expected at most 64 rows, got 100000")),
    (
        "too many rows before an unknown character",
        "x####\n".replace("x", "#x") + "#\n" * 64,
        (65, 1, "expected at most 64 rows, got 65"),
    ),
]

SLIDING: list[Case] = [
    ("3 by 3", B, [S]),
    ("2 by 2", "0 1\n2 3\n", ["0 1/2 3"]),
    ("2 by 5", "1 2 3 4 5\n6 7 8 9 0\n", ["1 2 3 4 5/6 7 8 9 0"]),
    ("5 by 2", "1 2\n3 4\n5 6\n7 8\n9 0\n", ["1 2/3 4/5 6/7 8/9 0"]),
    ("unsolvable board", "2 1\n3 0\n", ["2 1/3 0"]),
    ("goal", "1 2\n3 0\n", ["1 2/3 0"]),
    ("numbers with leading zeros", "01 02\n03 00\n", ["1 2/3 0"]),
    ("aligned numbers", "  1  2 \n 3     0\n", ["1 2/3 0"]),
    ("two boards", B + "\n" + B, [S, S]),
    ("boards with titles", B + "Title: a\n\n; b\n" + B, [S + " | a", S + " | b"]),
    ("boards with numbered headers", "; 0\n" + B + "; 1\n" + B, [S + " | 0", S + " | 1"]),
    ("board with words above", "Easy ones\n\n" + B, [S + " | Easy ones"]),
    ("board with crlf and a mark", "\ufeff" + B.replace("\n", "\r\n"), [S]),
    ("number below a board", B + "; 1\n", [S + " | 1"]),
    ("header without a board", "; 0\n" + B + "; 1\n", (5, 1, HEADER)),
    ("words directly under a board", B + "end\n", (4, 1, stray("'e'"))),
    ("letter in a row", "1 2 3\n4 x 6\n7 5 8\n", (2, 3, unknown("'x'"))),
    ("letter behind a number", "1 2 3\n4 0a 6\n", (2, 4, unknown("'a'"))),
    ("letter in the first row", "1 2 x\n4 0\n", (1, 5, unknown("'x'"))),
    ("underscore as blank", "1 2\n3 _\n", (2, 3, unknown("'_'"))),
    ("underscore in front", "1 2\n_ 3\n", (2, 1, unknown("'_'"))),
    ("negative number", "1 2\n-3 0\n", (2, 1, unknown("'-'"))),
    ("plus sign", "1 2\n+3 0\n", (2, 1, foreign(SYMBOLS))),
    ("decimal point", "1 2\n3.0 0\n", (2, 2, unknown("'.'"))),
    ("commas", "1 2\n3,0\n", (2, 2, unknown("','"))),
    ("tab between numbers", "1 2\n3\t0\n", (2, 2, TAB_TILES)),
    ("tab before numbers", "1 2\n\t3 0\n", (2, 1, TAB_TILES)),
    ("hexadecimal", "1 2\n0x3 0\n", (2, 2, unknown("'x'"))),
    ("superscript digit", "1 2\n3 \u00b2\n", (2, 3, unknown("U+00B2"))),
    ("three digits", "1 2\n3 100\n", (2, 3, "expected a number of one or two digits, got 3 digits")),
    ("a thousand digits", "1 2\n3 " + "9" * 1000, (2, 3, "expected a number of one or two digits, got 1000 digits")),
    ("number too large", "1 2\n3 4\n", (2, 3, each(3, "4"))),
    ("number twice", "1 2\n2 0\n", (2, 1, each(3, "2 twice"))),
    ("two blanks", "1 0\n2 0\n", (2, 3, each(3, "0 twice"))),
    ("no blank", "1 2\n3 3\n", (2, 3, each(3, "3 twice"))),
    ("counted from one", "1 2 3\n4 5 6\n7 8 9\n", (3, 5, each(8, "9"))),
    ("short row", "1 2 3\n4 0\n5 6 7\n", (2, 1, "expected as many numbers as in the first row, 3, got 2")),
    ("long row", "1 2\n3 4 0\n", (2, 1, "expected as many numbers as in the first row, 2, got 3")),
    ("short row, indented", "1 2 3\n  4 0\n", (2, 3, "expected as many numbers as in the first row, 3, got 2")),
    ("six columns", "1 2 3 4 5 0\n", (1, 11, "expected at most 5 numbers in a row, got more")),
    ("six rows", "1 2\n3 4\n5 6\n7 8\n9 10\n11 0\n", (6, 1, "expected at most 5 rows, got 6")),
    ("a thousand rows", "1 2\n" * 1000, (6, 1, "expected at most 5 rows, got 1000")),
    ("a thousand numbers", "1 " * 1000, (1, 11, "expected at most 5 numbers in a row, got more")),
    ("one row", "0 1\n", (1, 1, sizes(1, 2))),
    ("one column", B + "\n0\n1\n", (5, 1, sizes(2, 1))),
    ("one cell", B + "\n  0\n", (5, 3, sizes(1, 1))),
    ("board cut in two", "1 2 3\n\n4 5 6\n7 8 0\n", (1, 1, sizes(1, 3))),
    ("two sizes", B + "\n0 1\n2 3\n", (5, 1, "expected boards of one size in a text, got 2 by 2 after 3 by 3")),
    (
        "two sizes of six cells",
        "0 1 2\n3 4 5\n\n0 1\n2 3\n4 5\n",
        (4, 1, "expected boards of one size in a text, got 3 by 2 after 2 by 3"),
    ),
    ("walls behind a board", B + "\n" + L, (5, 1, foreign(SYMBOLS))),
    ("dots behind a board", B + "\n...\n", (5, 1, foreign(SYMBOLS))),
    ("number heading", "1\n\n" + B, (1, 1, sizes(1, 1))),
    ("numbers above a Sokoban level", "5 3\n" + L, (2, 1, foreign(SYMBOLS))),
    ("Sokoban title of numbers", "; 5 3\n" + L, [A + " | 5 3"]),
    ("15-puzzle", "15 14 8 12\n10 11 9 13\n2 6 5 1\n3 7 4 0\n", ["15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0"]),
    (
        "15-puzzle in one line",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0\n",
        (1, 11, "expected at most 5 numbers in a row, got more"),
    ),
]

CASES: list[Case] = [
    (f"{part}: {name}", text, expected)
    for part, cases in (("text", TEXT), ("packs", PACKS), ("sokoban", SOKOBAN), ("sliding", SLIDING))
    for name, text, expected in cases
]
