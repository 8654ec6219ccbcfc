"""A page as one self-contained HTML file: its styles, its one script, and the values that the script shows.

Names of agents and instances come from untrusted files: whatever is not ``Html`` is escaped, for pages, scripts and
links separately. The content security policy lets the browser run that script alone and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib import resources
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING, Any

from recommit.results.table import MINUS
from recommit.storage.terminal_text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Parts of the page's one script.
SCRIPTS = ("draw", "pane", "playback", "viewer", "report")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def escaped(value: object) -> Html:
    """Escape text; ``Html`` is returned unchanged."""
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


def json_script(identity: str, value: Any) -> Html:
    """JSON values for a script, in an element that browsers do not execute."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII: U+2028 and U+2029 are escaped as well
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(f'<script type="application/json" id="{escaped(identity)}">{text}</script>')


def data_link(kind: str, content: bytes) -> str:
    """A data URL that holds a file."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def document(
    kind: str,
    title: str,
    task: str,
    content: list[Html],
    packed: dict[str, Any] | None,
    links: Sequence[tuple[str, str]],
) -> str:
    """The whole page around its sections; ``kind`` is the name of the command, ``packed`` the viewer's values, and
    ``links`` are the ids and labels of the sections."""
    script = rules(task) + "".join(asset(f"{name}.js") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(asset("page.html")).substitute(
        kind=escaped(kind),
        title=escaped(title),
        first=links[0][0],
        sections=joined(*(tag("li", tag("a", word, href=f"#{name}")) for name, word in links)),
        contents=joined(*content),
        styles="".join(asset(f"{name}.css") for name in ("report", "viewer", "print")),
        script=script,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:",
        packed=json_script("packed", packed),
    )


def asset(name: str) -> str:
    """A file of the package."""
    return (resources.files("recommit.report") / "assets" / name).read_text(encoding="utf-8")


def rules(task: str) -> str:
    """Script that plays and draws a puzzle; no board is shown for a puzzle without a file in ``assets/puzzles``."""
    own = resources.files("recommit.report") / "assets" / "puzzles" / f"{task}.js"
    known = PurePath(task).name == task and own.is_file()  # the task comes from an untrusted file
    return asset("puzzles.js") + (own.read_text(encoding="utf-8") if known else "")
