"""Pictures prepared here are what the published image processors make of them."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones import internvl, qwen
from recommit.policy.backbones.qwen import QwenBackbone
from recommit.policy.backbones.transformer import Normalization, normalize, patches

TASK = recommit.Sokoban((5, 7), 1)
STATES = TASK.generate(3, seed=0).states


def processed(name, **options):
    import transformers

    return getattr(transformers, name)(**options)


def test_patches_equal_the_processors_to_the_bit():
    frames = TASK.render(STATES, cell=32)
    processor = processed(
        "Qwen2VLImageProcessorPil",
        patch_size=16,
        size={"shortest_edge": 1024, "longest_edge": 1 << 24},
        image_mean=list(qwen.NORMALIZATION.mean),
        image_std=list(qwen.NORMALIZATION.std),
    )
    wanted = processor(images=list(frames), return_tensors="pt")
    given = patches(normalize(torch.from_numpy(frames), qwen.NORMALIZATION), 16, 2, 2)
    assert wanted["image_grid_thw"].tolist() == [[1, 10, 14]] * 3
    assert torch.equal(given, wanted["pixel_values"])


def test_patches_of_14_pixels_equal_the_cores():
    clip = processed("Qwen2VLImageProcessorPil")
    normal = Normalization(tuple(clip.image_mean), tuple(clip.image_std))
    frames = torch.from_numpy(TASK.render(STATES, cell=28))
    given = patches(normalize(frames, normal), 14, 2, 2)
    assert np.array_equal(given.numpy(), TASK.patches(STATES, cell=28)[0])
    assert QwenBackbone.markers.token == "<|image_pad|>"


@pytest.mark.parametrize("split", [False, True])
def test_tiles_equal_the_processors_to_the_bit(split):
    """Also with splitting into tiles switched on: a square of one tile's size is one tile."""
    tiles = np.zeros((3, 448, 448, 3), np.uint8)
    tiles[:, : 5 * 56, : 7 * 56] = TASK.render(STATES, cell=56)
    processor = processed(
        "GotOcr2ImageProcessorPil",
        size={"height": 448, "width": 448},
        crop_to_patches=split,
        image_mean=list(internvl.NORMALIZATION.mean),
        image_std=list(internvl.NORMALIZATION.std),
    )
    wanted = processor(images=list(tiles), return_tensors="pt")["pixel_values"]
    given = normalize(torch.from_numpy(tiles), internvl.NORMALIZATION)
    assert torch.equal(given, wanted)
