"""Pictures of levels, plans and episodes: what is in them is what the core draws."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import recommit
from recommit.cli import main

pytest.importorskip("tyro")
pytest.importorskip("PIL")

LEVEL = "######\n#@$ .#\n######\n"


@pytest.fixture
def level(tmp_path: Path) -> Path:
    path = tmp_path / "level.txt"
    path.write_text(LEVEL)
    return path


def call(*words: object) -> int:
    return main(["render", *map(str, words)])


def pixels(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def frames(path: Path) -> int:
    from PIL import Image

    with Image.open(path) as image:
        return int(getattr(image, "n_frames", 1))


def test_a_level_is_its_picture(level: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "level.png"
    assert call(level, "--out", out, "--cell", 20) == 0
    state = recommit.read_levels(level)[0]
    drawn = recommit.Sokoban.of_states(state.shape).render(state[None], 20)[0]
    assert np.array_equal(pixels(out), drawn)
    assert capsys.readouterr().out.startswith(f"{out}: 1 picture, ")


@pytest.mark.parametrize("plan", ["solve", "RR", "rr"])
def test_a_plan_is_a_picture_per_state(plan: str, level: Path, tmp_path: Path) -> None:
    film = tmp_path / "plan.gif"
    assert call(level, "--out", film, "--plan", plan, "--cell", 10) == 0
    assert frames(film) == 3
    assert film.stat().st_size < 20_000


def test_a_level_without_a_plan_is_named_as_what_it_is(
    level: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for length, why in ((-1, "got one that cannot"), (-2, "got one that the search gave up on")):
        monkeypatch.setattr(recommit.Sokoban, "solve", lambda *_, n=length: SimpleNamespace(length=[n]))
        assert call(level, "--out", tmp_path / "plan.gif", "--plan", "solve") == 2
        assert capsys.readouterr().err.strip().endswith(why)


def test_an_episode_of_the_solver(level: Path, tmp_path: Path) -> None:
    assert call(level, "--out", tmp_path / "e.gif", "--agent", "solver") == 0
    assert frames(tmp_path / "e.gif") == 4, "a look, two actions, the end"
