"""What the documents say runs: every Python block, in order, page by page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recommit

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXTRAS = {"torch", "transformers", "openenv"}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    """Line number and text of every Python block."""
    text = page.read_text(encoding="utf-8")
    return [(text[: match.start(1)].count("\n"), match[1]) for match in BLOCK.finditer(text)]


def run(page: Path) -> None:
    """Run the blocks of a page as one program."""
    names: dict[str, object] = {}
    for line, text in blocks(page):
        exec(compile("\n" * line + text, str(page), "exec"), names)  # noqa: S102  (our own documents)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    recommit.write_levels("pack.txt", recommit.Sokoban(8).generate(5, seed=0).states)
    try:
        run(page)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{page.name} goes on with {error.name}, which is not installed")


def test_the_readme_has_programs() -> None:
    assert len(blocks(ROOT / "README.md")) >= 2


def test_a_wrong_block_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n```python\nassert 1 == 2\n```\n")
    with pytest.raises(AssertionError):
        run(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_map_names_every_folder() -> None:
    tree = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for folder in ("cpp", "tests"):
        for path in (ROOT / folder).iterdir():
            if path.is_dir() and path.name != "__pycache__" and any(path.iterdir()):
                assert f"{folder}/{path.name}/" in tree, f"CONTRIBUTING.md does not mention {folder}/{path.name}/"
