"""Sentences on pages are short: at most 25 words, 15 on average.

Tables, code, headings, and what a program writes between two comments are not sentences.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
MOST, MEAN = 25, 15
ITEM = re.compile(r"^([-*+]|\d\.)\s+")
GENERATED = re.compile(r"<!-- (?!end)[a-z0-9 -]+ -->\n.*?<!-- end -->", re.DOTALL)


def paragraphs(page: str) -> Iterator[tuple[int, str]]:
    """Prose with the number of its first line; an item of a list is one of its own."""
    first, words, fenced = 0, list[str](), False
    page = GENERATED.sub(lambda block: "\n" * block[0].count("\n"), page)
    for number, line in enumerate([*page.splitlines(), ""], 1):
        text = line.strip()
        fence = text.startswith(("```", "~~~"))
        fenced ^= fence
        silent = (
            fenced
            or fence
            or not text
            or text.startswith(("|", "#", "<", ":::", "!!!", "???", "!["))
            or line[:4] == " " * 4
        )
        if words and (silent or ITEM.match(text)):
            yield first, " ".join(words)
            words = []
        if not silent:
            first = first if words else number
            words.append(ITEM.sub("", text, count=1) if not words else text)


def sentences(page: str) -> Iterator[tuple[int, int, str]]:
    """The line of its paragraph, the number of words, and the sentence."""
    for line, text in paragraphs(page):
        plain = re.sub(r"`[^`]*`", "Code", text)
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
        for sentence in re.split(r"(?<=[.!?:])[\"')\]*_]*\s+(?=[A-Z0-9\u03b1\"'(\[*_])", plain):
            words = re.findall(r"[\w'%-]*\w[\w'%-]*", sentence)
            if words:
                yield line, len(words), sentence


def complaints(page: str) -> list[str]:
    """What a reader would have to read twice."""
    all_of = list(sentences(page))
    long = [f"{line}: {words} words: {text[:60]}" for line, words, text in all_of if words > MOST]
    mean = sum(words for _, words, _ in all_of) / max(len(all_of), 1)
    return [*long, *([f"{mean:.1f} words on average"] if mean > MEAN else [])]


PAGES = sorted(path for pattern in ("*.md", "docs/**/*.md") for path in ROOT.glob(pattern))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_sentences_are_short(path: Path) -> None:
    assert complaints(path.read_text(encoding="utf-8")) == []


def test_a_long_sentence_is_noticed() -> None:
    long = "word " * 26
    written = f"<!-- sliding main -->\n* {long}\n<!-- end -->\n"
    page = f"# {long}\n\n| {long} |\n\n```text\n{long}\n```\n\nShort one. {long}\n\n* {long}\n\n{written}\n{long}\n"
    assert [each.partition(":")[0] for each in complaints(page)[:-1]] == ["9", "11", "17"]
    assert complaints("word " * 16) == ["16.0 words on average"]
