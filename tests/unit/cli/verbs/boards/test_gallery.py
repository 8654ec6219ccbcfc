"""The gallery leaves its picture where it says."""

from __future__ import annotations

from pathlib import Path

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
