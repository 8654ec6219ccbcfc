"""What ``recommit.<TAB>`` offers is what is public."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import recommit


def test_dir_shows_what_is_public():
    shown = dir(recommit)
    assert set(recommit.__all__) <= set(shown)
    assert not {"Any", "TYPE_CHECKING", "annotations", "register_when_imported", "registration"} & set(shown)


@pytest.mark.parametrize(
    "package",
    [
        path.parent
        for path in sorted(Path(recommit.__file__).parent.rglob("__init__.py"))
        if "__all__" in path.read_text()
    ],
    ids=lambda folder: folder.name,
)
def test_every_public_name_is_there(package):
    for needed in ("torch", "pyarrow", "gymnasium"):
        pytest.importorskip(needed)
    name = ".".join(package.relative_to(Path(recommit.__file__).parents[1]).parts)
    module = import_module(name)
    assert [each for each in {*module.__all__, *dir(module)} if not hasattr(module, each)] == []


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="module 'recommit' has no attribute 'nobody'"):
        recommit.nobody  # noqa: B018
