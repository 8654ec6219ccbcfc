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
    from collections.abc import Iterable, Sequence

#: A spreadsheet takes cells that begin so for formulas.
_FORMULA = ("=", "+", "-", "@", "\t")
#: Of numbers below zero, and where there is no number.
MINUS, NONE = "\u2212", "\u2013"


def letters(numbers: Iterable[int]) -> str:
    """Numbers of 0 to 35 as a letter each, in base 36."""
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[number] for number in numbers)


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


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


def table(
    head: Sequence[object],
    rows: Sequence[tuple[str, Sequence[object]]],
    label: str,
    *,
    columns: Sequence[str] = (),
) -> Html:
    """A table that scrolls by itself where it is wider than the screen; a row is its class and its cells, ``columns``
    are classes of columns."""
    kinds = [kind or None for kind in columns] or [None] * len(head)
    top = tag("tr", *(tag("th", cell, scope="col", class_=kind) for cell, kind in zip(head, kinds, strict=True)))
    body = [
        tag(
            "tr",
            tag("th", cells[0], scope="row"),
            *(tag("td", cell, class_=kind) for cell, kind in zip(cells[1:], kinds[1:], strict=False)),
            class_=class_ or None,
        )
        for class_, cells in rows
    ]
    element = tag("table", tag("caption", label), tag("thead", top), tag("tbody", *body))
    return tag("div", element, class_="wide", tabindex=0, role="region", aria_label=label)


def number(value: float | None, digits: int = 1, *, sign: bool = False) -> str:
    """A number with a typographic minus; a dash for None."""
    if value is None:
        return NONE
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text.replace("-", MINUS)


def percent(value: float | None) -> str:
    """A share as per cent."""
    return NONE if value is None else number(100 * value)


def interval(low: float | None, high: float | None, digits: int = 1, *, sign: bool = False) -> str:
    """Both ends of an interval; empty where there is none."""
    return (
        "" if low is None or high is None else f"{number(low, digits, sign=sign)} .. {number(high, digits, sign=sign)}"
    )


def with_code(line: str) -> Html:
    """Text in which what stands between backticks is code."""
    return joined(*(tag("code", part) if i % 2 else tag("span", part) for i, part in enumerate(line.split("`"))))


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


def data_link(kind: str, content: bytes) -> str:
    """A data URL that holds a file."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
