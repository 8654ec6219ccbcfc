"""Pictures and patches per second, beside a copy of as many bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from bench.answers import copied, group
from bench.simulation.envs import ceiling
from tests.reference import render as twin

import recommit

if TYPE_CHECKING:
    from pathlib import Path

    from bench.conftest import Foreign, Timed

TASK = recommit.Sokoban(8)
COUNT, SIDE, CELL = 1024, 8, 28
pictures, patches = group("pictures"), group("patches")


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    """Walled rooms of random cells with one player."""
    rng = np.random.default_rng(0)
    states = rng.integers(0, 5, (COUNT, SIDE, SIDE), np.uint8)
    states[:, [0, -1], :] = states[:, :, [0, -1]] = 1
    states[np.arange(COUNT), rng.integers(1, SIDE - 1, COUNT), rng.integers(1, SIDE - 1, COUNT)] = 5
    return states


def walks(states: np.ndarray, steps: int) -> list[np.ndarray]:
    """A ring of batches of which each differs from the next in three cells per state."""
    rng, inner = np.random.default_rng(1), np.pad(np.ones((SIDE - 2, SIDE - 2), bool), 1).ravel()
    batches, last = [states], states
    for _ in range(steps - 1):
        last = last.copy()
        for i in range(len(last)):
            free = np.flatnonzero((last[i] < 5).ravel() & inner)
            cells = rng.choice(free, 3, replace=False)
            last[i].ravel()[cells] = (last[i].ravel()[cells] + rng.integers(1, 5, 3)) % 5
        batches.append(last)
    return batches + batches[-2:0:-1]


@pictures
def test_copy_of_pictures(timed: Timed) -> None:
    copied(timed, np.full((256, (SIDE * CELL) ** 2 * 3), 7, np.uint8))


@pictures
def test_pictures_into_one_array(timed: Timed, states: np.ndarray) -> None:
    out = np.zeros((len(states), 224, 224, 3), np.uint8)
    shown = timed(lambda: TASK.render(states, CELL, out=out, threads=1), len(states))
    assert np.array_equal(TASK.decode(shown, CELL), states)


@pictures
def test_fresh_pictures(timed: Timed, states: np.ndarray) -> None:
    """``task.render(states)`` as it is called without ``out``."""
    shown = timed(lambda: TASK.render(states, CELL, threads=1), len(states))
    assert np.array_equal(TASK.decode(shown, CELL), states)


@pictures
def test_updated_pictures(timed: Timed, states: np.ndarray) -> None:
    """Three cells of each picture change."""
    batches = walks(states[:256], 3)
    frames = TASK.frames(batches[-1], CELL)

    def update() -> np.ndarray:
        for batch in batches:
            frames.update(batch, threads=1)
        return frames.images

    shown = timed(update, 256 * len(batches))
    assert np.array_equal(TASK.decode(np.ascontiguousarray(shown), CELL), batches[-1])


@pictures
def test_sprites_without_anything_around_them(foreign: Foreign, scratch: Path) -> None:
    assert foreign(lambda: ceiling(scratch, "frames", "full")) > 0


@patches
def test_copy_of_patches(timed: Timed, states: np.ndarray) -> None:
    copied(timed, TASK.patches(states[:64], CELL)[0], 64)


@patches
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_patches(timed: Timed, states: np.ndarray, dtype: Literal["float32", "bfloat16"]) -> None:
    values = timed(lambda: TASK.patches(states[:64], CELL, dtype=dtype, threads=1)[0], 64)
    expected = twin.patches(TASK.render(states[:1], CELL)[0])
    assert np.array_equal(values[:256], expected if dtype == "float32" else twin.bfloat16(expected))


@patches
def test_transformers_processor(timed: Timed, states: np.ndarray) -> None:
    """What others use, from the same pictures."""
    module = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    process = module.Qwen2VLImageProcessorPil(min_pixels=3136, max_pixels=12845056)
    shown = list(TASK.render(states[:16], CELL))
    values = timed(lambda: process(shown, return_tensors="np")["pixel_values"], 16)
    assert np.array_equal(values, TASK.patches(states[:16], CELL)[0])
