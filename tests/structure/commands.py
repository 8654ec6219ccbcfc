"""Commands that the documents show, found; ``checking`` has them parsed, ``running`` runs them, scaled down."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recommit.cli import command_line

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


class Wrong(Exception):
    """A command that does not do what the page says."""


@dataclass(frozen=True)
class Command:
    """One line of a document, without its comment."""

    page: str
    line: int
    block: int
    text: str

    @property
    def words(self) -> list[str]:
        """As the shell would split it; variables in front of it are left out."""
        words = shlex.split(self.text, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1 + (words[0].endswith("$(mktemp")) :]
        return words

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROMPT = re.compile(r"^[\w-]*\$ ")
_PROGRAM = r"(recommit|python|bash|pip|deepspeed|torchrun)"


def commands(page: Path) -> list[Command]:
    """Those of all blocks `console`, in order. In a block with prompts everything else is output."""
    text, name = (
        page.read_text(encoding="utf-8"),
        page.relative_to(ROOT).as_posix() if ROOT in page.parents else page.name,
    )
    found = []
    for block, match in enumerate(_FENCE.finditer(text)):
        if match[1] != "console":
            if re.search(rf"^(\w*\$ )?{_PROGRAM} ", match[2], re.MULTILINE) and match[1] not in ("python", "yaml"):
                raise Wrong(f"{name}: a block with commands is not marked as console:\n{match[2]}")
            continue
        first = text[: match.start(2)].count("\n") + 1
        found += [Command(name, first + i, block, line) for i, line in _lines(match[2])]
    return found


def _lines(block: str) -> Iterator[tuple[int, str]]:
    """Number and text; lines that end in a backslash go on, `&&` begins another command."""
    prompts = any(map(_PROMPT.match, block.splitlines()))
    joined = re.sub(r" *\\\n *", "\x00", block)
    number = 0
    for line in joined.splitlines():
        if line.strip() and (not prompts or _PROMPT.match(line)):
            whole = _PROMPT.sub("", line).replace("\x00", " ").strip()
            yield from ((number, part.strip()) for part in whole.split("&&"))
        number += 1 + line.count("\x00")


def inline(page: Path) -> list[str]:
    """Commands with flags in running text."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    spans = (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))
    return [span for span in spans if re.match(r"(recommit \w+|python (bench/|docs/figures/|-m )\S+).* --\w", span)]


def call(words: list[str]) -> tuple[int, str]:
    """Status of the command line in this process, and what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = command_line.main(words)
    if "this command needs" in out.getvalue():
        pytest.skip(out.getvalue().strip())
    return status, out.getvalue()
