"""The page: one file, the same bytes each time, harmless whatever the names, and honest about what is missing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from recommit.report import page
from recommit.report.reading import Folder


class Elements(HTMLParser):
    """Every element, with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def made(evaluations):
    return page.make(Folder(evaluations["sokoban"]), 8)


def test_the_same_evaluation_gives_the_same_bytes(evaluations, made):
    assert page.make(Folder(evaluations["sokoban"]), 8) == made


def test_nothing_comes_from_elsewhere(made):
    without = made.html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]", re.sub(r"base64,[\w+/=]*", "", without).replace("// ", ""))
    elements = Elements(made.html).found
    for name, attributes in elements:
        assert not any(key.startswith("on") for key in attributes), name
        assert attributes.get("href", "#").startswith(("#", "data:"))
        assert attributes.get("src", "data:image/svg+xml;base64,").startswith("data:image/svg+xml;base64,")
    policy = next(a["content"] for n, a in elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy


def test_every_section_says_how_to_read_it(made):
    parts = re.findall(r'<section id="(\w+)"[^>]*><h2>[^<]+</h2><p class="how">[^<]+</p>', made.html)
    assert parts == ["result", "table", "pareto", "depth", "made"]
    assert made.watched == 8
    assert "8 of 24 puzzles" in made.html
