"""The gallery is a picture of both themes, the same each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recommit.cli.verbs.boards import gallery_picture as gallery


def test_gallery_is_written_and_repeats(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs pillow")
    gallery.gallery(tmp_path / "a.png")
    gallery.gallery(str(tmp_path / "b.png"))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with image.open(tmp_path / "a.png") as opened:
        pixels = np.asarray(opened)
    light, dark = gallery.page("light"), gallery.page("dark")
    assert (pixels == np.concatenate([light, dark], axis=1)).all()
    assert light.shape == dark.shape
    assert light.mean() > dark.mean()
    gallery.gallery(tmp_path / "c.png", seed=1)
    assert (tmp_path / "c.png").read_bytes() != (tmp_path / "a.png").read_bytes()
