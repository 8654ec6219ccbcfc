from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A folder with the smallest backbone; not to be changed."""
    from recommit.policy.backbones.random_init import make_backbone

    return make_backbone(tmp_path_factory.mktemp("backbone") / "tiny", "tiny")
