"""The page: one file, the same bytes each time, harmless whatever the names, and honest about what is missing."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from recommit.report import page, sections
from recommit.report.reading import Folder

RUN = "/home/somebody/runs/<img src=x onerror=alert(1)>\"'=\u2028"


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


def table_of(title, *grids, notes=()):
    grids = [{"head": head, "rows": rows} for head, rows in grids]
    return {"name": title, "title": title, "grids": grids, "notes": list(notes)}


@pytest.mark.usefixtures("unpainted")
def test_the_papers_tables_are_shown_if_they_were_made(evaluations, tmp_path):
    assert sections.paper(Folder(evaluations["sliding"])) == []
    copy = shutil.copytree(evaluations["sliding"], tmp_path / "eval")
    (copy / "tables.md").write_text("sliding, loose budget: K = 15\n")
    assert sections.paper(Folder(copy)) == [], "it was not compared with the paper's"
    main = (["row", "ours"], [["a<b", "-1.5"], ["c-1", "-"]]), (["other", "x", "y"], [["d", "2", "3"]])
    tables = [
        table_of("Main table", *main),
        table_of("Pareto", notes=["loose: front x"]),
    ]
    (copy / "tables.json").write_text(json.dumps({"title": "Sliding: the paper's tables", "tables": tables}))
    html = page.make(Folder(copy), 0).html
    assert '<section id="paper">' in html
    assert (
        '<tr><th scope="row">a&lt;b</th><td>\u22121.5</td></tr><tr><th scope="row">c-1</th><td>\u2013</td></tr>' in html
    )
    assert '<tr><th scope="row">d</th><td>2</td><td>3</td></tr>' in html
    assert html.count("<h3>Main table</h3>") == 0
    assert "<span>loose: front x</span>" in html


@pytest.mark.usefixtures("unpainted")
def test_a_table_that_was_not_measured_is_left_out(evaluations, tmp_path):
    copy = shutil.copytree(evaluations["sliding"], tmp_path / "eval")
    head = ["model", "paper %", "ours %", "diff"]
    tables = [
        table_of("None", (head, [["a", "60.9", "-", "-"]])),
        table_of("Some", (head, [["b", "60.9", "50.0", "-10.9"]]), (["solved %", "h=1"], [["c", "-"]])),
    ]
    (copy / "tables.json").write_text(json.dumps({"title": "x", "tables": tables}))
    html = page.make(Folder(copy), 0).html
    assert '<th scope="row">a</th>' not in html
    assert '<th scope="row">b</th>' in html
    assert '<th scope="row">c</th>' not in html, "a part of dashes is left out"
