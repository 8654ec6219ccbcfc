"""The API pages name everything that is public, and nothing that is not there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = {
    name
    for page in (ROOT / "docs").glob("api*.md")
    for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
}
#: Public names that a page shows elsewhere.
ELSEWHERE = {
    "recommit.ACTIONS": "concepts.md",
    "recommit.LevelError": "guides/level-files.md",
    "recommit.UNKNOWN": "concepts.md",
    "recommit.UNSOLVABLE": "concepts.md",
    "recommit.policy.CommitPolicy": "api-policy.md",
}


def missing(module: str) -> list[str]:
    names = importlib.import_module(module).__all__
    return [name for name in names if f"{module}.{name}" not in {*NAMED, *ELSEWHERE}]


@pytest.mark.parametrize(
    "module",
    ["recommit", "recommit.data", "recommit.envs", "recommit.horizon", "recommit.policy", "recommit.zero_shot"],
)
def test_everything_public_has_its_place(module):
    if module == "recommit.envs":
        pytest.importorskip("gymnasium")
    assert missing(module) == []


def test_what_is_shown_elsewhere_is_shown_there():
    for name, page in ELSEWHERE.items():
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", (ROOT / "docs" / page).read_text("utf-8")), name


def test_a_missing_name_is_noticed(monkeypatch):
    monkeypatch.setattr("recommit.__all__", ["Sliding", "Nobody"])
    assert missing("recommit") == ["Nobody"]


@pytest.fixture(scope="module")
def root():
    """The package as the API pages read it."""
    griffe = pytest.importorskip("griffe")
    extensions = griffe.load_extensions(str(ROOT / "docs" / "signatures.py"))
    return griffe.load("recommit", search_paths=[str(ROOT / "python")], extensions=extensions)


def test_comments_of_fields_are_descriptions(root):
    assert root["puzzles.solutions.Solutions.nodes"].docstring.value == "Search nodes spent; 0 where a table answered."
    assert root["rollout.trace.Proposals.depth"].docstring.value.endswith("how many actions")
    assert root["puzzles.puzzle.Outcome.states"].docstring is None
