"""What each family of backbones has of its own: windows and grouped queries of Qwen2.5-VL, levels of features and
positions between the trained ones of Qwen3-VL."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.random_init import Shape, make_backbone
from recommit.policy.prompt import load_prompt

TASK = recommit.Sliding(3)
STATES = TASK.generate(3, seed=0).states
SHAPES = {
    "cell-local": "small",
    "windows and full attention": Shape(64, 2, 2, 2, 96, 48, 4, 2, 64, 112, (3,)),
    "grouped queries": Shape(64, 3, 4, 2, 96, 48, 3, 2, 64, 56, (1,)),
}
GRIDS = [(2, 2), (4, 5), (7, 9)]


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def backbone(request, tmp_path_factory):
    folder = make_backbone(tmp_path_factory.mktemp("shape"), SHAPES[request.param])
    return load_backbone(folder).eval()


@pytest.mark.parametrize(("rows", "cols"), GRIDS)
def test_z_equals_the_stock_model(backbone, rows, cols):
    geometry = backbone.tokenize_prompt(load_prompt("sokoban-v1"), rows, cols)
    pixels = torch.randn(2 * rows * cols * 4, 1176, generator=torch.Generator().manual_seed(rows))
    ids = geometry.tokens.repeat(2, 1)
    stock = backbone.base
    with torch.no_grad():
        expected = stock(
            input_ids=ids,
            pixel_values=pixels,
            image_grid_thw=torch.tensor([[1, 2 * rows, 2 * cols]] * 2),
            mm_token_type_ids=(ids == stock.config.image_token_id).int(),
        ).last_hidden_state[:, -1]
        z = backbone.z(backbone.features(pixels, (rows, cols)), geometry)
    assert (z - expected).abs().max() < 1e-5
    assert (z[0] - z[1]).abs().max() > 1e-3, "two pictures must not look the same"


def test_the_published_processor_resizes_nothing_from_its_own_smallest_picture_on(tmp_path):
    """Published folders ask for 65,536 pixels at least: 3x3 boards with cells of 96 pixels have them."""
    processor = transformers.Qwen2VLImageProcessorPil(
        patch_size=16,
        size={"shortest_edge": 65536, "longest_edge": 16777216},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )
    wanted = processor(images=list(TASK.render(STATES, cell=96)), return_tensors="np")["pixel_values"]
    backbone = load_backbone(make_backbone(tmp_path, "tiny-qwen3-vl"))
    given = backbone.pixels(TASK, STATES, cell=96, theme="light", crop=False)
    assert np.array_equal(given.numpy(), wanted)
    assert backbone.grid(3, 3, 96) == (9, 9)
