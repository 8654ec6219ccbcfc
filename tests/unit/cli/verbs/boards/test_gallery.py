"""The gallery leaves its picture where it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PIL")


def test_it_leaves_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    from recommit.cli.verbs import bench
    from recommit.cli.verbs.boards import gallery

    play = bench.play
    monkeypatch.setattr(bench, "play", lambda task: play(task, boards=8, actions=8))
    gallery.main(tmp_path / "out")
    said = capsys.readouterr().out
    path = Path(said.rsplit(": ", 1)[1].strip())
    with Image.open(path) as image:
        assert min(image.size) > 200
        assert len(image.getcolors(2**24) or []) > 20


def test_both_themes_show_the_boards_of_the_seed(tmp_path: Path) -> None:
    from PIL import Image

    from recommit.cli.verbs.boards import gallery

    gallery.draw(tmp_path / "a.png")
    gallery.draw(str(tmp_path / "b.png"), seed=1)
    with Image.open(tmp_path / "a.png") as opened:
        pixels = np.asarray(opened)
    light, dark = (np.asarray(gallery.page(theme)) for theme in ("light", "dark"))
    assert (pixels == np.concatenate([light, dark], axis=1)).all()
    assert light.mean() > dark.mean()
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()
