from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="playing policies needs the train extra")
pytest.importorskip("transformers", reason="playing policies needs the train extra")
pytest.importorskip("pyarrow", reason="rows are kept as Parquet")

from tests.unit.train.conftest import data, one_thread, plan  # noqa: F401


@pytest.fixture(scope="session")
def run(plan, data, tmp_path_factory):  # noqa: F811
    """A small warm start on 2x3 boards."""
    from recommit.train.sft import trainer as sft

    out = tmp_path_factory.mktemp("evaluate") / "run"
    assert sft.train(plan, data, out, quiet=True) == 0
    return out
