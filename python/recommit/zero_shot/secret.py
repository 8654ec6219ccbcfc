"""A key that nobody sees: it leaves its object for the header of a request, and for nothing else.

In foreign text one rule holds: whatever shares eight letters or digits in a row with the key is hidden.

Rows are compared without what stands between letters, in small letters, forwards and backwards; in the text as it is,
with its escapes read (of addresses, of HTML, of JSON and of C, four deep), and as base64 and hexadecimal digits.
"""

from __future__ import annotations

import html
import os
import re
import string
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from numpy.typing import NDArray

#: What may stand in a header's value. Anything else could end the header and begin another.
_USABLE = re.compile(r"[\x21-\x7e]+")
#: Shorter keys are placeholders of local servers ("EMPTY"), and may well be ordinary words.
SHORTEST_SECRET = 8
HIDDEN = "[key]"
#: So many letters and digits in a row are taken for a part of the secret. Fewer tell little, and occur by chance.
SHARED = 8
#: How often an escape may be escaped again.
LAYERS = 4

_ESCAPE = re.compile(
    rb"[%=][0-9A-Fa-f]{2}|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,12});?"
    rb"|\\+(?:u[0-9A-Fa-f]{4}|u\{0*[0-9A-Fa-f]{2}\}|x[0-9A-Fa-f]{2}|[0-7]{3})"
)
_UNKNOWN = ord("?")


class _View(NamedTuple):
    """Text as somebody might read it: its characters, and from where to where each was written."""

    codes: NDArray[np.uint8]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def only(self, which: NDArray[np.bool_]) -> _View:
        return _View(self.codes[which], self.first[which], self.last[which])


def _table(values: dict[str, int], otherwise: int) -> NDArray[np.uint8]:
    table = np.full(256, otherwise, np.uint8)
    for character, value in values.items():
        table[ord(character)] = value
    return table


#: A letter or digit in its small form; 0 for what stands between them.
_LETTERS = _table({c: ord(c.lower()) for c in string.ascii_letters + string.digits}, 0)
_BASE64 = _table(
    {c: i for i, c in enumerate(string.ascii_uppercase + string.ascii_lowercase + string.digits)}
    | {"+": 62, "-": 62, "/": 63, "_": 63},
    255,
)
_HEX = _table({c: int(c, 16) for c in string.hexdigits}, 255)


class Key:
    """The value of an environment variable. Neither its ``repr``, nor a pickle, nor an error shows it."""

    __slots__ = ("__mask", "__text", "variable")

    def __init__(self, text: str, variable: str) -> None:
        self.variable = variable
        if text and not _USABLE.fullmatch(text):
            raise ValueError(f"{variable}: expected a key of printable characters without spaces, got another text")
        self.__text = text
        self.__mask = Mask(text) if len(text) >= SHORTEST_SECRET else None

    @classmethod
    def from_environment(cls, variable: str) -> Key:
        """The key in a variable; empty if there is none."""
        return cls(os.environ.get(variable, "").strip() if variable else "", variable)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def reveal(self) -> str:
        """The text, for the header."""
        return self.__text

    def redact(self, text: str) -> str:
        """``text`` without the key and its parts, also where they are encoded: a server may send back what it was
        sent."""
        return self.__mask.over(text) if self.__mask else text

    def stands_in(self, text: str) -> bool:
        """Is the whole key in ``text``, as it is?"""
        return len(self.__text) >= SHORTEST_SECRET and self.__text in text

    def __repr__(self) -> str:
        return f"<key from {self.variable or 'nowhere'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


def clean(text: str, key: Key, most: int = 200) -> str:
    """Foreign text for a message or a log: without the key, printable, on one line, short."""
    # The key goes first: cutting could leave a part of it.
    shown = key.redact(text)[: 8 * most]
    shown = "".join(c if c.isprintable() and c.isascii() else " " for c in shown)
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else shown[:most] + "..."


class Mask:
    """Hides one secret. Neither its ``repr`` nor an error of it shows that."""

    __slots__ = ("__begins", "__rows", "__whole")

    def __init__(self, secret: str) -> None:
        letters = _letters(_as_written(secret)).codes.tobytes()
        both = (letters, letters[::-1])
        self.__whole = secret
        self.__rows = {way[i : i + SHARED] for way in both for i in range(len(way) - SHARED + 1)}
        #: Whether a row begins with these two letters: most places of a text are passed over by that alone.
        self.__begins = np.zeros(1 << 16, bool)
        self.__begins[[row[0] << 8 | row[1] for row in self.__rows]] = True

    def over(self, text: str) -> str:
        """``text`` with all that shares a row with the secret replaced."""
        text = text.replace(self.__whole, HIDDEN) if self.__whole else text  # which may have few letters
        if not self.__rows:
            return text
        parts, end = [], 0
        for first, last in _joined({place for view in _views(text) for place in self._places(_letters(view))}):
            parts += [text[end:first], HIDDEN]
            end = last
        return "".join([*parts, text[end:]])

    def _places(self, view: _View) -> Iterator[tuple[int, int]]:
        """Where rows of the secret were written."""
        codes, letters = view.codes.astype(np.intp), view.codes.tobytes()
        for i in np.flatnonzero(self.__begins[codes[:-1] << 8 | codes[1:]]).tolist():
            if letters[i : i + SHARED] in self.__rows:
                yield int(view.first[i]), int(view.last[i + SHARED - 1])


def _joined(places: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Places that overlap as one."""
    begin = end = -1
    for first, last in sorted(places):
        if first >= end:
            if end > 0:
                yield begin, end
            begin = first
        end = max(end, last)
    if end > 0:
        yield begin, end


def _views(text: str) -> Iterator[_View]:
    """All ways to read a text."""
    view: _View | None = _as_written(text)
    for _ in range(1 + LAYERS):
        if view is None:
            return
        yield view
        yield from _of_base64(view)
        yield from _of_hex(view)
        view = _unescaped(view)


def _as_written(text: str) -> _View:
    places = np.arange(len(text), dtype=np.int64)
    return _View(np.frombuffer(text.encode("ascii", "replace"), np.uint8), places, places + 1)


def _letters(view: _View) -> _View:
    """The letters and digits alone, small."""
    small = view._replace(codes=_LETTERS[view.codes])
    return small.only(small.codes > 0)


def _unescaped(view: _View) -> _View | None:
    """With every escape as the character that it stands for; None if there is none."""
    codes, last, stays = view.codes.copy(), view.last.copy(), np.ones(len(view.codes), bool)
    for escape in _ESCAPE.finditer(view.codes.tobytes()):
        begin, end = escape.span()
        codes[begin], last[begin] = _character(escape[0].decode("ascii")), view.last[end - 1]
        stays[begin + 1 : end] = False
    return None if stays.all() else _View(codes, view.first, last).only(stays)


def _character(escape: str) -> int:
    if escape[0] == "&":
        character = html.unescape(escape)
        return ord(character) if len(character) == 1 and character.isascii() else _UNKNOWN
    digits = escape.lstrip("\\")
    octal = escape[0] == "\\" and digits[0].isdigit()
    code = int(digits, 8) if octal else int(digits.lstrip("%=ux{").rstrip("}"), 16)
    return code if code < 128 else _UNKNOWN


def _of_base64(view: _View) -> Iterator[_View]:
    """What its digits encode, wherever the first group of four begins."""
    digits = view._replace(codes=_BASE64[view.codes])
    for a, b, c, d in _groups(digits.only(digits.codes < 64), 4):
        pairs = ((a, b, 2, 4), (b, c, 4, 2), (c, d, 6, 0))
        codes = np.stack([(high.codes << up) | (low.codes >> down) for high, low, up, down in pairs], 1).astype(
            np.uint8
        )
        first, last = np.stack([a.first, b.first, c.first], 1), np.stack([b.last, c.last, d.last], 1)
        yield _View(codes.ravel(), first.ravel(), last.ravel())


def _of_hex(view: _View) -> Iterator[_View]:
    digits = view._replace(codes=_HEX[view.codes])
    for high, low in _groups(digits.only(digits.codes < 16), 2):
        yield _View(((high.codes << 4) | low.codes).astype(np.uint8), high.first, low.last)


def _groups(view: _View, size: int) -> Iterator[list[_View]]:
    """Groups of ``size`` digits from each of the first ``size`` places on; the last is filled up with zeros."""
    if len(view.codes) < size:
        return
    filled = np.append(np.arange(len(view.codes)), np.full(size - 1, len(view.codes) - 1))
    codes = np.append(view.codes, np.zeros(size - 1, np.uint8))
    for begin in range(size):
        end = begin + (len(codes) - begin) // size * size
        places = [filled[begin + i : end : size] for i in range(size)]
        yield [_View(codes[begin + i : end : size], view.first[at], view.last[at]) for i, at in enumerate(places)]
