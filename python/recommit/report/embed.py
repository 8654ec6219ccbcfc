"""Text that goes into a page, a script, a spreadsheet or a link: each way in escapes for itself.

Names of agents and instances come from files that anybody may have written. Whatever is not ``Html`` is escaped.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from typing import TYPE_CHECKING, Any

from recommit.storage.terminal_text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A spreadsheet takes cells that begin so for formulas.
_FORMULA = ("=", "+", "-", "@", "\t")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(value: object) -> Html:
    """Text as HTML; HTML as it is."""
    return value if isinstance(value, Html) else Html(html.escape(plain(value), quote=True))


def joined(*parts: object) -> Html:
    """One after the other."""
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


def json_script(identity: str, value: Any) -> Html:
    """Values for a script, in an element that no browser executes."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII: U+2028 and U+2029 are escaped as well
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(f'<script type="application/json" id="{escaped(identity)}">{text}</script>')


def csv_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Comma-separated values that a spreadsheet shows and does not compute."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in [head, *rows]:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None or isinstance(value, (bool, int)):
        return "" if value is None else value
    if isinstance(value, float):
        return f"{value:.6g}"
    text = plain(value)
    return "'" + text if text.startswith(_FORMULA) else text


def data_link(kind: str, text: str) -> str:
    """A link that is the file."""
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def short(value: float, digits: int = 1) -> str:
    """For coordinates: no digits that nobody sees."""
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
