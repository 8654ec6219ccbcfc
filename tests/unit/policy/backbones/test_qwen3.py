"""What is Qwen3-VL's own: levels of features, and positions between the trained ones."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig, PolicyConfig

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
TASK = recommit.Sliding(3)
STATES = TASK.generate(3, seed=0).states


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("qwen3"), "tiny-qwen3-vl")


def test_every_level_changes_z(folder):
    policy = recommit.CommitPolicy.from_backbone(folder, PolicyConfig(lora=None, decoder=DECODER)).eval()
    width, geometry = policy.backbone.width, policy.prompts_cache.of(TASK, (3, 3))
    with torch.no_grad():
        features = policy.vision.features(TASK, STATES, frozen=True)
        z = policy.backbone.z(features, geometry)
        for level in range(3):
            less = features.clone()
            less[..., level * width : (level + 1) * width] = 0
            assert (policy.backbone.z(less, geometry) - z).abs().max() > 1e-4, level


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
