"""Text that goes into a page, a script, a spreadsheet or a link: each way in escapes for itself.

Names of agents and instances come from files that anybody may have written. Whatever is not ``Html`` is escaped.
"""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any

from recommit.results.grid import MINUS
from recommit.storage.terminal_text import plain


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def escaped(value: object) -> Html:
    """Text as HTML; HTML as it is."""
    return value if isinstance(value, Html) else Html(html.escape(plain(value), quote=True))


def joined(*parts: object) -> Html:
    """Escape and concatenate."""
    return Html("".join(escaped(part) for part in parts))


def tag(name: str, *children: object, **attributes: object) -> Html:
    """An element: ``tag("a", "text", href="x", class_="y", data_z=1)``. Attributes that are None or False are left
    out."""
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        written.append(f" {word}" if value is True else f' {word}="{escaped(value)}"')
    return Html(f"<{name}{''.join(written)}>{joined(*children)}</{name}>")


def minus(text: str) -> str:
    """Text with typographic minus signs before digits."""
    return re.sub(r"(?<![\w.])-(?=\d)", MINUS, text)


def with_code(line: str) -> Html:
    """Text in which what stands between backticks is code."""
    return joined(*(tag("code", part) if i % 2 else tag("span", part) for i, part in enumerate(line.split("`"))))


def json_script(identity: str, value: Any) -> Html:
    """Values for a script, in an element that no browser executes."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII: U+2028 and U+2029 are escaped as well
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(f'<script type="application/json" id="{escaped(identity)}">{text}</script>')


def data_link(kind: str, content: bytes) -> str:
    """A data URL that holds a file."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
