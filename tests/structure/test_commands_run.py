"""The commands of the pages run, scaled down, from the top of each page to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.structure import running

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("tyro")
pytest.importorskip("yaml")


#: Pages whose commands take more than ten seconds: what they are made of, unit tests of the verbs run.
LONG = {
    "results",
    "results-tables",
    "reinforcement",
    "evaluation",
    "graphs",
    "leaderboard",
    "sweep",
    "change-one-thing",
}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.nightly] * (page.stem in LONG)) for page in running.pages()],
    ids=lambda page: page.relative_to(running.ROOT).as_posix(),
)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path, model_server: str) -> None:
    running.run_page(page, tmp_path, model_server)
