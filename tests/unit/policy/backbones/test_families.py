"""What each family of backbones has of its own: windows and grouped queries of Qwen2.5-VL, levels of features and
positions between the trained ones of Qwen3-VL, one tile for every board of InternVL."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.refusals import refused

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.internvl import InternBackbone
from recommit.policy.backbones.random_init import BACKBONES, Shape, config, make_backbone, make_tokenizer
from recommit.policy.config import DecoderConfig
from recommit.policy.prompt import load_prompt

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
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


@pytest.fixture(scope="module")
def internvl(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("internvl"), "tiny-internvl")


def test_a_board_takes_as_many_whole_tokens_as_fit(internvl):
    backbone = load_backbone(internvl)
    for rows, cols, asked, drawn in ((3, 3, 0, 56), (2, 2, 0, 112), (1, 1, 0, 112), (4, 8, 0, 28), (3, 3, 28, 28)):
        assert backbone.cell_pixels(rows, cols, asked) == drawn
        assert backbone.grid(rows, cols, asked) == (8, 8)


def test_the_picture_is_the_board_and_nothing_else(internvl):
    task = recommit.Sokoban((5, 7), 1)
    states = task.generate(3, seed=0).states
    tiles = load_backbone(internvl).tiles(task, states, cell=0, theme="light", crop=True)
    assert tiles.shape == (3, 224, 224, 3)
    board = np.ascontiguousarray(tiles[:, : 3 * 28, : 5 * 28])
    assert np.array_equal(board, task.render(states, cell=28, crop=True))
    assert not tiles[:, 3 * 28 :].any()
    assert not tiles[:, :, 5 * 28 :].any()


OTHERS = [
    ({"vision_feature_layer": -2}, "expected an InternVL whose language model reads the last vision layer"),
    ({"text_config": {"model_type": "gpt2", "n_layer": 10**9}}, "expected a language model qwen2 or qwen3, got 'gpt2'"),
    ({"text_config": []}, "expected a language model qwen2 or qwen3, got None"),
]


def test_other_kinds_and_boards_that_do_not_fit_are_refused(internvl, tmp_path):
    fits = "cell: expected at most {} pixels, a {}x{} board on a tile of 224"
    backbone, about = load_backbone(internvl), json.loads((internvl / "config.json").read_text())
    rows = [
        (lambda: backbone.grid(9, 9, 0), fits.format(0, 9, 9)),
        (lambda: backbone.grid(3, 3, 84), fits.format(56, 3, 3)),
    ]
    for number, (changes, words) in enumerate(OTHERS):
        theirs = shutil.copytree(internvl, tmp_path / str(number))
        (theirs / "config.json").write_text(json.dumps({**about, **changes}))
        rows.append((lambda theirs=theirs: load_backbone(theirs), words))
    refused(rows)


def test_a_language_model_of_the_next_generation_is_read_as_stock_reads_it():
    """InternVL3.5 has Qwen3, which normalises queries and keys."""
    tokenizer = make_tokenizer("internvl")
    about = config(BACKBONES["tiny-internvl"], tokenizer).to_dict()
    text = {**about["text_config"], "model_type": "qwen3", "head_dim": 32}
    torch.manual_seed(0)
    stock = transformers.AutoModel.from_config(
        type(config(BACKBONES["tiny-internvl"], tokenizer))(**{**about, "text_config": text})
    )
    with torch.no_grad():
        for parameter in stock.eval().parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    backbone = InternBackbone(stock, tokenizer)
    geometry = backbone.tokenize_prompt(load_prompt("sliding-v1"), 8, 8)
    pixels = torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        expected = stock(input_ids=geometry.tokens.repeat(2, 1), pixel_values=pixels).last_hidden_state[:, -1]
        z = backbone.z(backbone.features(pixels, (8, 8)), geometry)
    assert hasattr(stock.language_model.layers[0].self_attn, "q_norm")
    assert (z - expected).abs().max() < 2e-5 * expected.abs().max()
