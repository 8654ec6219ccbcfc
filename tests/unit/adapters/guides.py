"""The programs of the adapters' guides, and what stands under them: the first lines of what they print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = re.compile(r"^```py\n((?:(?!^```).)*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What another machine prints otherwise: times, and names with chance in them.
CHANGES = re.compile(r"(\| +(?:fps|time_elapsed) +\| )\S+ *(?=\|)")


@dataclass(frozen=True)
class PageProgram:
    """A block of a page, and the lines under it."""

    code: str
    shown: str

    def agrees(self, printed: str) -> bool:
        """Whether its first ten lines, or all, are what stands there."""
        return first(printed) == first(self.shown)


def first(text: str) -> list[str]:
    """Ten lines without spaces at their ends and without what changes."""
    return [CHANGES.sub(r"\1* ", line.rstrip()) for line in text.splitlines()[:10]]


def program(page: str, heading: str) -> PageProgram:
    """The first program with output below a heading of a guide."""
    return of((ROOT / "docs" / "guides" / f"{page}.md").read_text(encoding="utf-8"), heading)


def of(text: str, heading: str) -> PageProgram:
    """The same of a page's text."""
    section = re.split(r"^## ", text.split(f"\n## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    found = PROGRAM.search(section)
    assert found, f"{heading}: expected a py block and a text block under it"
    return PageProgram(found[1], found[2])
