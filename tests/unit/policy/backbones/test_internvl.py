"""What is InternVL's own: one tile for every board."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.random_init import make_backbone
from recommit.policy.config import DecoderConfig

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_backbone(tmp_path_factory.mktemp("internvl"), "tiny-internvl")


@pytest.mark.parametrize(
    ("rows", "cols", "asked", "drawn"), [(3, 3, 0, 56), (2, 2, 0, 112), (1, 1, 0, 112), (4, 8, 0, 28), (3, 3, 28, 28)]
)
def test_a_board_takes_as_many_whole_tokens_as_fit(folder, rows, cols, asked, drawn):
    backbone = load_backbone(folder)
    assert backbone.cell_pixels(rows, cols, asked) == drawn
    assert backbone.grid(rows, cols, asked) == (8, 8)


@pytest.mark.parametrize(("size", "asked", "fits"), [(9, 0, 0), (3, 84, 56)])
def test_boards_that_do_not_fit_are_refused(folder, size, asked, fits):
    with pytest.raises(
        ValueError, match=f"cell: expected at most {fits} pixels, a {size}x{size} board on a tile of 224"
    ):
        load_backbone(folder).grid(size, size, asked)


def test_the_picture_is_the_board_and_nothing_else(folder):
    task = recommit.Sokoban((5, 7), 1)
    states = task.generate(3, seed=0).states
    tiles = load_backbone(folder).tiles(task, states, cell=0, theme="light", crop=True)
    assert tiles.shape == (3, 224, 224, 3)
    board = np.ascontiguousarray(tiles[:, : 3 * 28, : 5 * 28])
    assert np.array_equal(board, task.render(states, cell=28, crop=True))
    assert not tiles[:, 3 * 28 :].any()
    assert not tiles[:, :, 5 * 28 :].any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vision_feature_layer": -2}, "expected an InternVL whose language model reads the last vision layer"),
        (
            {"text_config": {"model_type": "gpt2", "n_layer": 10**9}},
            "expected a language model qwen2 or qwen3, got 'gpt2'",
        ),
        ({"text_config": []}, "expected a language model qwen2 or qwen3, got None"),
    ],
)
def test_other_kinds_are_refused(folder, changes, message, tmp_path):
    theirs = shutil.copytree(folder, tmp_path / "theirs")
    about = {**json.loads((folder / "config.json").read_text()), **changes}
    (theirs / "config.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=message):
        load_backbone(theirs)


def test_a_language_model_of_the_next_generation_is_read_as_stock_reads_it():
    """InternVL3.5 has Qwen3, which normalises queries and keys."""
    from transformers import AutoModel

    from recommit.policy.backbones.internvl import InternBackbone
    from recommit.policy.backbones.random_init import BACKBONES, config, make_tokenizer
    from recommit.policy.prompt import load_prompt

    tokenizer = make_tokenizer("internvl")
    about = config(BACKBONES["tiny-internvl"], tokenizer).to_dict()
    text = {**about["text_config"], "model_type": "qwen3", "head_dim": 32}
    torch.manual_seed(0)
    stock = AutoModel.from_config(type(config(BACKBONES["tiny-internvl"], tokenizer))(**{**about, "text_config": text}))
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
