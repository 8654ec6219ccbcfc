"""F13: names, titles and words that are orders to a browser, a spreadsheet, a terminal or Markdown; everywhere they are
text.
"""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

pytest.importorskip("pyarrow", reason="evaluations are kept as Parquet")
from html.parser import HTMLParser

from tests.unit.report.conftest import write
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import Server, answer, error

from recommit.cli import main
from recommit.data.parquet import pa, pq
from recommit.evaluate import text as tables
from recommit.storage.terminal_text import cell, plain
from recommit.zero_shot import client

#: Of each kind, all of them at the end of one name.
HTML = "</script><img src=x onerror=alert(1)>\"'&lt;"
TERMINAL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\r"
MARKDOWN = "|[click](javascript:alert(1))"
NASTY = HTML + TERMINAL + MARKDOWN
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Elements(HTMLParser):
    """What a browser makes of a page: elements, and attributes that would run."""

    def __init__(self, page):
        super().__init__()
        self.named, self.running, self.images = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.named.add(tag)
        self.images += [value for name, value in attrs if tag == "img" and name == "src"]
        addresses = [(name, value) for name, value in attrs if name in ("href", "src", "action")]
        self.running += [name for name, value in attrs if name.startswith("on")]
        self.running += [value for _, value in addresses if "javascript:" in (value or "")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An evaluation whose runs, instances and budgets were named by somebody else."""
    made = write(tmp_path_factory.mktemp("eval") / "e", "sliding", run=f"/runs/{NASTY}")
    stored = pq.read_table(made / "instances.parquet")
    table = stored.to_pydict()
    begin, *_ = table["id"][0].split("/")
    table["id"] = [f"{begin}/2x3:{NASTY}/{i}" for i in range(len(table["id"]))]
    pq.write_table(pa.table(table, stored.schema), made / "instances.parquet")
    return made


def test_a_page_and_its_figures(folder, tmp_path, capsys):
    assert (
        main(["report", str(folder), "--out", str(tmp_path / "page.html"), "--figures", str(tmp_path / "figures")]) == 0
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    elements = Elements(page)
    assert not elements.running
    assert all(address.startswith("data:image/svg+xml;base64,") for address in elements.images)
    assert not OBEYED.search(page)
    assert "onerror=alert(1)" in page, "the name is there, as text"
    drawn = list((tmp_path / "figures").iterdir())
    assert {path.suffix for path in drawn} == {".svg", ".pdf", ".png", ".csv"}
    for path in drawn:
        if path.suffix == ".svg":
            assert "img" not in Elements(path.read_text()).named
            assert not OBEYED.search(path.read_text())
        if path.suffix == ".csv":
            cells = [one for row in csv.reader(io.StringIO(path.read_text(), newline="")) for one in row]
            assert not [one for one in cells if one.startswith(("=", "+", "@", "\t", "\r"))]
            assert not [one for one in cells if OBEYED.search(one)]
    assert not OBEYED.search(capsys.readouterr().out)


def test_tables_for_terminals_and_markdown(folder):
    text = tables.summary_text(json.loads((folder / "summary.json").read_text()), folder)
    assert not OBEYED.search(text)
    assert "<img" not in text
    assert "](javascript" not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in lines}
    assert bars == {9, 7}, "a name does not make a column"


@pytest.mark.parametrize("words", [["levels", "check"], ["solve"]])
def test_titles_of_levels(words, tmp_path, capsys):
    """The parser refuses most; what turns text round is a character like any other to it."""
    level = "####\n#@$.#\n####\n".replace("####\n", "#####\n")
    for title in (TERMINAL, "\u202eeltit", "\x9b31m", "a\u2066b"):
        (tmp_path / "levels.txt").write_text(f"{level}Title: {title}\n", encoding="utf-8", newline="")
        main([*words, str(tmp_path / "levels.txt")])
        said = capsys.readouterr()
        assert said.out + said.err
        assert not OBEYED.search(said.out + said.err)


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "401 Unauthorized", "500 Oops"])
def test_words_of_a_model_and_of_its_server(status, tmp_path, capsys, monkeypatch):
    """Answers, refusals and names, in all that is said while playing, and in the table at the end."""
    monkeypatch.setattr(client, "RETRIES", 0)
    server = Server(answer(NASTY, id=NASTY) if status == "200 OK" else error(status, NASTY, param=NASTY, code=NASTY))
    try:
        flags = {"size": (2, 3), "length": (4, 12), "budget": 1, "instances": 1, "workers": 1}
        zero_shot("tiny", tmp_path, endpoint="custom", base_url=server.url, **flags)
    finally:
        server.close()
    said = capsys.readouterr()
    assert said.err
    assert not OBEYED.search(said.out + said.err)
    for path in tmp_path.iterdir():
        assert not OBEYED.search(path.read_text(encoding="utf-8")), path


def test_the_checks_see_text_that_nobody_escaped(folder):
    """Planted."""
    name = next(row["agent"] for row in json.loads((folder / "summary.json").read_text()) if "@" in row["agent"])
    assert OBEYED.search(name)
    assert "img" in Elements(f"<p>{name}</p>").named
    assert Elements('<a href="javascript:x" onclick="y">').running == ["onclick", "javascript:x"]
    assert plain(name) != name
    assert cell("a|b\n<i>&lt;[x](y)") == "a\\|b &lt;i>&amp;lt;[x]\\(y)"
    assert cell("55.1 .. 88.0 [a] & b") == "55.1 .. 88.0 [a] & b"
