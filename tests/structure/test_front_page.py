"""The first screen of the README says what was found, on what, and how to repeat it; its figures are those of the
pages of results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Lines that a browser shows of a repository's first page before anybody scrolls, with a picture of twelve lines.
SCREEN = 32
#: What a reader of that screen must be able to say.
FIRST = {
    "the question": r"How many actions should a policy commit to before it looks again\?",
    "a picture": r"!\[[^\]]+\]\(docs/assets/looks\.gif\)",
    "the paper": r"arxiv\.org/abs/2605\.09860",
    "on what network": r"1\.2 million parameters that began at random",
    "what was not run": r"7B weights have not been run here",
    "what was found on sliding puzzles": r"Sliding puzzles.*?: depths of its own solve [\d.]+ % with [\d.]+ actions",
    "what was found on Sokoban": r"Sokoban.*?: depths of its own solve [\d.]+ % with [\d.]+ actions",
    "what was found with foresight": r"Sokoban with foresight.*? solves [\d.]+ % with [\d.]+ actions",
    "how to repeat it": r"recommit reproduce --preset laptop --out laptop",
}
#: A row of the README, and of the puzzle's page of results.
ROWS = {
    "depths of its own": "adaptive depth",
    "... and a memory of where it has been": "adaptive depth with a memory",
    "always 4, with plans trained for it": "plans trained for depth 4, always 4",
    "always 8, with plans trained for it": "plans trained for depth 8, always 8",
    "perfect depths for the same plans": "exact ceiling of the same plans",
}


def missing(page: str) -> list[str]:
    """What the first screen of a README does not say."""
    screen = " ".join("\n".join(page.splitlines()[:SCREEN]).split())
    return [what for what, pattern in FIRST.items() if not re.search(pattern, screen)]


def table(page: str, head: str) -> dict[str, tuple[str, str]]:
    """Solved and actions of the rows under the first table whose head begins so."""
    lines = page[page.index(f"| {head}") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip().strip("*") for cell in line.strip("|").split("|")] for line in lines]
    return {name: (solved, actions) for name, solved, actions, *_ in cells}


def differences(readme: str) -> list[str]:
    """Rows of the README's tables whose figures are not those of the pages."""
    pages = {
        "3x3 sliding, at most 15": ("results-sliding", "fifteen"),
        "7x7 Sokoban, at most 6": ("results-sokoban", "six"),
    }
    wrong = []
    for head, (page, first) in pages.items():
        there = table((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"), first)
        here = table(readme, head)
        wrong += [f"{page}: {name}" for name, other in ROWS.items() if here[name] != there[other]]
    return wrong


@pytest.fixture(scope="module")
def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_screen_says_what_was_found(readme: str) -> None:
    assert missing(readme) == []


def test_figures_are_those_of_the_results(readme: str) -> None:
    assert differences(readme) == []
    for solved, actions in (table(readme, head)["depths of its own"] for head in ("3x3 sliding", "7x7 Sokoban")):
        assert f"depths of its own solve {solved} % with {actions} actions" in readme


def foresight(figures: dict[str, Any]) -> str:
    """Solved and actions of the best head that knows where its plan leads, as the README has them."""
    names = {"plans": "warm start, eight views", "chooses": "foresight", "budget": "loose"}
    rows = [row for row in figures["rows"] if all(row[key] == value for key, value in names.items())]
    solved, actions = (sum(row[key] for row in rows) / len(rows) for key in ("solve_rate", "actions_per_episode"))
    return f"solves {100 * solved:.1f} % with {actions:.1f} actions"


def test_the_figures_of_foresight_are_those_of_its_page(readme: str) -> None:
    text = (ROOT / "docs" / "assets" / "heads-sokoban.json").read_text(encoding="utf-8")
    screen = " ".join(readme.split())
    assert foresight(json.loads(text)) in screen
    assert foresight(json.loads(text.replace('"solve_rate": 0.9', '"solve_rate": 0.8'))) not in screen


def test_the_picture_is_light() -> None:
    assert (ROOT / "docs" / "assets" / "looks.gif").stat().st_size < 300_000


def test_the_paper_is_cited_alike(readme: str) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    authors = re.findall(r"family-names: (\S+), given-names: (\S+)}", citation)
    assert authors
    assert " and ".join(f"{family}, {name}" for family, name in authors) in readme
    assert "2605.09860" in citation


def test_a_screen_that_says_less_is_noticed(readme: str) -> None:
    assert missing(readme.replace("published 7B weights", "published weights")) == ["what was not run"]
    assert missing("\n" * SCREEN + readme) == list(FIRST)


def test_another_figure_is_noticed(readme: str) -> None:
    assert differences(readme.replace("| 91.4 |", "| 91.5 |")) == [
        "results-sliding: always 4, with plans trained for it"
    ]
