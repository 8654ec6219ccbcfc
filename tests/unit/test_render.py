"""Pictures: every size and theme can be read back, any number of threads draws the same bytes, errors name what is
wrong.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.golden import make_render
from tests.reference import render as twin
from tests.unit.drawing import boards, levels, task_and_states

import recommit
from recommit import _core
from recommit.puzzles.frames import MAX_CELL, MIN_CELL, THEMES

CELLS = range(MIN_CELL, MAX_CELL + 1, 3)
TASKS = ("sliding", "sokoban")
SLIDING = recommit.Sliding(3)
SOKOBAN = recommit.Sokoban(7)
BOARD = boards(3, 3, 1)
GOLDEN = Path(__file__).parents[1] / "golden" / "render.json"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", TASKS)
def test_every_size_reads_back(name: str, theme: str) -> None:
    """Every theme and size, two states of each shape."""
    shapes = [(2, 2), (2, 5), (3, 3), (4, 4), (5, 3), (5, 5)] if name == "sliding" else [(3, 3), (5, 4), (7, 7), (4, 9)]
    for cell in CELLS:
        for rows, cols in shapes:
            task, states = task_and_states(name, rows, cols, 2, seed=cell)
            images = task.render(states, cell, theme=theme)
            assert images.shape == (2, rows * cell, cols * cell, 3)
            assert (task.decode(images, cell, theme=theme) == states).all()


@pytest.mark.parametrize("cell", [4, 9, 13, 28, 40])
@pytest.mark.parametrize("crop", [False, True])
def test_pictures_are_their_sprites(cell: int, crop: bool) -> None:
    sprites = make_render.sprites("sokoban", cell, "light")
    states = levels(6, 9, 20)
    images = SOKOBAN.render(states, cell, crop=crop)
    for state, image in zip(states, images, strict=True):
        assert (image == twin.blit(state, sprites, crop)).all()
    assert (SOKOBAN.decode(images, cell, crop=crop) == states).all()


@pytest.mark.parametrize("count", [0, 3, 200])
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_destination_do_not_matter(count: int, threads: int) -> None:
    """200 pictures are large enough to go past the caches."""
    states = levels(8, 8, 200)
    expected = np.stack([twin.blit(state, make_render.sprites("sokoban", 28, "light"), False) for state in states])[
        :count
    ]
    assert (SOKOBAN.render(states[:count], threads=threads) == expected).all()
    room = np.full(expected.size + 100, 165, np.uint8)
    for shift in (0, 1, 33, 64):
        out = room[shift : shift + expected.size].reshape(expected.shape)
        assert SOKOBAN.render(states[:count], out=out, threads=threads) is out
        assert (out == expected).all()
        assert (room[:shift] == 165).all()
        assert (room[shift + expected.size :] == 165).all()
        room[:] = 165
    assert (SOKOBAN.decode(expected, threads=threads) == states[:count]).all()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("cell", [4, 17, 28])
@pytest.mark.parametrize("threads", [1, 3])
def test_frames_follow_their_states(name: str, cell: int, threads: int) -> None:
    task, states = task_and_states(name, 5, 5, 64)
    frames = task.frames(states, cell, theme="dark", crop=name == "sokoban", threads=threads)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert (frames.images == task.render(states, cell, theme="dark", crop=name == "sokoban")).all()
        states = task.step(states, rng.integers(0, 4, 64), threads=1)
        frames.update(states, threads=threads)
    other = task_and_states(name, 5, 5, 64, seed=9)[1]
    frames.update(other)
    assert (frames.images == task.render(other, cell, theme="dark", crop=name == "sokoban")).all()


def test_frames_keep_their_own_states() -> None:
    states = BOARD.copy()
    frames = SLIDING.frames(states)
    before = frames.images.copy()
    states[:] = boards(3, 3, 1, seed=5)
    assert (frames.images == before).all()
    frames.update(states)
    assert (frames.images == SLIDING.render(states)).all()
    assert not frames.images.flags.writeable


@pytest.mark.parametrize("name", TASKS)
def test_a_changed_pixel_is_found(name: str) -> None:
    """The planted defect: any one pixel, off by one."""
    task, states = task_and_states(name, 4, 5, 3)
    images = task.render(states, 12)
    rng = np.random.default_rng(1)
    for _ in range(50):
        image, y, x, channel = (int(rng.integers(0, n)) for n in images.shape)
        images[image, y, x, channel] ^= 1
        with pytest.raises(ValueError, match=f"in image {image} at row {y // 12}, column {x // 12}$"):
            task.decode(images, 12)
        images[image, y, x, channel] ^= 1


def test_golden_pictures() -> None:
    """Rewritten by ``python -m tests.golden.make_render``, which is for changes that are meant."""
    assert make_render.figures() == json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("cell", [8, 112])
def test_pictures_do_not_land_in_states(cell):
    """States are checked before the first pixel is drawn; pixels on top of them would be drawn as codes."""
    task = recommit.Ice(5)
    states = task.generate(4, seed=0).states
    shape = task.render(states, cell).shape
    memory = np.zeros(int(np.prod(shape)) + states.size, np.uint8)
    out = memory[states.size :].reshape(shape)
    for begin in (1, states.size, memory.size - states.size):
        inside = memory[begin : begin + states.size].reshape(states.shape)
        inside[:] = states
        with pytest.raises(ValueError, match="out: expected memory of its own, got an array that overlaps states"):
            task.render(inside, cell, out=out)
    beside = memory[: states.size].reshape(states.shape)
    beside[:] = states
    assert (task.render(beside, cell, out=out) == task.render(states, cell)).all()


def test_redrawing_keeps_to_its_picture():
    """Whatever is said to have been drawn before, also in the ring that a cropped picture leaves out."""
    task = recommit.Sokoban(8, 2)
    states = task.generate(50, seed=0).states
    memory = np.full(states.shape[0] * 48 * 48 * 3 + 200_000, 77, np.uint8)
    images = memory[100_000:-100_000].reshape(50, 48, 48, 3)
    drawn = np.full_like(states, 2)
    _core.sokoban.redraw(states, drawn, images, cell=8, theme="light", crop=True)
    assert (memory[:100_000] == 77).all()
    assert (memory[-100_000:] == 77).all()
    assert (drawn == states).all()
