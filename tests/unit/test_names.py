"""What ``recommit.<TAB>`` offers is what is public."""

from __future__ import annotations

import pytest

import recommit


def test_dir_shows_what_is_public():
    shown = dir(recommit)
    assert set(recommit.__all__) <= set(shown)
    assert not {"Any", "TYPE_CHECKING", "annotations", "register_when_imported", "registration"} & set(shown)


@pytest.mark.parametrize("name", dir(recommit))
def test_every_shown_name_is_there(name):
    if name in ("CommitPolicy", "policy", "train", "data"):
        pytest.importorskip("torch")
        pytest.importorskip("pyarrow")
    if name == "envs":
        pytest.importorskip("gymnasium")
    assert getattr(recommit, name) is not None


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="module 'recommit' has no attribute 'nobody'"):
        recommit.nobody  # noqa: B018
