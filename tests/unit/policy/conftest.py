from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the policy needs the train extra")
pytest.importorskip("transformers", reason="the policy needs the train extra")


@pytest.fixture(autouse=True)
def one_thread():
    """The models here are too small for two."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    from recommit.policy.backbones.random_init import make_backbone

    return make_backbone(tmp_path_factory.mktemp("backbone") / "small", "small")
