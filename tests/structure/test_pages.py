"""What the pages say holds: Python blocks run and print what is shown, arguments have the defaults of their tables, API
pages name everything public, links and references lead somewhere, and tables of results are those of their figures.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import io
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import recommit

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
#: A page may go on with what is not installed here.
EXTRAS = {"torch", "transformers"}
#: A Python block, and the output below it if there is one.
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def wrong_outputs(text: str) -> list[str]:
    """Run the blocks of a page as one program; outputs that are not those of the page."""
    names: dict[str, Any] = {}
    wrong = []
    for match in BLOCK.finditer(text):
        code, shown = "\n" * text[: match.start(1)].count("\n") + match[1], match[2]
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(code, "page", "exec"), names)  # noqa: S102  (our own documents)
        if shown and output.getvalue() != shown:
            wrong.append(output.getvalue())
    return wrong


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text(encoding="utf-8"))], ids=name)
def test_python_blocks_run_and_print_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    recommit.write_levels("pack.txt", recommit.Sokoban(8).generate(5, seed=0).states)
    try:
        assert wrong_outputs(page.read_text(encoding="utf-8")) == []
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{page.name} goes on with {error.name}, which is not installed")


def test_a_wrong_block_is_noticed() -> None:
    page = "```python\nprint(1)\n```\n\n```text\n%s\n```\n"
    assert [wrong_outputs(page % shown) for shown in (1, 2)] == [[], ["1\n"]]
    with pytest.raises(NameError):
        wrong_outputs("```python\nnobody\n```\n")


def listed(page: str) -> dict[str, str]:
    """What the tables of arguments of an environment's page say."""
    return dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", page[page.index("## Arguments") :], re.MULTILINE))


@pytest.mark.parametrize("kind", ["Sliding", "Sokoban", "Ice"])
def test_every_argument_of_an_environment_stands_on_its_page_with_its_default(kind: str) -> None:
    pytest.importorskip("gymnasium")
    from recommit import envs

    arguments = {}
    for each in dataclasses.fields(envs.VectorOptions):
        arguments[each.name] = getattr(each.default, "name", repr(each.default))
    guide = (DOCS / "guides" / "environments.md").read_text(encoding="utf-8")
    page = (DOCS / "environments" / f"{kind.lower()}.md").read_text(encoding="utf-8")
    if kind != "Sokoban":
        del arguments["boxes"]
    assert listed(guide) | listed(page) == arguments | {"num_envs": "1"}
    assert listed(guide.replace("`200`", "`201`")) | listed(page) != arguments | {"num_envs": "1"}


#: Public names that a page shows elsewhere.
ELSEWHERE = {
    "recommit.ACTIONS": "concepts.md",
    "recommit.LevelError": "guides/level-files.md",
    "recommit.UNKNOWN": "concepts.md",
    "recommit.UNSOLVABLE": "concepts.md",
    "recommit.policy.CommitPolicy": "api-policy.md",
}


def named() -> set[str]:
    """What the API pages show."""
    pages = (page.read_text("utf-8") for page in DOCS.glob("api*.md"))
    return {each for page in pages for each in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}


@pytest.mark.parametrize(
    "module",
    [
        "recommit",
        "recommit.data",
        "recommit.envs",
        "recommit.horizon",
        "recommit.horizon.sweep",
        "recommit.policy",
        "recommit.zero_shot",
    ],
)
def test_api_pages_name_everything_public(module: str) -> None:
    if module == "recommit.envs":
        pytest.importorskip("gymnasium")
    public = {f"{module}.{each}" for each in importlib.import_module(module).__all__}
    assert public - named() <= set(ELSEWHERE)
    for each in public & set(ELSEWHERE):
        assert re.search(rf"\b{each.rpartition('.')[2]}\b", (DOCS / ELSEWHERE[each]).read_text("utf-8"))


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def dangling(page: Path, text: str) -> list[str]:
    """Links to files that are not there, and references ``path`` or ``path::name`` to code that is not there."""
    found = [
        target
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists()
    ]
    for path, each in re.findall(r"`([\w./-]+\.(?:py|cpp|hpp|md|yaml))(?:::(\w+))?`(?!\s+of\s+`[0-9a-f]{8}`)", text):
        place = ROOT / path
        if path.partition("/")[0] in ("python", "bench", "cpp", "docs") and path == path.lower() and "/" in path:
            found += [] if place.is_file() and each in text_of(place) else [f"{path}::{each}"]
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_and_references_lead_somewhere(page: Path) -> None:
    assert dangling(page, text_of(page)) == []


def test_what_leads_nowhere_is_noticed() -> None:
    here = "bench/compare.py"
    page = f"[a](nowhere.md) [b](#here) `{here}::main` `{here}::nobody` `python/recommit/nothing.py`"
    assert dangling(PAGES[0], page) == ["nowhere.md", f"{here}::nobody", "python/recommit/nothing.py::"]


@pytest.mark.parametrize("script", sorted((DOCS / "figures").glob("*.py")), ids=lambda path: path.stem)
def test_scripts_of_figures_import_what_is_there(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(script.parent))
    runpy.run_path(str(script))


def test_the_page_of_robots_is_that_of_its_figures() -> None:
    script: Any = importlib.import_module("bench.robots.page")
    page, figures = script.PAGE.read_text(encoding="utf-8"), script.collect(script.KEPT)
    assert script.filled(page, figures) == page
    assert all(path.read_text("utf-8") == text for path, text in script.csvs(figures).items())
    shown = {name.partition("-")[0] for name in script.blocks.names(page, "robots")}
    assert shown | {path.stem.split("-")[1] for path in script.csvs(figures)} == set(script.TABLES)
    for condition in figures["conditions"].values():  # a planted defect: another figure
        for own in condition.values():
            planted, own["rows"]["fixed-8"]["success"] = own["rows"]["fixed-8"]["success"], 0.123
            own["rows"]["fixed-8"]["utility"] += 0.5
            assert any(path.read_text("utf-8") != text for path, text in script.csvs(figures).items())
            own["rows"]["fixed-8"]["success"] = planted
            own["rows"]["fixed-8"]["utility"] -= 0.5


def test_the_table_of_rates_is_that_of_the_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    script: Any = importlib.import_module("bench.gpu.page")
    assert script.main(["--check"]) == 0
    monkeypatch.setattr(script, "NONE", "planted")
    assert script.main(["--check"]) == 1
