"""The commands of the first pages run, scaled down."""

from __future__ import annotations

import pytest
from tests.structure import running

pytest.importorskip("tyro")
pytest.importorskip("yaml")


@pytest.mark.parametrize("page", running.pages("start"), ids=lambda page: page.relative_to(running.ROOT).as_posix())
def test_the_commands_of_a_page_run(page, tmp_path, model_server):
    running.run_page(page, tmp_path, model_server)
