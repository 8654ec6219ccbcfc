"""Pages of environments: their code prints what they show, their tables hold every argument with its default, and their
pictures are what docs/figures/environments.py draws today."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import runpy
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from recommit import envs

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIGURES = runpy.run_path(str(DOCS / "figures" / "environments.py"))
NAMES = {"sliding": "Sliding", "sokoban": "Sokoban", "ice": "Ice"}
PAGES = [*(DOCS / "environments" / f"{name}.md" for name in NAMES), DOCS / "guides" / "environments.md"]
ROW = re.compile(r"^\| `(\w+)` \| `([^`]+)` \|", re.MULTILINE)


def wrong_outputs(page: str) -> list[str]:
    """Blocks whose output is not the one that stands below them; all blocks of a page share their names."""
    names: dict[str, Any] = {}
    wrong = []
    for code, shown in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page, re.DOTALL):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(code, names)  # noqa: S102  (our own documents)
        if shown and output.getvalue() != shown:
            wrong.append(output.getvalue())
    return wrong


def arguments(name: str) -> dict[str, str]:
    """Every argument of one environment and of a vector of them, with its default."""
    result = {each.name: getattr(each.default, "name", repr(each.default)) for each in fields(envs.VectorOptions)}
    for kind in ("Env", "VectorEnv"):
        for each in inspect.signature(getattr(envs, f"{NAMES[name]}{kind}")).parameters.values():
            if each.kind is not each.VAR_KEYWORD:
                result[each.name] = repr(each.default)
    return result


def listed(page: str) -> dict[str, str]:
    """What the page's tables of arguments say."""
    return dict(ROW.findall(page[page.index("## Arguments") :]))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_prints_what_the_page_shows(page: Path) -> None:
    assert wrong_outputs(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_stands_with_its_default(name: str) -> None:
    page = (DOCS / "environments" / f"{name}.md").read_text(encoding="utf-8")
    assert listed(page) == arguments(name)


def test_a_wrong_output_and_a_wrong_default_are_noticed() -> None:
    page = (DOCS / "environments" / "ice.md").read_text(encoding="utf-8")
    assert wrong_outputs(page.replace("up 0.0 False 3", "up 0.0 False 2"))
    assert listed(page.replace("`200`", "`201`")) != arguments("ice")


def difference(stored: Any, drawn: Any) -> float:
    """The share of a board's pixels that look otherwise; a file has few colours, so that none is quite the same."""
    one, other = (np.asarray(each.convert("RGB"), int)[: -FIGURES["FOOT"]] for each in (stored, drawn))
    return float((np.abs(one - other).max(axis=2) > 40).mean())


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_up_to_date(name: str) -> None:
    image = pytest.importorskip("PIL.Image")
    path = DOCS / "assets" / f"environment-{name}.gif"
    assert path.stat().st_size < 150_000
    drawn = FIGURES["pictures"](name)
    with image.open(path) as stored:
        assert stored.n_frames == len(drawn)
        for number, expected in enumerate(drawn):
            stored.seek(number)
            assert difference(stored, expected) < 0.005, number
        assert difference(stored, drawn[-2]) > 0.005, "a puzzle one action away is another picture"
