from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="training needs the train extra")
pytest.importorskip("transformers", reason="training needs the train extra")
pytest.importorskip("pyarrow", reason="training needs the data extra")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request):
    """What is compared with the CPU: in the quick tests the CPU itself, so that every line here runs without a GPU."""
    return torch.device(request.param)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    from recommit.policy.backbones.random_init import make_backbone

    return make_backbone(tmp_path_factory.mktemp("backbone") / "tiny", "tiny")


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A small data set of 2x3 boards."""
    from tests.unit.train.runs import small_boards

    return small_boards(tmp_path_factory.mktemp("data") / "sliding")
