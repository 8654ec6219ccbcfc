"""A key that is never shown: it leaves its object for the header of a request, and for nothing else. In foreign text
whatever has eight characters in a row of the key is hidden, in small letters or capitals."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

#: What may stand in a header's value. Anything else could end the header and begin another.
_USABLE = re.compile(r"[\x21-\x7e]*")
#: This many characters in a row are taken for a part of the key; fewer tell little, and occur by chance. Shorter keys
#: are placeholders of local servers ("EMPTY"), and may well be ordinary words.
SHARED = 8
HIDDEN = "[key]"


class Key:
    """The value of an environment variable, empty if there is none. Neither its ``repr``, nor a pickle, nor an error
    shows it."""

    __slots__ = ("__text", "variable")

    def __init__(self, text: str, variable: str) -> None:
        self.variable = variable
        if not _USABLE.fullmatch(text):
            raise ValueError(f"{variable}: expected a key of printable characters without spaces, got another text")
        self.__text = text

    @classmethod
    def from_environment(cls, variable: str) -> Key:
        """The key in a variable."""
        return cls(os.environ.get(variable, "").strip() if variable else "", variable)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def reveal(self) -> str:
        """The text, for the header."""
        return self.__text

    def redact(self, text: str) -> str:
        """``text`` without the key and its parts: a server may send back what it was sent."""
        plain, key = _small(text), _small(self.__text)
        hidden = bytearray(len(text))
        for row in {key[i : i + SHARED] for i in range(len(key) - SHARED + 1)}:
            for found in re.finditer(b"(?=" + re.escape(row) + b")", plain):
                hidden[found.start() : found.start() + SHARED] = b"\1" * SHARED
        for found in reversed(list(re.finditer(b"\1+", hidden))):
            text = text[: found.start()] + HIDDEN + text[found.end() :]
        return text

    def __repr__(self) -> str:
        return f"<key from {self.variable or 'nowhere'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


def _small(text: str) -> bytes:
    """One byte per character, whatever the text, letters small."""
    return text.encode("ascii", "replace").lower()


def clean(text: str, key: Key, most: int = 200) -> str:
    """Foreign text for a message or a log: without the key, printable, on one line, short."""
    # The key goes first: cutting could leave a part of it.
    shown = "".join(c if c.isprintable() and c.isascii() else " " for c in key.redact(text)[: 8 * most])
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else shown[:most] + "..."
