"""Patches are, bit for bit, what the Qwen2.5-VL image processor makes of pictures: by a slow twin, and by itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.reference import render as twin
from tests.unit.drawing import boards, task_and_states

import recommit

#: (puzzle, rows, columns, cell, crop): every sliding size, Sokoban up to 16x16, and cells that patches line up with or
#: not.
CASES = [
    *(("sliding", rows, cols, 28, False) for rows, cols in ((2, 2), (2, 5), (3, 3), (5, 3))),
    *(("sokoban", rows, cols, 28, crop) for rows, cols in ((4, 4), (8, 8), (16, 6)) for crop in (False, True)),
    ("sliding", 4, 4, 14, False),
    ("sokoban", 14, 14, 4, False),
    *(("sokoban", rows, cols, 14, crop) for rows, cols in ((6, 6), (8, 12)) for crop in (False, True)),
    *(("sliding", 3, 4, cell, False) for cell in (56, 112)),
    *(("sokoban", 4, 6, cell, False) for cell in (42, 70, 98)),
    *(("sokoban", 14, 7, cell, False) for cell in (8, 12, 20)),
    ("sokoban", 28, 28, 5, False),
]
IDS = [f"{name}-{rows}x{cols}-{cell}{'-crop' * crop}" for name, rows, cols, cell, crop in CASES]
SLIDING = recommit.Sliding(3)
BOARDS = boards(3, 3, 2)


def processor() -> Any:
    """As Qwen2.5-VL configures it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
    except ImportError as error:
        pytest.skip(f"needs transformers >= 5 with pillow: {error}")
    return Qwen2VLImageProcessorPil(
        patch_size=14, merge_size=2, temporal_patch_size=2, min_pixels=twin.MIN_PIXELS, max_pixels=twin.MAX_PIXELS
    )


def bits(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(values, np.float32).view(np.uint32)


@pytest.mark.parametrize(("name", "rows", "cols", "cell", "crop"), CASES, ids=IDS)
def test_patches_equal_the_image_processor(name: str, rows: int, cols: int, cell: int, crop: bool) -> None:
    process = processor()
    for theme in ("light", "dark"):
        task, states = task_and_states(name, rows, cols, 3)
        values, grid = task.patches(states, cell, theme=theme, crop=crop)
        expected = process(list(task.render(states, cell, theme=theme, crop=crop)), return_tensors="np")
        assert values.dtype == expected["pixel_values"].dtype == np.float32
        assert grid.dtype == expected["image_grid_thw"].dtype == np.int64
        assert (grid == expected["image_grid_thw"]).all()
        assert values.shape == expected["pixel_values"].shape
        assert (bits(values) == bits(expected["pixel_values"])).all()


def test_bfloat16_equals_torch() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    values, _ = SLIDING.patches(BOARDS)
    halves, _ = SLIDING.patches(BOARDS, dtype="bfloat16")
    expected = torch.from_numpy(values).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    assert (halves == expected).all()


@pytest.mark.parametrize("case", [c for c in CASES if c[1] * c[2] * c[3] ** 2 < 60_000], ids=str)
def test_patches_equal_the_twin(case: tuple[str, int, int, int, bool]) -> None:
    name, rows, cols, cell, crop = case
    task, states = task_and_states(name, rows, cols, 2)
    values, grid = task.patches(states, cell, crop=crop)
    images = task.render(states, cell, crop=crop)
    expected = np.concatenate([twin.patches(image) for image in images])
    assert (bits(values) == bits(expected)).all()
    assert (grid == [1, images.shape[1] // 14, images.shape[2] // 14]).all()
    halves, same = task.patches(states, cell, crop=crop, dtype="bfloat16")
    assert halves.dtype == np.uint16
    assert (halves == twin.bfloat16(expected)).all()
    assert (grid == same).all()


def test_the_twin_finds_a_planted_defect() -> None:
    image = SLIDING.render(BOARDS[:1])[0].copy()
    image[40, 50, 1] ^= 1
    values, _ = SLIDING.patches(BOARDS[:1])
    assert (bits(values) != bits(twin.patches(image))).sum() == 2  # one pixel, two time slots


@pytest.mark.parametrize("cell", [14, 12])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_destination_do_not_matter(cell: int, dtype: Any, threads: int) -> None:
    """60 states are enough to go past the caches, 3 are not."""
    task, states = task_and_states("sokoban", 14, 14, 60)
    expected = np.concatenate([task.patches(states[i : i + 1], cell, dtype=dtype, threads=1)[0] for i in range(60)])
    for count in (0, 3, 60):
        part = expected[: count * len(expected) // 60]
        out = np.zeros_like(part)
        values, grid = task.patches(states[:count], cell, dtype=dtype, threads=threads, out=out)
        assert values is out
        assert (values == part).all()
        assert (task.patches(states[:count], cell, dtype=dtype, threads=threads)[0] == part).all()
        assert grid.shape == (count, 3)
