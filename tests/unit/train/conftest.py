from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="training needs the train extra")
pytest.importorskip("transformers", reason="training needs the train extra")
pytest.importorskip("pyarrow", reason="training needs the data extra")
from tests.unit.train import runs


@pytest.fixture(autouse=True)
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A small data set of 2x3 boards."""
    return runs.small_boards(tmp_path_factory.mktemp("data") / "sliding")


@pytest.fixture(scope="session")
def levels(tmp_path_factory):
    """A small data set of 6x6 Sokoban levels."""
    return runs.small_levels(tmp_path_factory.mktemp("data") / "sokoban")


@pytest.fixture(scope="session")
def plan():
    """The configuration of a short run of a model that takes milliseconds per step."""
    from recommit.train.config import SftConfig, parse

    return parse(SftConfig, runs.TINY)


@pytest.fixture(scope="session")
def init(data, tmp_path_factory):
    """A warm start that plays a little."""
    return runs.warm_start(data, tmp_path_factory.mktemp("init") / "run")


@pytest.fixture(scope="session")
def both(data, levels, tmp_path_factory):
    """A warm start that plays both puzzles a little."""
    return runs.warm_start([data, levels], tmp_path_factory.mktemp("both") / "run")
