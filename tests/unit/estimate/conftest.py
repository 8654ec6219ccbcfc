from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="planning needs the train extra")
pytest.importorskip("transformers", reason="planning needs the train extra")
pytest.importorskip("peft", reason="planning needs the train extra")
pytest.importorskip("pyarrow", reason="training needs the data extra")


@pytest.fixture(autouse=True)
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Labelled 2x3 boards."""
    from recommit.data import DataSpec, Difficulty, build

    folder = tmp_path_factory.mktemp("data") / "sliding"
    build(DataSpec("sliding", (2, 3), (Difficulty((8, 14)),), count=60, ties="random"), folder)
    return folder
