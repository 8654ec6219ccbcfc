"""A page as one HTML file that needs nothing else: its styles, its one script, and the values that the script shows.

The page's own policy lets the browser run that script alone and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING, Any

from recommit.report import html
from recommit.report.html import joined, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.report.html import Html

#: Parts of the page's one script.
SCRIPTS = ("draw", "pane", "playback", "viewer", "report")


def document(
    kind: str,
    title: str,
    task: str,
    content: list[Html],
    packed: dict[str, Any] | None,
    links: Sequence[tuple[str, str]],
) -> str:
    """The page around its sections, of the ``kind`` of a command; ``packed`` is for the viewer, ``links`` are the
    sections' identities and words."""
    script = rules(task) + "".join(asset(f"{name}.js") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(asset("page.html")).substitute(
        kind=html.escaped(kind),
        title=html.escaped(title),
        first=links[0][0],
        sections=joined(*(tag("li", tag("a", word, href=f"#{name}")) for name, word in links)),
        contents=joined(*content),
        styles="".join(asset(f"{name}.css") for name in ("report", "viewer", "print")),
        script=script,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:",
        packed=html.json_script("packed", packed),
    )


def asset(name: str) -> str:
    """A file of the package."""
    return (resources.files("recommit.report") / "assets" / name).read_text(encoding="utf-8")


def rules(task: str) -> str:
    """How a page plays and draws the puzzle; of one that has no file in ``assets/puzzles`` no board is shown."""
    own = resources.files("recommit.report") / "assets" / "puzzles" / f"{task}.js"
    known = PurePath(task).name == task and own.is_file()  # an evaluation may be a stranger's
    return asset("puzzles.js") + (own.read_text(encoding="utf-8") if known else "")
