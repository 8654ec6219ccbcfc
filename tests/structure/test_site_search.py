"""Search works in pages that are opened as files: the script that stands in for a worker, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from tests.unit.report import browser

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "iframe-worker.js"
pytestmark = browser.NEEDED
WORKER = """
addEventListener("message", async ({ data }) => {
  await importScripts("one.js", "two.js");
  postMessage({ answer: [data.question, one, two] });
});
"""
PAGE = """<!doctype html><body><script>{script}</script><script>
try {{
  const worker = new Worker("worker.js");
  worker.addEventListener("message", ({{ data }}) => {{ document.title = data.answer.join(); }});
  worker.postMessage({{ question: 0 }});
}} catch (error) {{ document.title = "refused"; }}
</script>"""


def answer(tmp_path: Path, script: str) -> str:
    """What a page hears from its worker."""
    for name, text in {"worker": WORKER, "one": "var one = 1;", "two": "var two = one + 1;"}.items():
        (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(script=script), encoding="utf-8")
    title = re.search(r"<title>(.*)</title>", browser.opened(page, tmp_path))
    return title[1] if title else ""


def test_a_page_that_is_a_file_has_a_worker(tmp_path: Path) -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    assert answer(tmp_path, script) == "0,1,2"
    assert answer(tmp_path, "") != "0,1,2"  # without it files have none


def test_pages_load_it_and_nothing_from_elsewhere() -> None:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), yaml.BaseLoader)
    assert settings["extra"]["polyfills"] == [SCRIPT.name]
    assert "material/offline" in settings["plugins"]
