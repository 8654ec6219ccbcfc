"""What is Qwen3-VL's own: levels of features, and positions between the trained ones."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.make import make_backbone
from recommit.policy.backbones.qwen import DeepVisionPass
from recommit.policy.config import DecoderConfig, PolicyConfig

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
TASK = recommit.Sliding(3)
STATES = TASK.generate(3, seed=0).states


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("qwen3"), "tiny-qwen3-vl")


def test_a_cell_is_one_token_of_32_pixels_and_every_level_is_kept(folder):
    policy = recommit.CommitPolicy.from_backbone(folder, PolicyConfig(lora=None, decoder=DECODER))
    assert policy.backbone.token_pixels == 32
    features = policy.vision.features(TASK, STATES, frozen=True)
    assert features.shape == (3, 9, 3 * policy.backbone.width)
    assert not policy.vision.cell_local


def test_every_level_changes_z(folder):
    policy = recommit.CommitPolicy.from_backbone(folder, PolicyConfig(lora=None, decoder=DECODER)).eval()
    width, geometry = policy.backbone.width, policy.geometries.of(TASK, (3, 3))
    with torch.no_grad():
        features = policy.vision.features(TASK, STATES, frozen=True)
        z = policy.backbone.z(features, geometry)
        for level in range(3):
            less = features.clone()
            less[..., level * width : (level + 1) * width] = 0
            assert (policy.backbone.z(less, geometry) - z).abs().max() > 1e-4, level


@pytest.mark.parametrize("grid", [(1, 1), (3, 3), (2, 5), (24, 3)])
def test_positions_are_interpolated_as_published(folder, grid):
    visual = load_backbone(folder).base.visual
    vision_utils = pytest.importorskip("transformers.vision_utils")
    helper = getattr(vision_utils, "get_vision_interpolation_indices_and_weights", None)
    if helper is None:
        pytest.skip("this version of transformers computes them elsewhere; the stock model is compared anyway")
    near, share = helper(
        torch.tensor([[1, 2 * grid[0], 2 * grid[1]]]),
        visual.num_grid_per_side,
        mode="bilinear",
        align_corners=True,
        spatial_merge_size=2,
    )
    plan = DeepVisionPass(visual, grid, torch.device("cpu"))
    table = torch.randn(visual.num_grid_per_side**2, 5)
    expected = (table[near] * share[..., None]).sum(1)
    assert ((table[plan.near] * plan.share[..., None]).sum(1) - expected).abs().max() < 1e-5


def test_the_published_processor_resizes_nothing_from_its_own_smallest_picture_on(folder):
    """Published folders ask for 65,536 pixels at least: 3x3 boards with cells of 96 pixels have them."""
    import numpy as np
    import transformers

    processor = transformers.Qwen2VLImageProcessorPil(
        patch_size=16,
        size={"shortest_edge": 65536, "longest_edge": 16777216},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )
    wanted = processor(images=list(TASK.render(STATES, cell=96)), return_tensors="np")["pixel_values"]
    backbone = load_backbone(folder)
    given = backbone.pixels(TASK, STATES, cell=96, theme="light", crop=False)
    assert np.array_equal(given.numpy(), wanted)
    assert backbone.grid(3, 3, 96) == (9, 9)
