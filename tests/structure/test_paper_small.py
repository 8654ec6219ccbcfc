"""The page of preset paper-small: every table of both puzzles, as an evaluation wrote it."""

from __future__ import annotations

import sys

import pytest

from recommit.evaluate.tables.experiments import TABLES

WRITTEN = """# Sliding: the paper's tables

## Main table

| row | ours |
|-----|-----:|
| a   |  1.0 |

* No run for fixed-1: ... makes it.
* Something worth knowing.

## Pareto

* loose: front adaptive
"""


@pytest.fixture
def script():
    from bench.pages import paper_small

    return paper_small


def evaluated(folder, text=WRITTEN):
    out = folder / "sliding" / "eval-s42"
    out.mkdir(parents=True, exist_ok=True)
    (out / "tables.md").write_text(text)
    return folder


def test_the_page_has_every_table_of_both_puzzles(script):
    blocks = [(match["puzzle"], match["table"]) for match in script.BLOCK.finditer(script.PAGE.read_text())]
    names = TABLES.keys() - {"heads", "ladder"}  # which are no experiments of the paper
    assert sorted(blocks) == sorted((puzzle, name) for puzzle in ("sliding", "sokoban") for name in names)


def test_tables_are_filled_in_and_sentences_stay(script, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    text = (
        "Before.\n\n<!-- sliding main -->\n\nold\n\n<!-- end -->\n\nWhat it shows.\n\n<!-- sokoban main "
        "-->\n<!-- end -->\n"
    )
    page.write_text(text)
    monkeypatch.setattr(script, "PAGE", page)
    call = ["paper_small_page.py", str(evaluated(tmp_path / "out"))]
    monkeypatch.setattr(sys, "argv", [*call, "--check"])
    assert script.main() == 1
    assert page.read_text() == text
    monkeypatch.setattr(sys, "argv", call)
    assert script.main() == 0
    table = "| row | ours |\n|-----|-----:|\n| a   |  1.0 |\n\n* Something worth knowing."
    assert page.read_text() == text.replace("old", table)
    monkeypatch.setattr(sys, "argv", [*call, "--check"])
    assert script.main() == 0
    evaluated(tmp_path / "out", WRITTEN.replace("1.0", "1.1"))
    assert script.main() == 1
    monkeypatch.setattr(sys, "argv", [*call[:1], str(tmp_path / "nothing")])
    with pytest.raises(SystemExit):
        script.main()
    assert "folder: expected PUZZLE/eval-s42/tables.md in it, got none" in capsys.readouterr().err
